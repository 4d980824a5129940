/** Reading a list: page by page, again while in view, and to its end on request. */
import { describe, expect, it, vi } from 'vitest';
import type { ListQuery } from '../../../src/contract/common.ts';
import type { AnnotatedPage, ListData, ListSource } from '../../../src/queries/lists/list-source.ts';
import { ListReader } from '../../../src/queries/lists/reader.ts';
import type { QueryContext } from '../../../src/queries/query-context.ts';
import { ServiceError } from '../../../src/service/errors.ts';
import { eventually } from '../../eventually.ts';
import { ListServer, type Row } from './list-server.ts';

const { signal } = new AbortController();
const context = { signal } as QueryContext;
const row = (id: string, value = 0): Row => ({ id, value });
const names = ({ rows }: ListData<Row>): string => rows.map(({ id }) => id).join(' ');
const range = (from: number, to: number): string =>
  Array.from({ length: from - to + 1 }, (_, index) => `r${from - index}`).join(' ');

function readerOf(
  readPage: (query: ListQuery) => AnnotatedPage<Row> | Promise<AnnotatedPage<Row>>,
  { seed, ...more }: Partial<ListSource<Row>> & { readonly seed?: ListData<Row> } = {},
) {
  const published = vi.fn<(data: ListData<Row>) => void>();
  const source = {
    key: ['rows'],
    id: ({ id }: Row) => id,
    readPage: async ({ query }: { query: ListQuery }) => readPage(query),
    ...more,
  };
  const ports = { context: async () => context, publish: published };
  return { reader: new ListReader<Row>(source, ports, seed), published };
}

/** A list of `count` rows on the service, ten per page. */
function listOf(count: number, more?: Parameters<typeof readerOf>[1]) {
  const server = new ListServer(10, 'place');
  server.insertMany(count);
  return { server, ...readerOf(query => server.answer(query), more) };
}

/** Returns pages in sequence, for any request. */
function scripted(...pages: Partial<AnnotatedPage<Row>>[]) {
  return readerOf(() => ({ items: [], has_more: false, next_cursor: null, dropped: 0, ...pages.shift() }));
}

it('is incomplete without a cursor for the rest, says so, and reads nothing more', async () => {
  const { reader } = scripted({ items: [row('a'), row('b')], has_more: true });
  await reader.poll(context);
  expect(reader.data).toMatchObject({ complete: false, notes: [expect.stringContaining('gives no way to read them')] });
  expect(reader.extent).toEqual({ rows: 2, complete: false, dropped: 0 });
  await reader.readOn();
  expect([await reader.readRest(), names(reader.data)]).toEqual(['complete', 'a b']);
});

describe('rows from an earlier start', () => {
  const seed = { rows: [row('r9'), row('gone')], complete: false, dropped: 0, repeated: 0, notes: [], version: 0 };
  const remembered = { ...seed, remembered_at: undefined };

  it('are shown, but not as current news', () => {
    const { reader } = listOf(12, { seed: remembered });
    expect(names(reader.data)).toBe('r9 gone');
    expect(reader.live()).toEqual([]);
    expect(reader.oldest(reader.data.rows)).toBeUndefined();
  });

  it.each(['poll', 'readOn', 'readRest'] as const)('are replaced completely by %s', async way => {
    const { server, reader } = listOf(12, { seed: remembered });
    await (way === 'poll' ? reader.poll(context) : reader[way]());
    expect(names(reader.data)).toBe(way === 'readRest' ? range(12, 1) : range(12, 3));
    expect(server.asked).toBe(way === 'readRest' ? 2 : 1);
  });

  it('lose what the program deletes, and stay if the service does not answer', async () => {
    const { reader } = readerOf(() => Promise.reject(new Error('refused')), { seed: remembered });
    reader.remove(['gone']);
    await expect(reader.poll(context)).rejects.toThrow('refused');
    expect(names(reader.data)).toBe('r9');
  });
});

