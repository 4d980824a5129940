/** The lists of a connection: their row counts, whatever shows them. */

import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { afterEach, describe, expect, it } from 'vitest';
import type { ListSource } from '../../../src/queries/lists/list.ts';
import { useList } from '../../../src/queries/use-list.ts';
import { useListCount } from '../../../src/queries/use-workbench.ts';
import { Workbench, WorkbenchProvider } from '../../../src/queries/workbench.tsx';
import { kinds } from '../../../src/resources/catalogue.ts';
import { eventually } from '../../eventually.ts';
import { fakeService } from '../../service/fake-service.ts';
import { ListServer, type Row } from './list-server.ts';

const key = ['rows', 'list'];

function world(count: number) {
  const server = new ListServer(10, 'place');
  server.insertMany(count);
  const workbench = new Workbench({ kinds, service: async () => fakeService(), profile: 'test' });
  const source: ListSource<Row> = { key, id: ({ id }) => id, readPage: async ({ query }) => server.answer(query) };
  return { server, workbench, source };
}

function Count() {
  return <Text>{`count ${useListCount(key) ?? 'none'}`}</Text>;
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

describe('the count of a list', () => {
  it('has a + while more rows are on the service', async () => {
    const { workbench, source } = world(25);
    const { frame } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 10+'));
    await workbench.lists.of(source).readRest();
    await eventually(() => expect(frame()).toMatch(/count 25\n/));
  });

  it('does not turn blank when the rows are forgotten', async () => {
    const { workbench, source } = world(25);
    const { frame, leave } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 10+'));
    leave();
    workbench.cache.removeQueries({ queryKey: key });
    await eventually(() => expect(frame()).toBe('count 10+'));
  });

  it('is right at once after the program has deleted a row, and after it has made one while another view is shown', async () => {
    const { server, workbench, source } = world(5);
    const { frame, leave } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 5'));
    server.places.delete('r3');
    workbench.lists.remove(['rows'], ['r3']);
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

  it('of another list is left alone', async () => {
    const { workbench, source } = world(5);
    const { frame } = show({ workbench, source });
    await eventually(() => expect(frame()).toContain('count 5'));
    workbench.lists.remove(['others'], ['r3']);
    expect(workbench.lists.countOf(key)).toEqual({ rows: 5, complete: true, readAt: expect.any(Number) });
    expect(workbench.lists.countOf(['others'])).toBeUndefined();
  });
});
