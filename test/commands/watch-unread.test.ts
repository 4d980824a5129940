/** `watch` without ids and `watch --since last`, where the lists have several pages or parts that cannot be read. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { apiKey, hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const createdAt = new Date(Date.now() - 3_600_000).toISOString();
const run = (id: string, status: string) => ({
  ...{ eval_run_id: id, display_name: id, status, created_at: createdAt },
  ...(status === 'failed' && { completed_at: new Date().toISOString() }),
});

/** A service whose benchmarks have these pages of runs; a missing page fails. */
async function cliWith(benchmarks: Readonly<Record<string, readonly (readonly object[] | undefined)[]>>) {
  const { url } = await hostileServer((response, { url: path }) => {
    const { pathname, searchParams } = new URL(path, 'http://s');
    const answer = (body: object, status = 200) => json(body, status)(response, { url: path } as never);
    if (pathname === '/api/v1/benchmarks')
      return answer({
        items: Object.keys(benchmarks).map(bench_id => ({ bench_id, label: bench_id })),
        has_more: false,
      });
    const [, ended] = /^\/api\/v1\/eval\/(evr_\w+)$/.exec(pathname) ?? [];
    if (ended) return answer(run(ended, 'completed'));
    const [, id = ''] = /^\/api\/v1\/eval\/(\w+)\/runs$/.exec(pathname) ?? [];
    const pages = benchmarks[id];
    if (!pages) return answer({ items: [], has_more: false });
    const at = Number(searchParams.get('cursor') ?? 0);
    const items = pages[at];
    if (!items) return answer({}, 500);
    const more = at + 1 < pages.length;
    return answer({ items, has_more: more, next_cursor: more ? String(at + 1) : null });
  });
  return cliOn({ baseUrl: url, apiKey });
}

it('finds what runs on a later page', async () => {
  const cli = await cliWith({ b1: [[run('evr_old', 'completed')], [run('evr_late', 'queued')]] });
  expect(await cli('watch', [])).toMatchObject({
    code: exitCodes.done,
    out: expect.stringContaining('evr_late  completed'),
  });
});

it.each([
  ['watch', []],
  ['watch', ['Runs']],
] as const)('%s %j does not say that nothing runs if a list cannot be read', async (command, words) => {
  const cli = await cliWith({ b1: [[run('evr_old', 'completed')]], b2: [undefined] });
  const { code, notes } = await cli(command, words);
  expect(notes).toContain('Not all runs could be read: The runs of 1 of 2 benchmarks could not be read');
  expect(notes).toContain('Nothing is known to be running.');
  expect(code).toBe(exitCodes.endUnseen);
});

it('--since last finds what ended on a later page, and says what it could not read', async () => {
  const paged = await cliWith({ b1: [[], [run('evr_late', 'running')]] });
  expect((await paged('watch', ['--since', 'last'])).code).toBe(exitCodes.done);
  const cli = await cliWith({ b1: [[]], b2: [undefined] });
  const { code, notes } = await cli('watch', ['--since', 'last']);
  expect(notes).toContain('So it is not known what has ended since you last looked.');
  expect(code).toBe(exitCodes.endUnseen);
});
