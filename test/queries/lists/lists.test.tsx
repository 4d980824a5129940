/** The lists of a connection: their readers, and their row counts in any view. */

import { hashKey } from '@tanstack/react-query';
import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ListSource } from '../../../src/queries/lists/list-source.ts';
import type { FieldOrder } from '../../../src/queries/lists/server-sort.ts';
import type { QueryContext } from '../../../src/queries/query-context.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import {
  countText,
  type PagedList,
  useList,
  useListCount,
  useOrderedSource,
  usePagedList,
} from '../../../src/ui/data/use-list.ts';
import { useLive } from '../../../src/ui/data/use-live.ts';
import { WorkbenchProvider } from '../../../src/ui/data/workbench.tsx';
import { eventually } from '../../eventually.ts';
import { fakeService } from '../../service/fake-service.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';
import { ListServer, type Row } from './list-server.ts';

const key = ['rows', 'list'];

function world(count: number, memory = RememberedStore.inMemory('test')) {
  const server = new ListServer(10, 'place');
  server.insertMany(count);
  const remembered = () => memory;
  const workbench = newWorkbench({ service: async () => fakeService(), remembered });
  const readPage: ListSource<Row>['readPage'] = async ({ query }) => server.answer(query);
  const source: ListSource<Row> = { key, id: ({ id }) => id, readPage };
  return { server, workbench, source };
}

/** The saved list of an earlier start, read at `readAt` in epoch milliseconds. */
function memoryOf(rows: readonly Row[], readAt: number): RememberedStore {
  const memory = RememberedStore.inMemory('test');
  const facts = { complete: false, dropped: 0, repeated: 0, notes: [], remembered_at: undefined, version: 7 };
  memory.keepList(hashKey(key), { ...facts, rows }, readAt);
  memory.flush();
  return memory;
}

function Count() {
  return <Text>{`count ${useListCount(key, 5) ?? 'none'}`}</Text>;
}

function Rows({ source }: { source: ListSource<Row> }) {
  return (
    <Text>
      {useList(source, 'focused')
        .rows.map(({ id }) => id)
        .join(' ')}
    </Text>
  );
}

let close: (() => void) | undefined;
afterEach(() => {
  close?.();
  close = undefined;
});

function show({ workbench, source }: Pick<ReturnType<typeof world>, 'workbench' | 'source'>) {
  const tree = (withRows: boolean) => (
    <WorkbenchProvider workbench={workbench}>
      <Count />
      {withRows ? <Rows source={source} /> : null}
    </WorkbenchProvider>
  );
  const { lastFrame, rerender, unmount } = render(tree(true));
  close = () => {
    unmount();
    workbench.close();
  };
  return { frame: () => lastFrame() ?? '', leave: () => rerender(tree(false)) };
}

describe('the reader of a list', () => {
  it('starts with what an earlier start read, and changes nothing that others see', () => {
    const readAt = Date.now();
    const rows = [
      { id: 'r1', value: 1 },
      { id: 'r3', value: 3 },
    ];
    const { workbench, source } = world(0, memoryOf(rows, readAt));
    close = () => workbench.close();
    const events: string[] = [];
    workbench.lists.subscribe(() => events.push('count'));
    workbench.cache.getQueryCache().subscribe(({ type }) => events.push(type));
    const { data } = workbench.lists.of(source);
    expect(data.rows).toEqual(rows);
    expect(workbench.cache.getQueryData(key)).toBe(data);
    expect(workbench.cache.getQueryState(key)?.dataUpdatedAt).toBe(readAt);
    expect(workbench.lists.countOf(key)).toEqual({ rows: 2, complete: false, readAt });
    expect(events).toEqual(['added']);
  });

  it('polls at once even if an earlier start has just read the list', async () => {
    const { workbench, source } = world(2, memoryOf([], Date.now() - 100));
    const { frame } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('r2 r1'));
  });
});

