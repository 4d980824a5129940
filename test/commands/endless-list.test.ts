/** A list that never ends, in a pipe and on a terminal. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

/** Each page has new rows and a new cursor. */
async function endless() {
  let pages = 0;
  const server = await hostileServer((response, request) => {
    const from = pages * 200;
    pages += 1;
    const items = Array.from({ length: 200 }, (_, index) => ({
      bench_id: `bench_${from + index}`,
      label: `b${from + index}`,
    }));
    return json({ items, has_more: true, next_cursor: `c${pages}` })(response, request);
  });
  return { cli: cliOn({ baseUrl: server.url, apiKey: 'key' }), pages: () => pages };
}

it.each<[string, readonly string[], string]>([
  ['a table in a pipe', [], 'BENCHMARK\tID\t'],
  ['ids', ['--ids'], 'bench_0\nbench_1\n'],
  ['JSON Lines', ['--format', 'jsonl'], '{"bench_id":"bench_0"'],
  ['CSV', ['--format', 'csv'], 'benchmark,id,'],
])('prints %s page by page', async (_, flags, head) => {
  const { cli, pages } = await endless();
  const stop = new AbortController();
  const printed: string[] = [];
  const onPrint = (text: string): void => {
    printed.push(text);
    if (printed.length === 3) stop.abort();
  };
  const { code } = await cli('list', ['benchmarks', '--all', ...flags], { onPrint, signal: stop.signal });
  expect(code).not.toBe(0);
  expect(pages()).toBeLessThan(6);
  const lines = printed.join('').trimEnd().split('\n');
  expect(printed[0]?.slice(0, head.length).toLowerCase()).toBe(head.toLowerCase());
  const heads = flags.length === 0 || flags[1] === 'csv' ? 1 : 0;
  expect(lines).toHaveLength(600 + heads);
  expect(new Set(lines).size).toBe(lines.length);
});

it.each<[string, readonly string[], number | undefined]>([
  ['a table on a terminal', [], 80],
  ['JSON', ['--json'], undefined],
  ['rows to sort', ['--sort', 'name', '--ids'], undefined],
  ['a filter that nothing matches', ['--filter', 'nothing', '--ids'], undefined],
])('says how many rows it has read for %s', async (_, flags, columns) => {
  const { cli } = await endless();
  const stop = new AbortController();
  const notes: string[] = [];
  const onNote = (text: string): void => {
    notes.push(text);
    if (notes.length === 2) stop.abort();
  };
  const { out } = await cli('list', ['benchmarks', '--all', ...flags], {
    onNote,
    signal: stop.signal,
    ...(columns && { columns }),
  });
  expect(notes.slice(0, 2)).toEqual(['10k', '20k'].map(many => expect.stringContaining(`${many} rows read so far.`)));
  expect(out).toBe('');
});

it('stops at the limit, even within a page', async () => {
  const { cli } = await endless();
  const { code, out, notes } = await cli('list', ['benchmarks', '--limit', '250', '--ids']);
  expect([code, out.trimEnd().split('\n').length]).toEqual([0, 250]);
  expect(notes).toBe('There are more than these 250 rows: use --limit N or --all.');
});

it('does not search all trajectories for an id that the service refuses', async () => {
  const urls: string[] = [];
  const server = await hostileServer((response, request) => {
    urls.push(request.url);
    return json(
      { error: { type: 'invalid_request_error', code: 'resource_not_found', message: 'No such trajectory' } },
      404,
    )(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code, notes } = await cli('get', ['trajectory', 'traj_gone']);
  expect([code, urls]).toEqual([exitCodes.notFound, ['/api/v1/trajectories/traj_gone?include_steps=true']]);
  expect(notes).toContain('No such trajectory');
});
