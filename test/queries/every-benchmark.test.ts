/** Lists gathered over benchmarks: one failure does not affect the others. */
import { describe, expect, it } from 'vitest';
import type { Benchmark } from '../../src/contract/benchmarks.ts';
import type { ListQuery } from '../../src/contract/common.ts';
import { benchmarkQuery } from '../../src/queries/benchmarks.ts';
import { readAcross } from '../../src/queries/every-benchmark.ts';
import { type ListSource, restKey } from '../../src/queries/lists/list-source.ts';
import { ListReader } from '../../src/queries/lists/reader.ts';
import type { QueryContext } from '../../src/queries/query-context.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { CapabilityMissingError, NotFoundError, ServiceError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, fakeService } from '../service/fake-service.ts';

const memory = RememberedStore.inMemory('test');

interface Run {
  readonly id: string;
  readonly bench_id: string;
  readonly created_at: string;
}

/** An unknown path may be refused in the same way. */
const refused = { code: 'resource_not_found', status: 404, operation: 'listEvalRuns', mayLackPath: true };

const broken = (benchId: string): never => {
  throw new ServiceError('server', `The store of ${benchId} is out.`, { status: 500 });
};

/** Reads pages of the runs of these benchmarks, one after the other; those of `broken` cannot be read. */
function pagesOf(answers: Answers) {
  const service = fakeService(answers, { capabilities: new Capabilities() });
  const read = async (benchId: string): Promise<Run[]> =>
    benchId === 'broken' ? broken(benchId) : [{ id: benchId, bench_id: benchId, created_at: '2026-01-01' }];
  const { signal } = new AbortController();
  return (cursor: string | null | undefined) =>
    readAcross<Run>(
      { service, signal, memory, query: cursor ? { cursor } : {} },
      { read, operation: 'listEvalRuns', noun: 'runs' },
    );
}

/** Benchmarks b1, b2, … with a run each, the latest last. */
function world(count: number) {
  const asked: ListQuery[] = [];
  const read: string[] = [];
  const failing = new Set<string>();
  const answers: Answers = {
    getBenchmark: () => {
      throw new CapabilityMissingError('getBenchmark');
    },
    listBenchmarks: ({ query = {} }) => {
      asked.push(query);
      const from = Number(query.cursor ?? 0);
      const to = from + (query.limit ?? 25);
      const all = Array.from({ length: count }, (_, index): Benchmark => ({ bench_id: `b${index + 1}` }));
      return {
        items: all.slice(from, to),
        has_more: to < count,
        next_cursor: to < count ? String(to) : null,
        dropped: 0,
      };
    },
  };
  const service = fakeService(answers, { capabilities: new Capabilities() });
  const readRuns = async (benchId: string): Promise<Run[]> => {
    read.push(benchId);
    if (failing.has(benchId)) broken(benchId);
    const day = benchId.slice(1).padStart(3, '0');
    return [{ id: `run of ${benchId}`, bench_id: benchId, created_at: `2026-01-01T00:00:00.${day}Z` }];
  };
  const source: ListSource<Run> = {
    key: ['runs'],
    id: run => run.id,
    costly: true,
    readPage: context => readAcross(context, { read: readRuns, operation: 'listEvalRuns', noun: 'runs' }),
  };
  const stop = new AbortController();
  const context: QueryContext = { service, signal: stop.signal, memory };
  const reader = new ListReader<Run>(source, { context: async () => context, publish: () => {} });
  return { service, asked, read, failing, source, stop, context, reader };
}

const ids = (rows: readonly Run[]): string[] => rows.map(({ id }) => id);