describe('a list on screen', () => {
  const byValue: FieldOrder = { field: 'value', descending: false };

  /** Shows a list in an order, if one is wanted; the queries that were sent. */
  function paged(count: number, wanted?: FieldOrder) {
    const { server, workbench, source: plain } = world(count);
    const asked: (string | undefined)[] = [];
    const source: ListSource<Row> = {
      ...plain,
      sorts: true,
      readPage: context => {
        asked.push(context.query.sort ?? undefined);
        return plain.readPage(context);
      },
    };
    const lists: PagedList<Row>[] = [];
    function List({ of, order }: { of: ListSource<Row>; order: FieldOrder | undefined }) {
      const ordered = useOrderedSource(of, order);
      lists.push(usePagedList(ordered, useLive(ordered.query, 'focused').data));
      return null;
    }
    const tree = (of: ListSource<Row>, order = wanted) => (
      <WorkbenchProvider workbench={workbench}>
        <List of={of} order={order} />
      </WorkbenchProvider>
    );
    const { rerender, unmount } = render(tree(source));
    close = () => {
      unmount();
      workbench.close();
    };
    const last = () => lists.at(-1) as PagedList<Row>;
    const sorted = () => [...new Set(lists.map(({ sortedAs }) => sortedAs))];
    return {
      server,
      workbench,
      source,
      asked,
      last,
      sorted,
      unmount,
      show: (of: ListSource<Row>, order?: FieldOrder) => rerender(tree(of, order)),
    };
  }

  it('is sorted locally if it is short, and by the service if it is long', async () => {
    const short = paged(5, byValue);
    await eventually(() => expect(short.last().rows).toHaveLength(5));
    expect([short.asked, short.sorted()]).toEqual([[undefined], ['all']]);
    close?.();
    const long = paged(25, byValue);
    await eventually(() => expect(long.last().sortedAs).toBe('service'));
    expect(long.asked.slice(0, 2)).toEqual([undefined, 'value']);
    expect(long.sorted()).toContain('pending');
  });

  it('is sorted locally once it has been read to its end in any order', async () => {
    const { source, asked, last, show } = paged(25, byValue);
    await eventually(() => expect(last().sortedAs).toBe('service'));
    await last().readRest();
    await eventually(() => expect(last().sortedAs).toBe('all'));
    const requests = asked.length;
    show(source, { field: 'id', descending: true });
    expect([last().sortedAs, last().rows.length]).toEqual(['all', 25]);
    last().see(last().rows.slice(-3), true);
    await last().readOn();
    expect(asked).toHaveLength(requests);
  });

  it('returns the rows of the list that is shown now', async () => {
    const { workbench, source, last, show } = paged(5);
    await eventually(() => expect(last().rows).toHaveLength(5));
    const other = { ...source, key: ['others'] };
    show(other);
    await eventually(() => expect(last().rows).toHaveLength(5));
    expect(last().latest()).toBe(workbench.lists.of(other).data);
  });

  it('reads what is in view once scrolling stops, and no more once it is closed', async () => {
    const { server, workbench, source, last, unmount } = paged(45);
    const reader = workbench.lists.of(source);
    await eventually(() => expect(last().loaded).toBe(true));
    await reader.readRest();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const refresh = vi.spyOn(reader, 'refreshView');
    for (const from of [10, 30, 22]) last().see(reader.data.rows.slice(from, from + 3), false);
    vi.advanceTimersByTime(1_000);
    expect(refresh).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
    const polled = async (): Promise<number> => {
      const { asked } = server;
      await reader.poll({ signal: new AbortController().signal } as QueryContext);
      return server.asked - asked;
    };
    expect(await polled()).toBe(4);
    unmount();
    expect(await polled()).toBe(1);
  });
});

describe('the count of a list', () => {
  it('has a + while the service has more rows', async () => {
    const { workbench, source } = world(25);
    const { frame } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 10+'));
    const reader = workbench.lists.of(source);
    await reader.readRest();
    await eventually(() => expect(frame()).toMatch(/count 25\n/));
    // An export needs the current state of all rows.
    const seen: unknown[] = [];
    const background = {
      signal: AbortSignal.timeout(10_000),
      onProgress: () => seen.push(workbench.lists.countOf(key)),
    };
    expect(await reader.readRest(Date.now() + 1, background)).toBe('complete');
    expect(seen[0]).toMatchObject({ rows: 25, complete: true });
  });

  it('is that of what was read for a file, whether a view has shown the list or not', async () => {
    const { workbench, source } = world(25);
    onTestFinished(() => workbench.close());
    const counted = vi.fn();
    workbench.lists.subscribe(counted);
    await workbench.lists.of(source).readRest();
    expect(workbench.lists.countOf(key)).toMatchObject({ rows: 25, complete: true });
    expect(counted).toHaveBeenCalled();
  });

  it('stays when the rows are forgotten', async () => {
    const { workbench, source } = world(25);
    const { frame, leave } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 10+'));
    leave();
    workbench.cache.removeQueries({ queryKey: key });
    await eventually(() => expect(frame()).toBe('count 10+'));
  });

  it('is right at once after the program deletes a row, or makes one while another view is shown', async () => {
    const { server, workbench, source } = world(5);
    const { frame, leave } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 5'));
    server.places.delete('r3');
    workbench.lists.remove(['rows'], ['r3']);
    expect(workbench.lists.countOf(key)).toMatchObject({ rows: 4 });
    await eventually(() => expect(frame()).toContain('count 4'));
    expect(frame()).not.toContain('r3');
    leave();
    server.insert();
    const asked = server.asked;
    await workbench.cache.invalidateQueries({ queryKey: ['rows'] });
    await eventually(() => expect(frame()).toBe('count 5'));
    expect(server.asked).toBe(asked + 1);
  });

  it('takes few requests while nothing shows the list, however many rows came', async () => {
    const { server, workbench, source } = world(25);
    const { frame, leave } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 10+'));
    await workbench.lists.of(source).readRest();
    await eventually(() => expect(frame()).toMatch(/count 25\n/));
    leave();
    server.insertMany(80);
    const asked = server.asked;
    await workbench.cache.invalidateQueries({ queryKey: ['rows'] });
    await eventually(() => expect(frame()).toBe('count 30+'));
    expect(server.asked).toBe(asked + 3);
  });

  it('of another list is unaffected', async () => {
    const { workbench, source } = world(5);
    const { frame } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 5'));
    workbench.lists.remove(['others'], ['r3']);
    expect(workbench.lists.countOf(key)).toEqual({ rows: 5, complete: true, readAt: expect.any(Number) });
    expect(workbench.lists.countOf(['others'])).toBeUndefined();
  });
});

describe('the number of rows', () => {
  it.each([
    [200, false, '200+'],
    [9_999, false, '9k+'],
    [18_600, false, '18k+'],
    [99_900, false, '99k+'],
    [250_000, false, '99k+'],
    [1_900_000, false, '1M+'],
    [9_999, true, '9999'],
    [18_600, true, '19k'],
  ])(
    '%i, with the end reached: %s, is %s: never less than what was read, if there may be more',
    (rows, complete, text) => {
      expect(countText({ rows, complete }, 4)).toBe(text);
    },
  );
});
