/** A deletion answered with 404, on services with the document’s endpoints only. */
import { describe, expect, it } from 'vitest';
import { apiKey, type Behaviour, hostileServer, json, refusal, resetAtOnce } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

const noResource = refusal(404, 'not_found_error', 'resource_not_found');
const deployment = { deployment_id: 'd_1', model_slug: 'talker', status: 'DEPLOYED', role: 'test' };
const run = { eval_run_id: 'er_1', bench_id: 'b1', display_name: 'one', status: 'completed' };

/** A service that answers these requests, and any other like an unknown resource. */
async function serviceOf(routes: Readonly<Record<string, Behaviour | readonly Behaviour[]>>) {
  const asked = new Map<string, number>();
  const { url, requests } = await hostileServer((response, request) => {
    const name = `${request.method} ${request.url.split('?')[0]}`;
    const count = asked.get(name) ?? 0;
    asked.set(name, count + 1);
    const answers = [routes[name] ?? noResource].flat();
    return answers[Math.min(count, answers.length - 1)]?.(response, request);
  });
  const deletions = () => requests.filter(({ method }) => method === 'DELETE').map(each => each.url);
  return { cli: cliOn({ baseUrl: url, apiKey, home: testFolder() }), deletions };
}

const path = '/api/v1/deploy/d_1';

describe('undeploy', () => {
  it.each<[string, Readonly<Record<string, Behaviour>>]>([
    ['is answered', {}],
    [
      'follows a redirect',
      { [`DELETE ${path}`]: response => void response.writeHead(308, { location: `${path}/` }).end() },
    ],
    ['lost its first answer', { [`DELETE ${path}`]: resetAtOnce }],
  ])('fails with the message of the service if the deployment still exists after it %s 404 (A8)', async (_, routes) => {
    const { cli } = await serviceOf({
      [`GET ${path}`]: json(deployment),
      ...Object.fromEntries(Object.entries(routes).map(([name, first]) => [name, [first, noResource]])),
    });
    const { code, out, notes } = await cli('undeploy', ['d_1', '--yes']);
    expect([code, out]).toEqual([1, '']);
    expect(notes).toContain('But d_1 can still be read with the status DEPLOYED, so it was not deleted.');
    expect(notes).toContain('set assumptions.path.undeploy in the profile');
    expect(notes).not.toContain('may have been deleted');
  });

  it('succeeds if the deployment is gone meanwhile', async () => {
    const { cli } = await serviceOf({ [`GET ${path}`]: [json(deployment), noResource] });
    expect(await cli('undeploy', ['d_1', '--yes'])).toEqual({ code: 0, out: 'd_1\n', notes: '' });
  });

  it.each(['TERMINATED', 'UNDEPLOYED', 'DELETED'])('succeeds if its kept record is %s', async status => {
    const kept = json({ ...deployment, status });
    for (const flags of [[], ['--wait']]) {
      const { cli } = await serviceOf({ [`GET ${path}`]: [json(deployment), kept] });
      const { code, out, notes } = await cli('undeploy', ['d_1', '--yes', ...flags]);
      expect([code, out, notes]).toEqual([0, 'd_1\n', expect.anything()]);
      if (flags.length === 0) expect(notes).toContain('torn down; the service kept its record');
    }
  });

  it('says that it is in progress if its record is TERMINATING', async () => {
    const { cli } = await serviceOf({
      [`GET ${path}`]: [json(deployment), json({ ...deployment, status: 'TERMINATING' })],
    });
    const { code, notes } = await cli('undeploy', ['d_1', '--yes']);
    expect([code, notes]).toEqual([1, expect.stringContaining('with the status TERMINATING: it is not deleted yet.')]);
    expect(notes).not.toContain('assumptions.path');
  });

  it('says that the outcome is unknown if the deployment cannot be read again', async () => {
    const { cli } = await serviceOf({ [`GET ${path}`]: [json(deployment), json({ detail: 'Not Found' }, 404)] });
    const { code, out, notes } = await cli('undeploy', ['d_1', '--yes', '--json']);
    expect([code, out]).toEqual([6, '']);
    expect(JSON.parse(notes).error).toMatchObject({
      outcome_unknown: true,
      message: expect.stringContaining('It is not known whether d_1 was deleted'),
    });
  });
});

describe('delete', () => {
  const documented = '/api/v1/eval/b1/runs/er_1';
  const newest = '/api/v1/eval/er_1';
  const readable = { [`GET ${newest}`]: json(run), [`GET ${newest}/trajectory-rewards`]: json([]) };

  it('tries the path of the other generation once if the run still exists (A8)', async () => {
    const { cli, deletions } = await serviceOf({ ...readable, [`DELETE ${newest}`]: json({ eval_run_id: 'er_1' }) });
    expect(await cli('delete', ['er_1', '--yes'])).toEqual({ code: 0, out: 'er_1\n', notes: '' });
    expect(deletions()).toEqual([documented, newest]);
  });

  it('fails if neither path deletes it (A8)', async () => {
    const { cli, deletions } = await serviceOf(readable);
    const { code, out, notes } = await cli('delete', ['er_1', '--yes']);
    expect([code, out, notes]).toEqual([1, '', expect.stringContaining('But er_1 can still be read')]);
    expect(deletions()).toEqual([documented, newest]);
  });

  it('fails if only the list of its benchmark still has it', async () => {
    const { cli } = await serviceOf({
      [`GET ${newest}`]: [json(run), noResource],
      [`GET ${newest}/trajectory-rewards`]: noResource,
      'GET /api/v1/eval/b1/runs': json([run]),
    });
    const { code, notes } = await cli('delete', ['er_1', '--yes']);
    expect([code, notes]).toEqual([1, expect.stringContaining('But er_1 can still be read')]);
  });

  it('prints why a service that knows the other path refuses', async () => {
    const conflict = refusal(409, 'conflict_error', 'eval_run_running');
    const { cli } = await serviceOf({ ...readable, [`DELETE ${newest}`]: conflict });
    const { code, notes } = await cli('delete', ['er_1', '--yes', '--json']);
    expect([code, JSON.parse(notes).error.code]).toEqual([1, 'eval_run_running']);
  });

  it('fails if the record of a training run is still readable, but not its progress', async () => {
    const trained = { training_run_id: 't_1', bench_id: 'b1', display_name: 'words', status: 'succeeded' };
    const { cli } = await serviceOf({ 'GET /api/v1/train/t_1': json(trained) });
    const { code, out, notes } = await cli('delete', ['t_1', '--yes']);
    expect([code, out, notes]).toEqual([7, '', expect.stringContaining('does not delete training runs')]);
  });

  it('succeeds if only the rewards could show the run, and they are gone', async () => {
    const { cli, deletions } = await serviceOf({
      [`GET ${newest}`]: [json(run), json({ detail: 'Not Found' }, 405)],
      [`GET ${newest}/trajectory-rewards`]: noResource,
    });
    expect(await cli('delete', ['er_1', '--yes'])).toMatchObject({ code: 0, out: 'er_1\n' });
    expect(deletions()).toEqual([documented]);
  });
});
