/** Rows with an optional field that cannot be read, and what the commands say of them. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
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

it('a list has the rows, and says which fields they lack', async () => {
  const { code, out, notes } = await (await cli())('list', ['deployments', '--json']);
  expect(JSON.parse(out)).toEqual([
    expect.objectContaining({ deployment_id: 'dep_1', unreadable_fields: { is_active: 'yes' } }),
  ]);
  expect(JSON.parse(out)[0]).not.toHaveProperty('is_active');
  expect(notes).toContain('1 row without unreadable fields: is_active');
  expect(code).toBe(exitCodes.done);
});

it('a count that cannot be read is not 0', async () => {
  const { out, notes } = await (await cli())('list', ['benchmarks', '--columns', 'label,runs']);
  expect(out).toBe('BENCHMARK\tRUNS\nwords\t\n');
  expect(notes).toContain('eval_run_count');
  const onScreen = await (await cli())('list', ['benchmarks', '--columns', 'label,runs'], { columns: 60 });
  expect(onScreen.out).toMatch(/^words +\?$/m);
});

it('a record shows the fields as they were sent', async () => {
  const run = await cli();
  const { code, out } = await run('get', ['deployment', 'dep_1']);
  expect(out).toContain('unreadable  {"is_active":"yes"}\n');
  expect(out).not.toContain('\nactive');
  expect(code).toBe(exitCodes.done);
  const asJson = await run('get', ['deployment', 'dep_1', '--json']);
  expect(asJson.notes).toContain('1 row without unreadable fields: is_active.');
});
