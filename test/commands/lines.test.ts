/** Line mode: asks until it has an answer, sends exactly what was meant, and stops when stopped. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { exitCodes, Interruption } from '../../src/commands/exit.ts';
import { answering } from '../answering.ts';
import { eventually } from '../eventually.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { serviceDouble } from '../service/double.ts';
import { hostileServer, json, open, type SeenRequest, silent } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

/** What line mode prints and sends for these lines. */
async function said(...lines: readonly string[]) {
  const { url, requests } = await serviceDouble();
  const { code, out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], { input: lines.join('\n') });
  expect(code).toBe(exitCodes.done);
  const sent = requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body));
  return { out, sent };
}

describe('a question of the line mode', () => {
  it('is asked again until the answer is one of those there are', async () => {
    const { out, sent } = await said('training', 'deploy 1', 'tutor', 'tset', 'Production!', 'test', 'quit');
    expect(out).toContain('tset is not test or production.');
    expect(out.match(/Role, test or production \(enter for test\):/g)).toHaveLength(3);
    expect(sent).toEqual([{ checkpoint_id: 'ckpt_1', model_slug: 'tutor', role: 'test' }]);
  });

  it('puts nothing into production unless the slug is typed again (W3)', async () => {
    const usual = await said('training', 'deploy 1', 'tutor', '', 'quit');
    expect(usual.sent).toMatchObject([{ model_slug: 'tutor', role: 'test' }]);
    const wrong = await said('training', 'deploy 1', 'tutor', 'production', 'y', 'quit');
    expect(wrong.out).toContain('y is not tutor. Nothing was sent.');
    expect(wrong.sent).toEqual([]);
    const right = await said('training', 'deploy 1', 'tutor', 'production', 'tutor', 'quit');
    expect(right.sent).toMatchObject([{ model_slug: 'tutor', role: 'production' }]);
  });

  it('sends nothing if the input ends before the answer', async () => {
    const { out, sent } = await said('training', 'deploy 1', 'tutor', 'tset');
    expect(out).toContain('The input ended before the answer. Nothing was sent.');
    expect(sent).toEqual([]);
  });

  it('is asked again if it has no usual answer and got none', async () => {
    const { out, sent } = await said('benchmarks', 'evaluate 1', '', ' ', 'acme/small', '', 'quit');
    expect(out.match(/Model: /g)).toHaveLength(3);
    // The same name as from `benchtop evaluate`, and on the screen.
    expect(sent).toMatchObject([{ model_slug: 'acme/small', display_name: 't-words small' }]);
  });

  it('asks before it repeats a start whose answer was lost', async () => {
    const benchmark = { bench_id: 'bench_1', label: 't-words' };
    const server = await hostileServer((response, request) => {
      if (request.method === 'POST') return void response.destroy();
      return json(request.url.includes('/runs') ? [] : { items: [benchmark], has_more: false })(response, request);
    });
    const evaluate = ['evaluate 1', 'acme/small', ''];
    const input = ['benchmarks', ...evaluate, ...evaluate, 'no', ...evaluate, 'yes', 'quit'].join('\n');
    const { out } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], { input });
    expect(out.match(/its response was lost: it may have succeeded\. benchtop list runs shows whether/g)).toHaveLength(
      2,
    );
    expect(out).toContain('Nothing was sent.');
    const keys = server.requests.flatMap(({ method, headers }) =>
      method === 'POST' ? headers['idempotency-key'] : [],
    );
    expect(keys).toEqual([expect.any(String), keys[0]]);
  });

  it('holds nothing of a name that would act on the terminal', async () => {
    const benchmark = { bench_id: 'bench_1', label: 'a\u001b[2Jb\rc', created_at: '2026-03-04T05:06:07Z' };
    const { url } = await hostileServer(json({ items: [benchmark], has_more: false }));
    const input = 'benchmarks\ntrain 1\nacme/small\n';
    const { out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], { input });
    expect(out).toContain('Run name (enter for ab');
    expect(out).not.toMatch(/[\u001b\r]/);
  });
});