describe('the news of a list', () => {
  const told = (rows: readonly Row[]): string => rows.map(({ id }) => id).join(' ');

  it('are the rows read since the last look, including those read again', async () => {
    const { reader } = listOf(25);
    await reader.poll(context);
    expect(told(reader.news())).toBe(range(25, 16));
    expect(told(reader.news())).toBe('');
    await reader.readOn();
    expect(told(reader.news())).toBe(range(15, 6));
    await reader.poll(context);
    expect(told(reader.news())).toBe(range(25, 16));
  });

  it('cover only the first rows, if no more are wanted', async () => {
    const { reader } = listOf(25);
    await reader.poll(context);
    await reader.readOn();
    expect(told(reader.news(12))).toBe(range(25, 14));
    await reader.readRest();
    expect(told(reader.news(12))).toBe('');
  });
});

describe('a failed next page (U33)', () => {
  /** Rows whose second page fails until it is fixed. */
  function failingOnce() {
    const server = new ListServer(10, 'place');
    server.insertMany(30);
    const state = { broken: true, asked: 0 };
    const { reader } = readerOf(query => {
      if (query.cursor) state.asked += 1;
      if (query.cursor && state.broken) throw new Error('broken');
      return server.answer(query);
    });
    return { reader, state };
  }

  it('is retried with the next successful poll while the cursor is near the end', async () => {
    const { reader, state } = failingOnce();
    await reader.poll(context);
    reader.see(reader, reader.data.rows, true);
    await eventually(() => expect(reader.state().error?.message).toBe('broken'));
    // Scrolling alone does not repeat a refused request.
    const { asked } = state;
    reader.see(reader, reader.data.rows.slice(1), true);
    expect(state.asked).toBe(asked);
    state.broken = false;
    await reader.poll(context);
    await eventually(() => expect(reader.state().error).toBeUndefined());
    expect(reader.data.rows.length).toBeGreaterThan(10);
  });

  it('is forgotten with the next successful poll if it is no longer needed', async () => {
    const { reader, state } = failingOnce();
    await reader.poll(context);
    reader.see(reader, reader.data.rows, true);
    await eventually(() => expect(reader.state().error).toBeDefined());
    reader.see(reader, reader.data.rows, false);
    const { asked } = state;
    await reader.poll(context);
    expect(reader.state().error).toBeUndefined();
    expect(state.asked).toBe(asked);
  });

  it('is read page by page while the end stays near', async () => {
    const { reader } = listOf(30);
    await reader.poll(context);
    reader.see(reader, reader.data.rows, true);
    await eventually(() => expect(reader.data.rows).toHaveLength(20));
    reader.see(reader, [], false);
    expect(reader.data.complete).toBe(false);
  });
});

