/** `watch` without ids and `watch --since last`, if lists have several pages or unreadable parts. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { resourceOrThrow } from '../../src/commands/find.ts';
import { readWatchLists } from '../../src/commands/watch-lists.ts';
import type { CommandContext } from '../../src/commands/with-service.ts';
import type { Page } from '../../src/contract/common.ts';
import { apiKey, hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const createdAt = new Date(Date.now() - 3_600_000).toISOString();
const run = (id: string, status: string) => ({
  ...{ eval_run_id: id, display_name: id, status, created_at: createdAt },
  ...(status === 'failed' && { completed_at: new Date().toISOString() }),
});

/** A service whose benchmarks have these pages of runs; a missing page fails. */
async function cliWith(
  benchmarks: Readonly<Record<string, readonly (readonly object[] | undefined)[]>>,
  unreadable: readonly unknown[] = [],
) {
  const { url } = await hostileServer((response, { url: path }) => {
    const { pathname, searchParams } = new URL(path, 'http://s');
    const answer = (body: object, status = 200) => json(body, status)(response, { url: path } as never);
    if (pathname === '/api/v1/benchmarks')
      return answer({
        items: [...unreadable, ...Object.keys(benchmarks).map(bench_id => ({ bench_id, label: bench_id }))],
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

it('finds running runs on later pages', async () => {
  const cli = await cliWith({ b1: [[run('evr_old', 'completed')], [run('evr_late', 'queued')]] });
  expect(await cli('watch', [])).toMatchObject({
    code: exitCodes.done,
    out: expect.stringContaining('evr_late  completed'),
  });
});

it.each([
  ['watch', []],
  ['watch', ['Runs']],
] as const)('%s %j does not say that nothing runs if a list is unreadable', async (command, words) => {
  const cli = await cliWith({ b1: [[run('evr_old', 'completed')]], b2: [undefined] });
  const { code, notes } = await cli(command, words);
  expect(notes).toContain('Not all runs could be read: The runs of 1 of 2 benchmarks could not be read');
  expect(notes).toContain('Nothing is known to be running.');
  expect(code).toBe(exitCodes.endUnseen);
});

it('--since last finds what ended on a later page, and says what is unreadable', async () => {
  const paged = await cliWith({ b1: [[], [run('evr_late', 'running')]] });
  expect((await paged('watch', ['--since', 'last'])).code).toBe(exitCodes.done);
  const cli = await cliWith({ b1: [[]], b2: [undefined] });
  const { code, notes } = await cli('watch', ['--since', 'last']);
  expect(notes).toContain('So it is not known what has ended since you last looked.');
  expect(code).toBe(exitCodes.endUnseen);
});

it('counts a benchmark with an unreadable record as unread (attack35 B2)', async () => {
  const cli = await cliWith({ b1: [[run('evr_old', 'completed')]] }, ['no record']);
  for (const args of [[], ['--since', 'last']]) {
    const { code, notes } = await cli('watch', args);
    expect(notes).toContain('Not all runs could be read: 1 row could not be read');
    expect(notes).toContain('The runs of 1 unreadable benchmark are missing');
    expect(notes).not.toMatch(/Nothing (?:is running|has ended)/);
    expect(code).toBe(exitCodes.endUnseen);
  }
});

it('makes no claims about lists that the service does not offer (attack35 B2)', async () => {
  const benchmarks = json({ items: [{ bench_id: 'b1', label: 'b1' }], has_more: false });
  const { url } = await hostileServer((response, request) =>
    (request.url.startsWith('/api/v1/benchmarks') ? benchmarks : json({}, 501))(response, request),
  );
  const cli = cliOn({ baseUrl: url, apiKey });
  const only =
    'This service does not list runs, training runs or deployments: only those seen on this machine are known.';
  expect(await cli('watch', [])).toEqual({ code: 0, out: '', notes: `${only}\nNothing is known to be running.` });
  const nothing = 'Nothing is known to have ended, failed or stalled since you last looked.';
  expect(await cli('watch', ['--since', 'last'])).toEqual({ code: 0, out: '', notes: `${nothing}\n${only}` });
});

it('--since last does not report all clear if what was last seen running is unreadable', async () => {
  let status = 200;
  const { url } = await hostileServer((response, request) => {
    const answer = (body: object, code = 200) => json(body, code)(response, request);
    if (request.url.startsWith('/api/v1/eval/evr_1')) return answer(run('evr_1', 'running'), status);
    return answer({ items: [], has_more: false });
  });
  const cli = cliOn({ baseUrl: url, apiKey });
  await cli('get', ['run', 'evr_1']);
  status = 500;
  const { code, notes } = await cli('watch', ['--since', 'last']);
  expect(notes).toMatch(/evr_1 could not be read: .*[^.]\. So it is not known what has ended since you last looked\./);
  expect(code).toBe(exitCodes.endUnseen);
});

it('says what takes long while it reads lists', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const read = Promise.withResolvers<Page<object>>();
  const list = () => ({ key: ['runs'], id: () => 'evr_1', readPage: () => read.promise });
  const notes: string[] = [];
  const context = { signal: new AbortController().signal, noteWait: (text: string) => void notes.push(text) };
  const lists = readWatchLists([{ ...resourceOrThrow('runs'), list }], context as unknown as CommandContext);
  await vi.advanceTimersByTimeAsync(2_900);
  expect(notes).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(notes).toEqual(['Reading all pages of runs, which may take a while.']);
  read.resolve({ items: [], has_more: false, next_cursor: null, dropped: 0 });
  expect(await lists).toMatchObject({ unread: [], unlisted: [] });
  expect(vi.getTimerCount()).toBe(0);
});