it('a deployment is asked under its slug by the line mode and by doctor, as by chat', async () => {
  const { url, requests } = await serviceDouble();
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  await cli('--lines', [], { input: 'chat dep_1\nhello\n\nquit\n' });
  await cli('doctor', ['--model', 'dep_1']);
  await cli('chat', ['dep_1', 'hello']);
  const asked = requests.filter(({ method, url: path }) => method === 'POST' && path.includes('chat/completions'));
  const [byLines, ...others] = asked.map(({ url: path, body }) => [path, JSON.parse(body).model]);
  expect(byLines?.[1]).not.toBe('dep_1');
  expect(others).toEqual([byLines, byLines]);
});

it.each([
  ['follow', /follow needs the number of a row in the list, e\.g\. follow 1\./],
  ['follow abc', /follow needs the number/],
  ['evaluate', /evaluate needs the number/],
  ['deploy 0x1', /deploy needs the number/],
  ['cancel 9', /There is no number 9 in the list\./],
  ['0', /There is no number 0 in the list\./],
])('%j is answered with what is wrong with it', async (line, words) => {
  const { out, sent } = await said('training', line, 'quit');
  expect(out.split('> ').at(-2)).toMatch(words);
  expect(out).not.toContain('NaN');
  expect(sent).toEqual([]);
});

describe('a change in the line mode', () => {
  const changes = async (...lines: readonly string[]) => {
    const { url, requests } = await serviceDouble();
    const { out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], { input: lines.join('\n') });
    return {
      out,
      sent: requests.filter(({ method }) => method !== 'GET').map(({ method, url: at }) => `${method} ${at}`),
    };
  };

  it('is made of what each resource declares, and says why it cannot be made', async () => {
    const { out, sent } = await changes('runs', 'cancel 1', 'cancel 2', 'benchmarks', 'cancel 1', 'build 1', 'quit');
    expect(out).toContain('Cancelled baseline');
    expect(out).toContain('It has already ended. Nothing was changed.');
    expect(out).toContain('cancel is not for benchmarks.');
    expect(out).toContain('Building the images of t-words.');
    expect(sent).toEqual([expect.stringMatching(/^POST .*evr_1/), expect.stringMatching(/^POST .*images\/build/)]);
  });

  it('is asked again by the slug if the deployment went into production after the list was printed (A1)', async () => {
    const row = { deployment_id: 'dep_1', model_slug: 'tutor', status: 'DEPLOYED', role: 'test', is_active: false };
    const undeploying = async (...answers: readonly string[]) => {
      const server = await hostileServer((response, request) => {
        const isList = request.url.startsWith('/api/v1/deploy?');
        const now = { ...row, role: 'production', is_active: true };
        return json(isList ? { items: [row], has_more: false } : now)(response, request);
      });
      const input = ['deployments', 'undeploy 1', ...answers, 'quit'].join('\n');
      const { out } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], { input });
      return { out, deletions: server.requests.filter(({ method }) => method === 'DELETE').length };
    };
    const kept = await undeploying('yes', 'yes');
    expect(kept.out).toMatch(/Undeploy\? tutor, dep_1.*no or yes/);
    expect(kept.out).toContain('This has changed since you were asked. Nothing was sent');
    expect(kept.out).toMatch(/In production: tutor\. .* Type tutor to confirm.*Nothing was changed\./s);
    expect(kept.deletions).toBe(0);
    expect((await undeploying('yes', 'tutor')).deletions).toBe(1);
  });

  it('asks before something is lost, and for the slug before something stops in production', async () => {
    const kept = await changes('secrets', 'delete 1', '', 'deployments', 'undeploy 1', 'no', 'quit');
    expect(kept.out).toContain('Revoke this secret? TOKEN: tasks that need it cannot run');
    expect(kept.out).toMatch(/In production: (\S+)\. .* Type \1 to confirm/);
    expect(kept.out).toMatch(/\S, dep_1\b.*: serving ends/);
    expect(kept.sent).toEqual([]);
    const [, slug = ''] = /Type (\S+) to confirm/.exec(kept.out) ?? [];
    const lost = await changes('secrets', 'delete 1', 'yes', 'deployments', 'undeploy 1', slug, 'quit');
    expect(lost.out).toContain('Revoked TOKEN.');
    expect(lost.sent).toEqual([expect.stringMatching(/^DELETE .*sec_1/), expect.stringMatching(/^DELETE .*dep_1/)]);
  });
});