describe('runs of all benchmarks', () => {
  it('come newest first', async () => {
    const { reader, context } = world(12);
    const { rows, notes, complete } = await reader.poll(context);
    expect(ids(rows)[0]).toBe('run of b12');
    expect([rows.length, notes, complete]).toEqual([12, [], true]);
  });

  it('keep their places if created at the same time, whichever benchmark answers first', async () => {
    const benchmarks = ['b1', 'b2', 'b3'].map(bench_id => ({ bench_id }));
    const listBenchmarks = () => ({ items: benchmarks, has_more: false, next_cursor: null, dropped: 0 });
    const service = fakeService({ listBenchmarks }, { capabilities: new Capabilities() });
    const slowest = { b1: 3, b2: 2, b3: 1 };
    const read = async (benchId: string): Promise<Run[]> => {
      for (let left = slowest[benchId as keyof typeof slowest]; left > 0; left -= 1) await new Promise(setImmediate);
      return ['x', 'y'].map(id => ({ id: `${benchId} ${id}`, bench_id: benchId, created_at: '2026-01-01' }));
    };
    const { signal } = new AbortController();
    const options = { read, operation: 'listEvalRuns', noun: 'runs' } as const;
    const { items } = await readAcross<Run>({ service, signal, memory, query: {} }, options);
    expect(ids(items)).toEqual(['b1 x', 'b1 y', 'b2 x', 'b2 y', 'b3 x', 'b3 y']);
  });

  it('are shown without unreadable ones, which a note counts', async () => {
    const { reader, context, failing } = world(14);
    failing.add('b3').add('b9');
    const { rows, notes, complete } = await reader.poll(context);
    expect([rows.length, complete]).toEqual([12, false]);
    expect(notes).toEqual([
      'The runs of 2 of 14 benchmarks could not be read: The store of b3 is out.',
      `Some runs of 2 benchmarks may be missing: ${restKey} tries again`,
    ]);
  });

  it('count an unreadable benchmark as a row, beside what failed (attack35 B2)', async () => {
    const { context } = world(2);
    const benchmarks = [{ bench_id: 'b1' }, { bench_id: 'b2' }];
    const service = fakeService({
      listBenchmarks: () => ({ items: benchmarks, has_more: false, next_cursor: null, dropped: 1 }),
    });
    const read = async (benchId: string): Promise<Run[]> => (benchId === 'b2' ? broken(benchId) : []);
    const options = { read, operation: 'listEvalRuns', noun: 'runs' } as const;
    const page = await readAcross<Run>({ ...context, service, query: {} }, options);
    expect(page).toMatchObject({
      dropped: 1,
      note: 'The runs of 1 unreadable benchmark are missing. The runs of 1 of 2 benchmarks could not be read: The store of b2 is out.',
    });
  });

  it('are read on request after a failure, after those of all other benchmarks', async () => {
    const { reader, context, failing } = world(120);
    failing.add('b3').add('b70');
    await reader.poll(context);
    expect(await reader.readRest()).toBe('failed');
    expect(reader.data).toMatchObject({ complete: false });
    expect(reader.data.rows).toHaveLength(118);
    failing.clear();
    expect(await reader.readRest()).toBe('complete');
    expect(reader.data.rows).toHaveLength(120);
    expect((await reader.poll(context)).rows).toHaveLength(120);
  });

  it('are not all known if the only benchmark with runs failed', async () => {
    const { context, source } = world(2);
    const read = async (benchId: string): Promise<Run[]> => (benchId === 'b2' ? broken(benchId) : []);
    const readPage: typeof source.readPage = page =>
      readAcross(page, { read, operation: 'listEvalRuns', noun: 'runs' });
    const reader = new ListReader<Run>({ ...source, readPage }, { context: async () => context, publish: () => {} });
    expect(await reader.poll(context)).toMatchObject({ rows: [], complete: false });
  });

  it('keep the earlier rows of a benchmark that fails now', async () => {
    const { reader, context, failing } = world(14);
    await reader.poll(context);
    failing.add('b3');
    const { rows, notes } = await reader.poll(context);
    expect(rows).toHaveLength(14);
    expect(notes[0]).toContain('1 of 14');
    failing.clear();
    expect((await reader.poll(context)).notes).toEqual([]);
  });

  it('have the same cursor again if the benchmarks are listed in a loop, so that the loop is noticed', async () => {
    const readPage = pagesOf({
      listBenchmarks: ({ query: { cursor } = {} }) => ({
        items: [{ bench_id: cursor === 'two' ? 'b2' : 'b1' }, { bench_id: 'broken' }],
        has_more: true,
        next_cursor: cursor === 'one' ? 'two' : 'one',
        dropped: 0,
      }),
    });
    const cursors: (string | null | undefined)[] = [];
    for (let cursor: string | null | undefined; cursors.length < 7; cursors.push(cursor))
      cursor = (await readPage(cursor)).next_cursor;
    expect(new Set(cursors).size).toBeLessThan(6);
    expect(cursors.at(-1)).toBe(cursors.at(-3));
  });

  it('fail if none can be read', async () => {
    const { reader, context, failing } = world(3);
    failing.add('b1').add('b2').add('b3');
    await expect(reader.poll(context)).rejects.toThrow('is out');
  });

  it('are not requested any more once an answer says that none are listed', async () => {
    const { context, read } = world(40);
    const missing = async (benchId: string): Promise<Run[]> => {
      read.push(benchId);
      throw new CapabilityMissingError('listEvalRuns');
    };
    await expect(
      readAcross({ ...context, query: {} }, { read: missing, operation: 'listEvalRuns', noun: 'runs' }),
    ).rejects.toThrow();
    expect(read.length).toBeLessThan(6);
  });

  it('belong to a missing endpoint if none is found for any listed benchmark', async () => {
    const { context, read } = world(40);
    const unknown = async (benchId: string): Promise<Run[]> => {
      read.push(benchId);
      throw new NotFoundError('There is no such thing.', refused);
    };
    const across = readAcross({ ...context, query: {} }, { operation: 'listEvalRuns', read: unknown, noun: 'runs' });
    await expect(across).rejects.toBeInstanceOf(CapabilityMissingError);
    expect(read.length).toBeLessThan(10);
  });

  it('are listed even if the first ones are not found, while another answer is pending', async () => {
    const { context, read } = world(40);
    const late = async (benchId: string): Promise<Run[]> => {
      read.push(benchId);
      if (['b1', 'b2', 'b3'].includes(benchId)) {
        throw new NotFoundError('There is no such thing.', refused);
      }
      await new Promise(resolve => setImmediate(resolve));
      return [{ id: `run of ${benchId}`, bench_id: benchId, created_at: '2026-01-01T00:00:00Z' }];
    };
    const page = await readAcross({ ...context, query: {} }, { operation: 'listEvalRuns', read: late, noun: 'runs' });
    expect([page.items.length, new Set(read).size, read.length]).toEqual([37, 40, 40]);
    expect(page.note).toContain('3 of 40');
  });

  it('report the answer of each benchmark, so that they can be read by a refresh', async () => {
    const { context, reader } = world(14);
    let answers = 0;
    await reader.poll({ ...context, progressed: () => (answers += 1) });
    expect(answers).toBeGreaterThanOrEqual(14);
  });

  it('are not requested any more once their reader is gone', async () => {
    const { context, read, stop } = world(40);
    const slow = async (benchId: string): Promise<Run[]> => {
      read.push(benchId);
      stop.abort();
      throw new ServiceError('cancelled', 'Cancelled.');
    };
    await expect(
      readAcross({ ...context, query: {} }, { read: slow, operation: 'listEvalRuns', noun: 'runs' }),
    ).rejects.toThrow('Cancelled');
    expect(read.length).toBeLessThan(6);
  });

  it('are read to the end even if the newest benchmarks have none', async () => {
    const { context } = world(120);
    const readRuns = async (benchId: string): Promise<Run[]> =>
      benchId === 'b118' ? [{ id: 'run of b118', bench_id: benchId, created_at: '2026-01-01T00:00:00Z' }] : [];
    const source: ListSource<Run> = {
      key: ['runs'],
      id: run => run.id,
      costly: true,
      readPage: page => readAcross(page, { read: readRuns, operation: 'listEvalRuns', noun: 'runs' }),
    };
    const reader = new ListReader<Run>(source, { context: async () => context, publish: () => {} });
    expect((await reader.poll(context)).complete).toBe(false);
    expect(await reader.readRest()).toBe('complete');
    expect(ids(reader.data.rows)).toEqual(['run of b118']);
  });

  it('continue with the other benchmarks on request, and say so until then', async () => {
    const { reader, context, read } = world(120);
    const { rows, notes } = await reader.poll(context);
    expect(rows).toHaveLength(50);
    expect(notes).toEqual([`These are the runs of the newest benchmarks: ${restKey} reads the rest`]);
    expect(await reader.readRest()).toBe('complete');
    expect(reader.data).toMatchObject({ complete: true, notes: [] });
    expect(reader.data.rows).toHaveLength(120);
    expect(new Set(read).size).toBe(120);
  });
});

describe('a benchmark that the service does not return by id', () => {
  it('is looked up once, and then read at the place it was found', async () => {
    const { context, asked } = world(900);
    const query = benchmarkQuery('b700');
    expect((await query.read(context)).bench_id).toBe('b700');
    expect(asked).toHaveLength(4);
    await query.read(context);
    await query.read(context);
    expect(asked.slice(4)).toEqual([
      { limit: 200, cursor: '600' },
      { limit: 200, cursor: '600' },
    ]);
  });

  it('is reported as missing once all have been read', async () => {
    const { context } = world(3);
    await expect(benchmarkQuery('b4').read(context)).rejects.toMatchObject({ kind: 'not_found' });
  });
});
