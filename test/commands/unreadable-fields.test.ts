/** Rows with an unreadable optional field, and what commands say about them. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { checkpointColumns } from '../../src/resources/training.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const deployment = { deployment_id: 'dep_1', model_slug: 'm3', status: 'DEPLOYED', role: 'test', is_active: 'yes' };
const benchmark = { bench_id: 'b1', label: 'words', eval_run_count: 'many' };

async function cli() {
  const answers: Readonly<Record<string, unknown>> = {
    '/api/v1/deploy': { items: [deployment], has_more: false },
    '/api/v1/deploy/dep_1': deployment,
    '/api/v1/benchmarks': { items: [benchmark], has_more: false },
  };
  const server = await hostileServer((response, request) => {
    const body = answers[request.url.split('?')[0] ?? ''];
    return (body === undefined ? refusal(404, 'not_found_error', 'none') : json(body))(response, request);
  });
  return cliOn({ baseUrl: server.url, apiKey: 'key' });
}

it('are named in a list, which has its rows', async () => {
  const { code, out, notes } = await (await cli())('list', ['deployments', '--json']);
  expect(JSON.parse(out)).toEqual([
    expect.objectContaining({ deployment_id: 'dep_1', unreadable_fields: { is_active: 'yes' } }),
  ]);
  expect(JSON.parse(out)[0]).not.toHaveProperty('is_active');
  expect(notes).toContain('1 row shown without unreadable fields: is_active');
  expect(code).toBe(exitCodes.done);
});

it('are not counted as 0', async () => {
  const { out, notes } = await (await cli())('list', ['benchmarks', '--columns', 'label,runs']);
  expect(out).toBe('BENCHMARK\tRUNS\nwords\t\n');
  expect(notes).toContain('eval_run_count');
  const onScreen = await (await cli())('list', ['benchmarks', '--columns', 'label,runs'], { columns: 60 });
  expect(onScreen.out).toMatch(/^words +\?$/m);
});

it('do not make a deployment inactive', async () => {
  const run = await cli();
  const list = await run('list', ['deployments', '--columns', 'slug,active'], { columns: 60 });
  expect(list.out).toMatch(/^m3 +\?$/m);
  const { code, notes } = await run('undeploy', ['dep_1']);
  expect(notes).toContain('May be in production: m3. If so, nothing answers there');
  expect(code).not.toBe(exitCodes.done);
});

it('do not make a checkpoint deployable or undeployable', () => {
  const column = checkpointColumns.find(({ id }) => id === 'deployable');
  const shown = (row: object) => column?.text?.({ checkpoint_id: 'ckpt_1', step_index: 1, ...row });
  expect(shown({ unreadable_fields: { is_deployable: 'true' } })).toBe('?');
  expect([shown({}), shown({ is_deployable: false })]).toEqual(['', 'no']);
});

it('are shown in a record as they were sent', async () => {
  const run = await cli();
  const { code, out } = await run('get', ['deployment', 'dep_1']);
  expect(out).toContain('unreadable  {"is_active":"yes"}\n');
  expect(out).not.toContain('\nactive');
  expect(code).toBe(exitCodes.done);
  const asJson = await run('get', ['deployment', 'dep_1', '--json']);
  expect(asJson.notes).toContain('1 row shown without unreadable fields: is_active.');
});
