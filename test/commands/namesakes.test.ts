/** Names in partly read lists. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const cutOff = json({ items: [{ bench_id: 'bench_1', label: 'Twin' }], has_more: true, next_cursor: null });
const unreadable = json({ items: [{ bench_id: 'bench_1', label: 'Twin' }, { label: 'Twin' }], has_more: false });

it('are refused for a write if the list was cut off', async () => {
  const server = await hostileServer(cutOff, json({}));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code, notes } = await cli('evaluate', ['Twin', '--model', 'acme/m', '--name', 'first']);
  expect(code).toBe(exitCodes.usage);
  expect(notes).toContain('Give the id. benchmark Twin (bench_1) has that name, but another benchmark may have');
  expect(notes).toContain('gives no way to read them');
  expect(server.requests.map(({ method }) => method)).not.toContain('POST');
});

it.each([
  ['was cut off', cutOff, 'gives no way to read them'],
  ['has an unreadable row', unreadable, '1 row could not be read'],
])('are read with a note if the list %s', async (_, list, why) => {
  const record = json({ bench_id: 'bench_1', label: 'Twin' });
  const server = await hostileServer(list, record);
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code, out, notes } = await cli('get', ['benchmark', 'Twin', '--field', 'bench_id']);
  expect({ code, out }).toEqual({ code: exitCodes.done, out: 'bench_1\n' });
  expect(notes).toContain('benchmark Twin (bench_1) was found by its name, but another benchmark may have that name');
  expect(notes).toContain(why);
});

/** Commands on a service with two deployments of one slug. @param record what it sends for either id */
async function withReplaced(record: (both: { replaced: object; active: object }) => object) {
  const role = { model_slug: 'tutor', status: 'DEPLOYED', role: 'production' };
  const replaced = { ...role, deployment_id: 'dep_1', is_active: false };
  const active = { ...role, deployment_id: 'dep_2', is_active: true };
  const server = await hostileServer((response, request) => {
    const isList = request.url.startsWith('/api/v1/deploy?');
    const body = isList ? { items: [replaced, active], has_more: false } : record({ replaced, active });
    return json(body)(response, request);
  });
  return cliOn({ baseUrl: server.url, apiKey: 'key' });
}

it('call a replaced deployment demoted in filters, tables and fields, but not in JSON (out34 B2)', async () => {
  const cli = await withReplaced(({ replaced }) => replaced);
  const list = async (...flags: string[]) => (await cli('list', ['deployments', ...flags])).out;
  expect(await list('--filter', 'role:production', '--ids')).toBe('dep_2\n');
  expect(await list('--filter', 'role:demoted', '--columns', 'id,role')).toBe('ID\tROLE\ndep_1\tdemoted\n');
  expect(await list('--field', 'role')).toBe('demoted\nproduction\n');
  expect((await cli('get', ['dep_1', '--field', 'role'])).out).toBe('demoted\n');
  expect(JSON.parse((await cli('get', ['dep_1', '--json'])).out).role).toBe('production');
});

it('mean the active deployment for a read, and are refused for a write', async () => {
  const cli = await withReplaced(({ active }) => active);
  const { code, out, notes } = await cli('get', ['deployment', 'tutor', '--field', 'deployment_id']);
  expect({ code, out }).toEqual({ code: exitCodes.done, out: 'dep_2\n' });
  expect(notes).toContain('2 deployments are named tutor. This is dep_2, which serves tutor.');
  for (const command of ['undeploy', 'promote']) {
    const refused = await cli(command, ['tutor', '--yes']);
    expect(refused.code).toBe(exitCodes.usage);
    expect(refused.notes).toContain('2 deployments are named tutor. Give the id of one');
  }
});

it('are not called missing', async () => {
  const missing = refusal(404, 'invalid_request_error', 'resource_not_found');
  const server = await hostileServer(cutOff, missing, missing);
  const { notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('get', ['benchmark', 'Other']);
  expect(notes).toContain('It may be among the rows that could not be read');
});

it('are not looked for in an unreadable list, which is not called empty', async () => {
  const server = await hostileServer(json({ items: [{ label: 'Twin' }], has_more: true, next_cursor: null }));
  const { code, notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('list', ['benchmarks']);
  expect(code).toBe(exitCodes.failed);
  expect(notes).toContain('There may be more rows, but the service gives no way to read them');
});

const twin = [{ bench_id: 'bench_1', label: 'Twin' }];

it.each([
  [
    'an empty page',
    [
      { items: twin, has_more: true, next_cursor: 'c' },
      { items: [], has_more: true, next_cursor: 'd' },
    ],
  ],
  ['an empty cursor', [{ items: twin, has_more: true, next_cursor: '' }]],
])('are accepted, and the list is whole, if it ends at %s that says there are more', async (_, pages) => {
  const server = await hostileServer((response, request) => {
    const page = pages[/[?&]cursor=/.test(request.url) ? 1 : 0];
    const isList = /benchmarks(\?|$)/.test(request.url);
    return json(isList ? page : { bench_id: 'bench_1', eval_run_id: 'evr_1' })(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const listed = await cli('list', ['benchmarks', '--json']);
  expect(listed).toMatchObject({ code: exitCodes.done, notes: '' });
  const started = await cli('evaluate', ['Twin', '--model', 'acme/m', '--name', 'first']);
  expect(started).toMatchObject({ code: exitCodes.done, notes: '' });
  expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

it('are looked up with one series of retries if the service fails (out26 B10)', async () => {
  const server = await hostileServer(refusal(500, 'api_error', 'internal_error'));
  const { code, notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('get', ['eval_01']);
  expect(code).toBe(exitCodes.unreachable);
  expect(notes.match(/Retry \d of 2/g)).toEqual(['Retry 1 of 2', 'Retry 2 of 2']);
});

it('are found as displayed, and names that look alike are namesakes (attack37 C4)', async () => {
  const labels = ['cafe\u0301', 'x\0y', 'a\u200bb', 'a\u200db', 'a\u00adb'];
  const items = labels.map((label, index) => ({ bench_id: `bench_${index}`, label }));
  const server = await hostileServer((response, request) =>
    /benchmarks\?/.test(request.url)
      ? json({ items, has_more: false, next_cursor: null })(response, request)
      : refusal(404, 'not_found_error', 'none')(response, request),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const idOf = async (name: string) => (await cli('get', ['benchmark', name, '--field', 'bench_id'])).out;
  expect([await idOf('caf\u00e9'), await idOf('xy')]).toEqual(['bench_0\n', 'bench_1\n']);
  const { code, notes } = await cli('get', ['benchmark', 'ab']);
  expect([code, notes]).toEqual([exitCodes.usage, expect.stringContaining('3 benchmarks are named ab')]);
  // One of them is that name as written (rev38 B3).
  items.push({ bench_id: 'bench_ab', label: 'ab' }, { bench_id: 'bench_cafe', label: 'caf\u00e9' });
  const names = ['ab', 'a\u200db', 'caf\u00e9', 'cafe\u0301'];
  expect(await Promise.all(names.map(idOf))).toEqual(['ab', '3', 'cafe', '0'].map(id => `bench_${id}\n`));
  items.length = labels.length;
  for (const filter of ['caf\u00e9', 'benchmark:caf\u00e9', 'benchmark=caf\u00e9', '"cafe\u0301"'])
    expect((await cli('list', ['benchmarks', '--filter', filter, '--ids'])).out).toBe('bench_0\n');
});
