/** The inbox: what ended, failed or stalled, until it is dismissed, on this and later starts. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Observation } from '../../src/queries/statuses/store.ts';
import { kinds } from '../../src/resources/catalogue.ts';
import { eventWords, summaryOf } from '../../src/resources/inbox.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { Workbench } from '../../src/workbench/workbench.ts';
import { fakeService } from '../service/fake-service.ts';
import { storeFolder } from './store-folder.ts';

const hourMs = 60 * 60_000;
const run = (id: string, more: Partial<Observation> = {}): Observation => ({
  kind: 'training',
  id,
  label: `run ${id}`,
  status: 'running',
  startedAt: new Date(Date.now() - 5 * hourMs).toISOString(),
  ...more,
});
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** A start of the program on the same store; `answer` is what a query answers. */
function start(path: string) {
  const workbench = new Workbench({
    kinds,
    service: async () => fakeService(),
    profile: 'test',
    remembered: () => RememberedStore.open(path, 'test'),
  });
  const answer = (...said: readonly Observation[]): void => {
    const key = ['answer', said.map(({ id }) => id).join(' ')];
    const query = workbench.cache.getQueryCache().build(workbench.cache, {
      queryKey: key,
      meta: { observes: (row: Observation) => row, rows: (data: { rows: readonly Observation[] }) => data.rows },
    });
    query.setData({ rows: said });
  };
  return { workbench, answer, said: () => workbench.inbox.list().map(event => `${event.id} ${eventWords(event)}`) };
}

async function end({ workbench }: ReturnType<typeof start>): Promise<void> {
  workbench.close();
  await workbench.closed;
}

describe('what ended while the program was closed', () => {
  it('is found with its time, reason and numbers, and kept until it is dismissed (W15, W16)', async () => {
    const path = storeFolder(onTestFinished);
    const first = start(path);
    first.answer(run('a'), run('b'), run('old', { status: 'failed', endTime: ago(3 * hourMs) }));
    expect(first.said()).toEqual([]);
    await end(first);

    const endTime = new Date().toISOString();
    const second = start(path);
    second.answer(run('a', { status: 'failed', endTime, reason: 'out of memory', done: 40, total: 400 }), run('b'));
    // It began and ended in between; the old one had ended before.
    const others = { status: 'succeeded', endTime } as const;
    second.answer(run('c', others), run('old', { status: 'failed', endTime: ago(3 * hourMs) }));
    expect(second.said().sort()).toEqual([
      'a failed, after 5h, out of memory; 40 of 400 steps',
      'c succeeded, after 5h',
    ]);
    expect(second.workbench.inbox.missed()).toHaveLength(2);
    expect(summaryOf(second.workbench.inbox.missed(), Date.now())).toMatch(/^1 failed, 1 ended since \d\d:\d\d:\d\d$/);
    expect(second.workbench.statuses.get({ kind: 'training', id: 'c' })?.endedAt).toBeDefined();
    await end(second);

    const third = start(path);
    expect(third.said()).toHaveLength(2);
    const known = third.workbench.statuses.get({ kind: 'training', id: 'a' });
    expect(known).toMatchObject({ status: 'failed', reason: 'out of memory', endTime, done: 40 });
    expect(known?.endedAt).toBeDefined();
    third.workbench.dismiss({ kind: 'training', id: 'a' });
    expect(third.said()).toEqual(['c succeeded, after 5h']);
    await end(third);

    const fourth = start(path);
    fourth.answer(run('a', { status: 'failed', endTime, reason: 'out of memory', done: 40, total: 400 }));
    expect(fourth.said()).toEqual(['c succeeded, after 5h']);
    await end(fourth);
  });

  it('is nothing at the first start, whatever the service has', async () => {
    const first = start(storeFolder(onTestFinished));
    first.answer(run('a', { status: 'failed', endTime: ago(1) }));
    expect(first.said()).toEqual([]);
    await end(first);
  });
});

it('says when an end was only seen, until an answer has its time', async () => {
  const opened = start(storeFolder(onTestFinished));
  opened.answer(run('a'));
  opened.answer(run('a', { status: 'succeeded', mean: 0.5 }));
  const [seen] = opened.workbench.inbox.list();
  expect(seen).toMatchObject({ isExact: false, what: 'end' });
  const endTime = ago(60_000);
  opened.answer(run('a', { status: 'succeeded', endTime, done: 400, total: 400 }), run('b'));
  expect(opened.workbench.inbox.list()).toMatchObject([
    { isExact: true, at: Date.parse(endTime), detail: { done: 400 } },
  ]);
  // It was seen live.
  expect(opened.workbench.inbox.missed()).toEqual([]);
  await end(opened);
});

it('raises each thing once, however often it is seen, and again only once it was over', async () => {
  const opened = start(storeFolder(onTestFinished));
  opened.answer(run('a'));
  const { inbox, statuses } = opened.workbench;
  const known = statuses.get({ kind: 'training', id: 'a' });
  if (!known) throw new Error('it was not reported');
  inbox.raise('stall', known, 1_000);
  inbox.raise('stall', known, 2_000);
  expect(inbox.list()).toMatchObject([{ what: 'stall', at: 1_000 }]);
  expect(opened.said()).toEqual(['a stalled']);
  inbox.dismiss(inbox.list());
  inbox.raise('stall', known, 3_000);
  expect(inbox.list()).toEqual([]);
  inbox.clear('stall', known);
  inbox.raise('stall', known, 4_000);
  expect(inbox.list()).toMatchObject([{ at: 4_000 }]);
  await end(opened);
});