it('a list and a number of it have the rewards with their intervals, as on the screen', async () => {
  const training = {
    training_run_id: 'trn_1',
    bench_id: 'bench_1',
    status: 'succeeded',
    completed_at: '2020-01-02T03:04:05Z',
  };
  const run = { eval_run_id: 'evr_1', bench_id: 'bench_1', status: 'completed', total_rollouts: 2 };
  const rewards = [0, 1].map(reward => ({ trajectory_id: `traj_${reward}`, task_id: `${reward}`, reward }));
  const round = { completed_samples: 20, expected_samples: 20 };
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1', label: 'sums' }]),
      listEvalRuns: () => [{ ...run, reward_mean: 0.5, reward_count: 2 }],
      getEvalProgress: () => run,
      getTrajectoryRewards: () => ({ trajectory_rewards: rewards }),
      listTrainingRuns: () => [training],
      getHeldOutRewards: () => ({
        held_out_rewards: [0.7, 0.5].map((held_out_reward, step) => ({ ...round, step, held_out_reward })),
      }),
    }),
  );
  const { out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], {
    input: ['training', '1', 'runs', '1', 'quit'].join('\n'),
  });
  expect(out).toMatch(/^1\. trn_1, succeeded, held-out 0\.500, 95% ci 0\.\d+\.\.0\.\d+, .*best 0\.700/m);
  expect(out).toMatch(/^held-out: 0\.500\n95% ci: 0\.\d+\.\.0\.\d+\nbest: 0\.700$/m);
  expect(out).toMatch(/^1\. evr_1, completed, mean 0\.500, 95% ci 0\.\d+\.\.0\.\d+/m);
  expect(out).toMatch(/^mean: 0\.500 of 2 rewards$[\s\S]*^95% ci: 0\.\d+\.\.0\.\d+$/m);
});

it('a signal that ends the line mode during a start leaves word that it may have happened', async () => {
  const stop = new AbortController();
  let stopsOnSignals = false;
  const server = await hostileServer((response, request) => {
    const items = [{ bench_id: 'bench_1', label: 't-words' }];
    if (request.method !== 'POST') return json({ items, has_more: false })(response, request);
    if (stopsOnSignals) stop.abort(new Interruption(exitCodes.terminated));
    else response.destroy();
  });
  const ended = await cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], {
    input: 'benchmarks\nevaluate 1\nacme/small\n\n',
    signal: stop.signal,
    onStopOnSignals: () => {
      stopsOnSignals = true;
    },
  });
  expect(ended.code).toBe(exitCodes.terminated);
  expect(ended.out).toMatch(/It may have happened anyway: check before you repeat it.*benchtop list runs shows/);
});

describe('ctrl-c in the line mode', () => {
  const page = json({ items: [], has_more: false });
  const isChat = ({ url }: SeenRequest): boolean => url.endsWith('/chat/completions');

  it.each([
    ['while an answer is written', 'chat acme/small\nhello\n', isChat],
    ['while a list is read', 'secrets\n', ({ url }: SeenRequest) => url.includes('/secrets')],
  ])('ends it %s, and the request with it', async (_, typed, isAwaited) => {
    const writing = open(['data: {"choices":[{"index":0,"delta":{"content":"one"}}]}\n\n']);
    const server = await hostileServer((response, request) => {
      if (!isAwaited(request)) return page(response, request);
      return isChat(request) ? writing(response, request) : silent(response, request);
    });
    const stop = new AbortController();
    const input = new PassThrough();
    input.write(typed);
    const ended = cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], { input, signal: stop.signal });
    await eventually(() => expect(server.requests.some(isAwaited)).toBe(true));
    stop.abort();
    const { code, out } = await ended;
    expect(code).toBe(exitCodes.interrupted);
    expect(out).not.toContain('This did not work');
    await server.requests.find(isAwaited)?.closed;
  });
});