describe('a poll', () => {
  it('reads the first page, and the one in view', async () => {
    const { server, reader } = listOf(40);
    await reader.poll(context);
    await reader.readOn();
    await reader.readOn();
    const { rows } = reader.data;
    expect(rows).toHaveLength(30);
    server.asked = 0;
    await reader.poll(context);
    expect(server.asked).toBe(1);
    // The middle one of three pages, and its neighbours: the first is read anyway.
    reader.see(reader, rows.slice(12, 15));
    server.asked = 0;
    await reader.poll(context);
    expect(server.asked).toBe(3);
  });

  it('that fails before the first answer shows no empty list', async () => {
    const { reader, published } = readerOf(() => Promise.reject(new Error('refused')));
    await expect(reader.poll(context)).rejects.toThrow('refused');
    expect(published).not.toHaveBeenCalled();
  });

  it('that fails half way shows what arrived, unless it is no longer needed', async () => {
    const server = new ListServer(10, 'place');
    server.insertMany(30);
    let fails = false;
    const { reader, published } = readerOf(query => {
      if (fails && query.cursor) throw new Error('the cable is out');
      return server.answer(query);
    });
    await reader.poll(context);
    await reader.readRest();
    reader.see(reader, reader.data.rows.slice(-3));
    fails = true;
    published.mockClear();
    await expect(reader.poll({ ...context, signal: AbortSignal.abort() })).rejects.toThrow('the cable is out');
    expect(published).not.toHaveBeenCalled();
    await expect(reader.poll(context)).rejects.toThrow('the cable is out');
    expect(published).toHaveBeenCalledTimes(1);
  });

  it('reads no more pages than allowed, whatever is in view', async () => {
    const { server, reader } = listOf(30);
    await reader.poll(context);
    await reader.readRest();
    reader.see(reader, reader.data.rows.slice(-3));
    server.asked = 0;
    await reader.poll(context, 1);
    expect(server.asked).toBe(1);
  });

  it('reads no neighbours of the page in view if a page takes many requests', async () => {
    const { server, reader } = listOf(50, { costly: true });
    await reader.poll(context);
    await reader.readRest();
    reader.see(reader, reader.data.rows.slice(22, 25));
    server.asked = 0;
    await reader.poll(context);
    expect(server.asked).toBe(2);
  });

  it('keeps a row that has moved to the previous page, which was not read', async () => {
    const server = new ListServer(10, 'offset');
    server.insertMany(40);
    const { reader } = readerOf(query => server.answer(query), { costly: true });
    await reader.poll(context);
    await reader.readRest();
    const { rows } = reader.data;
    server.places.delete('r25');
    reader.see(reader, rows.slice(22, 25));
    server.asked = 0;
    await reader.poll(context);
    expect(names(reader.data)).toBe(`${range(40, 26)} ${range(24, 1)}`);
    const { asked } = server;
    await reader.poll(context);
    expect(names(reader.data)).toBe(`${range(40, 26)} ${range(24, 1)}`);
    expect([asked, server.asked - asked]).toEqual([4, 2]);
  });

  it('checks the parent of the rows only if all have vanished', async () => {
    const read = vi.fn(async () => {});
    const { server, reader } = listOf(5, { partOf: { kind: 'run', id: 'evr_1', read } });
    await reader.poll(context);
    await reader.poll(context);
    expect(read).not.toHaveBeenCalled();
    server.places.clear();
    await reader.poll(context);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('shows a change of a row far behind the first page, once that row is in view', async () => {
    const { server, reader } = listOf(40);
    await reader.poll(context);
    await reader.readRest();
    server.places.set('r5', { place: 5, value: 1 });
    server.places.delete('r4');
    const old = reader.data;
    await reader.poll(context);
    expect(reader.data).toBe(old);
    reader.see(reader, old.rows.slice(33, 38));
    await reader.poll(context);
    expect(reader.data.rows.find(({ id }) => id === 'r5')).toEqual(row('r5', 1));
    expect(names(reader.data)).not.toContain('r4 ');
    expect(reader.data.rows).toHaveLength(39);
  });

  it('keeps unchanged rows, and the list if nothing changed', async () => {
    const { server, reader } = listOf(20);
    await reader.poll(context);
    await reader.readRest();
    const old = reader.data;
    await reader.poll(context);
    expect(reader.data).toBe(old);
    server.places.set('r20', { place: 20, value: 1 });
    await reader.poll(context);
    expect(reader.data.rows[0]).toEqual(row('r20', 1));
    expect(reader.data.rows.slice(1).every((each, index) => each === old.rows[index + 1])).toBe(true);
  });

  it('puts new rows before the old ones, with one request', async () => {
    const { server, reader } = listOf(30);
    await reader.poll(context);
    await reader.readRest();
    server.insertMany(3);
    server.asked = 0;
    await reader.poll(context);
    expect(server.asked).toBe(1);
    expect(names(reader.data)).toBe(range(33, 1));
    expect(reader.data.complete).toBe(true);
  });

  it('reads on after a burst until the pages meet: nothing is missing', async () => {
    const { server, reader } = listOf(30);
    await reader.poll(context);
    await reader.readRest();
    server.insertMany(56);
    await reader.poll(context);
    expect(names(reader.data)).toBe(range(86, 1));
    expect(reader.data).toMatchObject({ complete: true });
  });

  it('follows a short list that was read whole as it grows over many pages', async () => {
    const { server, reader } = listOf(8);
    await reader.poll(context);
    expect(reader.data.complete).toBe(true);
    server.insertMany(17);
    await reader.poll(context);
    await reader.readRest();
    expect(names(reader.data)).toBe(range(25, 1));
    expect(reader.data.complete).toBe(true);
  });

  it('drops far rows when more arrive than it may read, and does not call the list complete', async () => {
    const { server, reader } = listOf(30);
    await reader.poll(context);
    await reader.readRest();
    server.insertMany(500);
    await reader.poll(context);
    expect(reader.data).toMatchObject({ complete: false });
    await reader.readRest();
    expect(names(reader.data)).toBe(range(530, 1));
  });

  it('keeps the list as it was while the rows after the new ones cannot be read', async () => {
    const server = new ListServer(10, 'place');
    server.insertMany(10);
    let fails = false;
    const { reader } = readerOf(query => {
      if (fails && query.cursor) throw new Error('the cable is out');
      return server.answer(query);
    });
    await reader.poll(context);
    const old = reader.data;
    server.insertMany(25);
    fails = true;
    await expect(reader.poll(context)).rejects.toThrow('the cable is out');
    expect(reader.data).toBe(old);
    fails = false;
    await reader.poll(context);
    expect(names(reader.data)).toBe(range(35, 1));
  });

  it('that fails before the first answer publishes nothing', async () => {
    const { reader, published } = readerOf(() => Promise.reject(new Error('the cable is out')));
    await expect(reader.poll(context)).rejects.toThrow('the cable is out');
    await reader.readOn();
    expect(published).not.toHaveBeenCalled();
  });

  it('ends the list if the service says that it ends', async () => {
    const { server, reader } = listOf(40);
    await reader.poll(context);
    await reader.readRest();
    for (let id = 1; id <= 35; id += 1) server.places.delete(`r${id}`);
    await reader.poll(context);
    expect(names(reader.data)).toBe(range(40, 36));
    expect(reader.data.complete).toBe(true);
  });

  it('removes rows at once that the program has deleted', async () => {
    const { reader, published } = listOf(25);
    await reader.poll(context);
    await reader.readRest();
    published.mockClear();
    reader.remove(['r3', 'never']);
    expect(published).toHaveBeenCalledTimes(1);
    expect(reader.data.rows).toHaveLength(24);
    expect(names(reader.data)).not.toContain('r3 ');
  });

  it('decides from current rows whether something runs', async () => {
    const { server, reader } = listOf(30, {
      activity: rows => (rows.some(({ value }) => value === 1) ? 'running' : 'open'),
    });
    server.places.set('r2', { place: 2, value: 1 });
    await reader.poll(context);
    await reader.readRest();
    await reader.poll(context);
    expect(reader.activity(reader.source)).toBe('open');
    reader.see(reader, reader.data.rows.slice(-3));
    await reader.poll(context);
    expect(reader.activity(reader.source)).toBe('running');
  });
});

describe('an expired cursor', () => {
  const refused = (): never => {
    throw new ServiceError('validation', 'This cursor has expired.', { status: 422, param: 'cursor' });
  };

  it('costs a poll the pages after the first, which are read again', async () => {
    const server = new ListServer(10, 'place');
    server.insertMany(40);
    let expired = false;
    const { reader } = readerOf(query => (expired && query.cursor ? refused() : server.answer(query)));
    await reader.poll(context);
    await reader.readRest();
    reader.see(reader, reader.data.rows.slice(20, 25));
    expired = true;
    await reader.poll(context);
    expect(reader.data.rows).toHaveLength(10);
    expect(reader.data.complete).toBe(false);
    expired = false;
    expect(await reader.readRest()).toBe('complete');
    expect(names(reader.data)).toBe(range(40, 1));
  });

  it('makes the next page be read from the first one on', async () => {
    const server = new ListServer(10, 'place');
    server.insertMany(40);
    let expired = false;
    const { reader } = readerOf(query => {
      if (!expired || !query.cursor) return server.answer(query);
      expired = false;
      return refused();
    });
    await reader.poll(context);
    await reader.readOn();
    expired = true;
    await reader.readOn();
    expect(names(reader.data)).toBe(range(40, 21));
    expect(reader.state().error).toBeUndefined();
  });

  it('is a failure if it is new', async () => {
    const { reader } = readerOf(query =>
      query.cursor ? refused() : { items: [row('a')], has_more: true, next_cursor: 'x', dropped: 0 },
    );
    await reader.poll(context);
    expect(await reader.readRest()).toBe('failed');
    expect(reader.state().error?.message).toContain('expired');
  });
});

describe('concurrent reads', () => {
  /** A list of 30 rows with its first page read. The others arrive when the functions in `held` are called. */
  async function withHeldPages() {
    const server = new ListServer(10, 'place');
    server.insertMany(30);
    const held: (() => void)[] = [];
    const { reader } = readerOf(query => {
      const page = server.answer(query);
      return query.cursor ? new Promise(resolve => held.push(() => resolve(page))) : page;
    });
    await reader.poll(context);
    return { server, reader, held };
  }

  it('take turns and lose no page: a poll while the next page is on its way', async () => {
    const { server, reader, held } = await withHeldPages();
    const more = reader.readOn();
    await eventually(() => expect(held).toHaveLength(1));
    server.insertMany(2);
    const poll = reader.poll(context);
    held.shift()?.();
    await Promise.all([more, poll]);
    expect(names(reader.data)).toBe(range(32, 11));
  });

  it('are merged for the same next page, which all wait for, even while the rest is read', async () => {
    const { reader, held } = await withHeldPages();
    const next = () => reader.readOn().then(() => reader.extent.rows);
    const both = [next(), next()];
    await eventually(() => expect(held).toHaveLength(1));
    held.shift()?.();
    expect(await Promise.all(both)).toEqual([20, 20]);
    const rest = reader.readRest();
    const more = next();
    await eventually(() => expect(held).toHaveLength(1));
    held.shift()?.();
    expect([await rest, await more]).toEqual(['complete', 30]);
    expect(held).toEqual([]);
  });
});

describe('the end of a list', () => {
  it('is the cursor that was sent, and incomplete if the service reports more (C16)', async () => {
    const more = { has_more: true, next_cursor: '2' };
    const { reader } = scripted({ items: [row('a')], ...more }, { items: [row('b')], ...more });
    await reader.poll(context);
    expect(await reader.readRest()).toBe('complete');
    expect(reader.data).toMatchObject({ complete: false, notes: [expect.stringContaining('no way to read them')] });
  });

  it('is a cursor that was followed before', async () => {
    let asked = 0;
    const { reader } = readerOf(() => {
      asked += 1;
      return { items: [row(`r${asked}`)], has_more: true, next_cursor: `c${asked % 3}`, dropped: 0 };
    });
    await reader.poll(context);
    expect(await reader.readRest()).toBe('complete');
    expect(asked).toBe(4);
  });

  it('is not waited for if new cursors bring the same rows forever', async () => {
    let asked = 0;
    const { reader } = readerOf(() => {
      asked += 1;
      return { items: [row('a'), row('b')], has_more: true, next_cursor: `c${asked}`, dropped: 0 };
    });
    await reader.poll(context);
    expect(await reader.readRest()).toBe('failed');
    expect(reader.state().error?.message).toBe('The last 5 pages had no new rows.');
    expect(asked).toBeLessThan(10);
  });
});

describe('reading the rest', () => {
  it('reports progress, and stops on request, with what was read', async () => {
    const server = new ListServer(10, 'place');
    server.insertMany(300);
    const { reader, published } = readerOf(query => {
      if (server.asked === 5) reader.stop();
      return server.answer(query);
    });
    await reader.poll(context);
    const seen: (number | undefined)[] = [];
    reader.subscribe(() => seen.push(reader.state().reading));
    const both = await Promise.all([reader.readRest(), reader.readRest()]);
    expect(both).toEqual(['stopped', 'stopped']);
    expect(seen.find(rows => rows !== undefined)).toBe(10);
    expect(seen.at(-1)).toBeUndefined();
    // The page that was on its way still comes in.
    await eventually(() => expect(reader.data.rows.length).toBe(60));
    await eventually(() => expect(published.mock.lastCall?.[0].rows.length).toBe(60));
    expect(reader.data.complete).toBe(false);
    const last = reader.readRest();
    expect(reader.state().stoppable).toBe(true);
    expect(await last).toBe('complete');
    expect(reader.state().stoppable).toBe(false);
    expect(names(reader.data)).toBe(range(300, 1));
  });
});

describe('the rest, read for the view and for a file', () => {
  it('continues for one while the other is stopped', async () => {
    const server = new ListServer(10, 'place');
    server.insertMany(300);
    const file = new AbortController();
    const { reader } = readerOf(query => {
      if (server.asked === 5) reader.stop();
      if (server.asked === 9) expect(reader.state()).toMatchObject({ reading: expect.any(Number), stoppable: false });
      return server.answer(query);
    });
    await reader.poll(context);
    const counts: number[] = [];
    const background = { signal: file.signal, onProgress: (rows: number) => counts.push(rows) };
    const both = await Promise.all([reader.readRest(), reader.readRest(0, background)]);
    expect(both).toEqual(['stopped', 'complete']);
    expect(counts[0]).toBe(10);
    expect(names(reader.data)).toBe(range(300, 1));
    expect(reader.state().reading).toBeUndefined();
  });

  it('stops once both are stopped, and starts again on request', async () => {
    const server = new ListServer(10, 'place');
    server.insertMany(300);
    const file = new AbortController();
    const { reader } = readerOf(query => {
      if (server.asked === 5) file.abort();
      return server.answer(query);
    });
    await reader.poll(context);
    const first = reader.readRest(0, { signal: file.signal, onProgress: () => {} });
    expect(await first).toBe('stopped');
    expect(await reader.readRest()).toBe('complete');
    expect(server.asked).toBeLessThan(36);
    expect(names(reader.data)).toBe(range(300, 1));
  });
});

describe('the age of rows', () => {
  it('is that of their page, anywhere in the list', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 });
    const { reader } = listOf(30);
    await reader.poll(context);
    await reader.readRest();
    vi.setSystemTime(60_000);
    await reader.poll(context);
    const { rows } = reader.data;
    expect(reader.oldest(rows.slice(0, 5))).toEqual({ readAt: 60_000, from: 1, to: 10 });
    expect(reader.oldest(rows.slice(8, 12))).toEqual({ readAt: 1_000, from: 11, to: 20 });
    expect(reader.oldest([])).toBeUndefined();
    reader.see(reader, rows.slice(12, 14));
    await reader.refreshView(50_000);
    expect(reader.oldest(rows.slice(8, 12))?.readAt).toBe(60_000);
    vi.useRealTimers();
  });

  it('is kept low for rows in a file, by reading older pages again', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 });
    const { server, reader } = listOf(30);
    await reader.poll(context);
    await reader.readRest();
    vi.setSystemTime(60_000);
    server.places.set('r3', { place: 3, value: 1 });
    server.asked = 0;
    expect(await reader.readRest()).toBe('complete');
    expect(server.asked).toBe(0);
    expect(await reader.readRest(30_000)).toBe('complete');
    expect(server.asked).toBe(3);
    expect(reader.data.rows.find(({ id }) => id === 'r3')).toEqual(row('r3', 1));
    vi.useRealTimers();
  });
});

describe('duplicate and unreadable rows', () => {
  it('are counted, and the first of two is shown', async () => {
    const { reader } = scripted({ items: [row('a', 1), row('a', 2), row('b')], dropped: 2 });
    await reader.poll(context);
    expect(reader.data).toMatchObject({ dropped: 2, repeated: 1 });
    expect(reader.data.rows).toEqual([row('a', 1), row('b')]);
  });

  it('may have any id', async () => {
    const { reader } = scripted({ items: [row('__proto__', 1), row('constructor', 2), row('', 3)] });
    await reader.poll(context);
    expect(reader.data.rows.map(({ value }) => value)).toEqual([1, 2, 3]);
    reader.remove(['__proto__']);
    expect(reader.data.rows.map(({ value }) => value)).toEqual([2, 3]);
  });
});
