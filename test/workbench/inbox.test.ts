/** The inbox: work that ended, failed or stalled, until it is dismissed, on this and later starts. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { certaintyOf } from '../../src/queries/run-mean.ts';
import type { Observation } from '../../src/queries/statuses/known-resource.ts';
import { StatusStore } from '../../src/queries/statuses/store.ts';
import { kinds } from '../../src/resources/catalogue.ts';
import { describeEvent, summaryOf } from '../../src/resources/inbox.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { Inbox } from '../../src/workbench/inbox.ts';
import { eventually } from '../eventually.ts';
import { fakeService } from '../service/fake-service.ts';
import { newWorkbench } from './new-workbench.ts';
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

/** A start of the program on the same store; `answer` is the answer to a query. */
function start(path: string) {
  const workbench = newWorkbench({
    service: async () => fakeService(),
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
  return { workbench, answer, said: () => workbench.inbox.list().map(event => `${event.id} ${describeEvent(event)}`) };
}

async function end({ workbench }: ReturnType<typeof start>): Promise<void> {
  workbench.close();
  await workbench.closed;
}

it('shows how many rollouts the mean covers, once its rewards are read', () => {
  const now = start(storeFolder(onTestFinished));
  const evaluation = (more: Partial<Observation>) => now.answer({ ...run('a', more), kind: 'run' });
  evaluation({});
  evaluation({ status: 'completed', mean: 0.5, done: 40, total: 40 });
  expect(now.said()).toEqual(['a completed, mean 0.500 n=?; 40 of 40']);
  const rewards = Array.from({ length: 22 }, (_, index) => ({ task_id: `t${index}`, reward: index % 2 }));
  evaluation({ status: 'completed', certainty: certaintyOf(rewards, { status: 'completed', total: 40 }) });
  expect(now.said()).toEqual(['a completed, mean 0.500 n=22/40; 40 of 40']);
});

it('drops the reason of an end once the service reports a different end (out29 A3)', () => {
  const now = start(storeFolder(onTestFinished));
  now.answer(run('a'));
  now.answer(run('a', { status: 'failed', reason: 'out of memory' }));
  expect(now.said()).toEqual([expect.stringContaining('failed, out of memory')]);
  now.answer(run('a', { status: 'succeeded' }));
  expect(now.said()).toEqual(['a succeeded']);
});

it('has a later failure of a restarted run, even if the first was dismissed', async () => {
  const path = storeFolder(onTestFinished);
  const first = start(path);
  first.answer(run('a'));
  first.answer(run('a', { status: 'failed', reason: 'out of memory', endTime: ago(2 * hourMs) }));
  first.workbench.records.dismiss({ kind: 'training', id: 'a' });
  await end(first);
  const second = start(path);
  const failed = run('a', { status: 'failed', reason: 'disk full', endTime: ago(hourMs) });
  second.answer(run('a'));
  second.answer(failed);
  expect(second.said()).toEqual([expect.stringContaining('disk full')]);
  // The same end is dismissed for good.
  second.workbench.records.dismiss({ kind: 'training', id: 'a' });
  second.answer(failed);
  expect(second.said()).toEqual([]);
  await end(second);
});

it.each([[true], [false]])(
  'has a second failure of a run that was restarted while the program was closed (dismissed: %s)',
  async isDismissed => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const path = storeFolder(onTestFinished);
    const first = start(path);
    const failed = run('a', { status: 'failed', reason: 'out of memory', endTime: ago(2_000) });
    first.answer(run('a'));
    first.answer(failed);
    if (isDismissed) first.workbench.records.dismiss({ kind: 'training', id: 'a' });
    await end(first);

    vi.setSystemTime(Date.now() + hourMs);
    const second = start(path);
    // A corrected time is not news.
    second.answer({ ...failed, endTime: ago(hourMs + 1_000) });
    expect(second.workbench.inbox.missed()).toEqual([]);
    const again = { ...failed, reason: 'disk full', endTime: ago(60_000) };
    second.answer(again);
    expect(second.said()).toEqual([expect.stringContaining('disk full')]);
    expect(second.workbench.inbox.missed()).toMatchObject([{ id: 'a', isExact: true }]);
    second.workbench.records.dismiss({ kind: 'training', id: 'a' });
    second.answer(again);
    // Nor is a time that moves with each response.
    vi.setSystemTime(Date.now() + hourMs);
    second.answer({ ...again, endTime: ago(0) });
    expect(second.said()).toEqual([]);
    await end(second);
  },
);

it.each(['DEPLOYED', 'DEPLOYING'])(
  'has a second failure of a deployment without end times, after a dismissed one and %s (attack30 A3)',
  async between => {
    const path = storeFolder(onTestFinished);
    const deployment = (status: string, reason?: string): Observation => ({
      ...{ kind: 'deployment', id: 'd', label: 'd', status, reason },
    });
    /** Nothing is read at the time at which another was noticed. */
    const later = async () => {
      const now = Date.now();
      await eventually(() => expect(Date.now()).toBeGreaterThan(now));
    };
    const first = start(path);
    const [dismissed, other] = [first.workbench.records, start(path)];
    first.answer(deployment('DEPLOYING'));
    other.answer(deployment('DEPLOYING'));
    await later();
    first.answer(deployment('FAILED', 'one'));
    dismissed.dismiss({ kind: 'deployment', id: 'd' });
    // The other process notices the same failure later.
    await later();
    other.workbench.inbox.readAgain();
    other.answer(deployment('FAILED', 'one'));
    expect([first.said(), other.said()]).toEqual([[], []]);
    first.answer(deployment(between));
    first.answer(deployment('FAILED', 'two'));
    expect(first.said()).toEqual(['d failed, two']);
    dismissed.dismiss({ kind: 'deployment', id: 'd' });
    await later();
    first.answer(deployment(between));
    await end(other);
    await end(first);

    const second = start(path);
    second.answer(deployment('FAILED', 'three'));
    expect(second.said()).toEqual(['d failed, three']);
    await end(second);
  },
);

it('raises no stall for a run whose end another process has recorded', () => {
  const path = storeFolder(onTestFinished);
  const [one, other] = [start(path), start(path)];
  for (const each of [one, other]) each.answer(run('a'));
  other.answer(run('a', { status: 'succeeded' }));
  const known = one.workbench.statuses.get({ kind: 'training', id: 'a' });
  const stall = { alarm: 'no new step for more than 5m', since: Date.now() - hourMs };
  expect(known && one.workbench.inbox.raise('stall', known, Date.now(), stall)).toBeUndefined();
  one.workbench.inbox.readAgain();
  expect(one.said()).toEqual([expect.stringMatching(/^a succeeded/)]);
});

describe('what ended while the program was closed', () => {
  it('is found with time, reason and numbers, and kept until dismissed (W15, W16)', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const path = storeFolder(onTestFinished);
    const first = start(path);
    first.answer(run('a'), run('b'), run('old', { status: 'failed', endTime: ago(3 * hourMs) }));
    expect(first.said()).toEqual([]);
    await end(first);

    vi.setSystemTime(Date.now() + 1_000);
    const endTime = new Date().toISOString();
    const second = start(path);
    const failed = { status: 'failed', endTime, reason: 'out of memory', done: 40, total: 400, failed: 3 };
    second.answer(run('a', failed), run('b'));
    // It began and ended in between; the old one had ended before.
    const others = { status: 'succeeded', endTime } as const;
    second.answer(run('c', others), run('old', { status: 'failed', endTime: ago(3 * hourMs) }));
    const unset = { startedAt: new Date().toISOString(), endTime: '1970-01-01T00:00:00Z' };
    second.answer(run('d', { status: 'failed', ...unset }), run('e', { status: 'failed', endTime: unset.endTime }));
    expect(second.said()).toContainEqual(expect.stringMatching(/^d failed/));
    second.workbench.records.dismiss({ kind: 'training', id: 'd' });
    expect(second.said().sort()).toEqual([
      'a failed, after 5h, out of memory; 40 of 400 steps',
      'c succeeded, after 5h',
    ]);
    expect(second.workbench.inbox.missed()).toHaveLength(2);
    expect(summaryOf(second.workbench.inbox)).toMatch(/^1 failed, 1 ended since \d\d:\d\d:\d\d$/);
    expect(second.workbench.statuses.get({ kind: 'training', id: 'c' })?.endedAt).toBeDefined();
    await end(second);

    const third = start(path);
    expect(third.said()).toHaveLength(2);
    const known = third.workbench.statuses.get({ kind: 'training', id: 'a' });
    expect(known).toMatchObject({ status: 'failed', reason: 'out of memory', endTime, done: 40, failed: 3 });
    expect(known?.endedAt).toBeDefined();
    third.workbench.records.dismiss({ kind: 'training', id: 'a' });
    expect(third.said()).toEqual(['c succeeded, after 5h']);
    await end(third);

    const fourth = start(path);
    fourth.answer(run('a', { status: 'failed', endTime, reason: 'out of memory', done: 40, total: 400 }));
    expect(fourth.said()).toEqual(['c succeeded, after 5h']);
    await end(fourth);
  });

  it('is empty at the first start, whatever the service has', async () => {
    const first = start(storeFolder(onTestFinished));
    first.answer(run('a', { status: 'failed', endTime: ago(60_000) }));
    expect(first.said()).toEqual([]);
    await end(first);
  });

  it('includes, at the first start, what commands on this machine started and saw end (out26 B1)', async () => {
    const path = storeFolder(onTestFinished);
    const commands = RememberedStore.open(path, 'test');
    const ended = (id: string) => run(id, { status: 'succeeded', endTime: ago(60_000), record: {} });
    commands.see([{ ...run('a', { status: 'pending' }), isStart: true }]);
    commands.see([ended('a'), ended('other')]);
    commands.close();
    const first = start(path);
    first.answer(ended('a'), ended('other'));
    expect(first.said()).toEqual([expect.stringMatching(/^a succeeded/)]);
    first.workbench.records.dismiss({ kind: 'training', id: 'a' });
    await end(first);
    const second = start(path);
    second.answer(ended('a'), ended('other'));
    expect(second.said()).toEqual([]);
    await end(second);
  });

  it('includes what commands started and saw end, even after a session that read no runs (out27 A2)', async () => {
    const path = storeFolder(onTestFinished);
    const commands = RememberedStore.open(path, 'test');
    onTestFinished(() => commands.close());
    const ended = run('a', { status: 'succeeded', endTime: ago(60_000), record: {} });
    commands.see([{ ...run('a', { status: 'pending' }), isStart: true }]);
    commands.see([ended]);
    commands.flush();
    const first = start(path);
    expect(first.workbench.statuses.all()).toMatchObject([{ id: 'a', status: undefined, isNew: true }]);
    first.answer({ kind: 'benchmark', id: 'b', label: 'b' });
    await end(first);

    const statuses = new StatusStore(kinds);
    const inbox = new Inbox(() => commands, statuses);
    statuses.report([ended], { askedAt: Date.now(), at: Date.now() });
    inbox.observed([ended], Date.now());
    expect(inbox.list()).toMatchObject([{ id: 'a', what: 'end' }]);

    // A recorded end is not news again, dismissed or not.
    inbox.dismiss(inbox.list());
    const second = start(path);
    expect(second.workbench.statuses.all()).toEqual([]);
    await end(second);
  });
});

it('says if an end was only seen, until an answer has its time', async () => {
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

it('raises each event once, however often it is seen, and again only after it was over', async () => {
  const opened = start(storeFolder(onTestFinished));
  opened.answer(run('a'));
  const { inbox, statuses } = opened.workbench;
  const known = statuses.get({ kind: 'training', id: 'a' });
  if (!known) throw new Error('it was not reported');
  inbox.raise('stall', known, 1_000);
  inbox.raise('stall', known, 2_000);
  expect(inbox.list()).toMatchObject([{ what: 'stall', at: 1_000 }]);
  expect(opened.said()).toEqual(['a stalled']);
  const find = vi.spyOn(opened.workbench.remembered.events, 'find');
  inbox.raise('stall', known, 2_500);
  expect(find).not.toHaveBeenCalled();
  inbox.dismiss(inbox.list());
  inbox.raise('stall', known, 3_000);
  expect(inbox.list()).toEqual([]);
  inbox.clear('stall', known);
  inbox.raise('stall', known, 4_000);
  expect(inbox.list()).toMatchObject([{ at: 4_000 }]);
  await end(opened);
});

it('neither reads nor redraws anything for a past stall or alarm, if there was none', async () => {
  const opened = start(storeFolder(onTestFinished));
  opened.answer(run('a'));
  const { inbox } = opened.workbench;
  const before = inbox.list();
  let changes = 0;
  onTestFinished(inbox.subscribe(() => (changes += 1)));
  inbox.clear('stall', run('a'));
  expect(changes).toBe(0);
  expect(inbox.list()).toBe(before);
  await end(opened);
});

it('writes nothing for an unchanged answer, however long its reason', async () => {
  const opened = start(storeFolder(onTestFinished));
  opened.answer(run('a'));
  const last = run('a', { status: 'failed', endTime: ago(60_000), reason: 'x'.repeat(5_000), done: 1 });
  opened.answer(last);
  const { inbox } = opened.workbench;
  expect(inbox.list()[0]?.detail.reason).toHaveLength(2_000);
  let changes = 0;
  onTestFinished(inbox.subscribe(() => (changes += 1)));
  opened.answer(last);
  expect(changes).toBe(0);
  await end(opened);
});

it('has a second end of a resource, even if the first was dismissed', async () => {
  const opened = start(storeFolder(onTestFinished));
  const { workbench, answer, said } = opened;
  const endTime = ago(60_000);
  const deployment = (status: string): Observation => ({ kind: 'deployment', id: 'd', label: 'd', status, endTime });
  answer(deployment('DEPLOYING'));
  answer(deployment('DEPLOYED'));
  expect(said()).toEqual(['d deployed']);
  workbench.records.dismiss({ kind: 'deployment', id: 'd' });
  answer(deployment('DEPLOYED'));
  expect(said()).toEqual([]);
  answer(deployment('FAILED'));
  answer({ ...deployment('FAILED'), reason: 'evicted' });
  expect(said()).toEqual(['d failed, evicted']);
  // The service still tells the time of the deployment.
  expect(workbench.inbox.list()).toMatchObject([{ isExact: false }]);
  await end(opened);
});

it('drops a stall once the run has ended or moves, even after a restart, so that a second one is shown', async () => {
  const path = storeFolder(onTestFinished);
  const first = start(path);
  first.answer(run('a'), run('b'));
  for (const id of ['a', 'b']) {
    const known = first.workbench.statuses.get({ kind: 'training', id });
    if (known) first.workbench.inbox.raise('stall', known, 1_000);
  }
  first.workbench.inbox.dismiss(first.workbench.inbox.list().filter(({ id }) => id === 'a'));
  expect(first.said()).toEqual(['b stalled']);
  await end(first);

  const second = start(path);
  const { inbox, statuses } = second.workbench;
  second.answer(run('a'), run('b', { status: 'cancelled' }));
  expect(second.said()).toEqual(['b cancelled']);
  const known = statuses.get({ kind: 'training', id: 'a' });
  if (!known) throw new Error('it was not recalled');
  inbox.clear('stall', known);
  inbox.raise('stall', known, 2_000);
  expect(second.said()).toContain('a stalled');
  await end(second);
});

it('does not count slow polls or paused polling as absence', () => {
  const minuteMs = 60_000;
  const statuses = start(storeFolder(onTestFinished)).workbench.statuses;
  const inbox = new Inbox(() => RememberedStore.inMemory('test'), statuses, 5 * minuteMs);
  inbox.attend(1);
  inbox.attend(10 * minuteMs);
  inbox.attend(60 * minuteMs, true);
  inbox.attend(75 * minuteMs);
  expect(inbox.absence).toBeUndefined();
  inbox.attend(75 * minuteMs + 15 * minuteMs + 1);
  expect(inbox.absence).toEqual({ from: 75 * minuteMs, to: 90 * minuteMs + 1 });
});

it('shows an alarm as missed if it began during the absence, up to its end, and otherwise as news', async () => {
  const opened = start(storeFolder(onTestFinished));
  opened.answer(run('a'));
  const { inbox, statuses } = opened.workbench;
  const known = statuses.get({ kind: 'training', id: 'a' });
  const now = Date.now();
  inbox.attend(now);
  inbox.attend(now + hourMs);
  const isNews = (what: string, since: number): boolean =>
    known !== undefined && inbox.raise(what, known, now + hourMs, { since }) !== undefined;
  expect(isNews('stall', now)).toBe(true);
  expect(isNews('held-out drop', now + 1)).toBe(false);
  expect(isNews('held-out range', now + hourMs)).toBe(false);
  expect(isNews('trainer range', now + hourMs + 1)).toBe(true);
  expect(inbox.missed().map(({ what }) => what)).toEqual(['held-out drop', 'held-out range']);
  await end(opened);
});

it('does not raise an alarm again from data older than the end that another process saw', () => {
  const path = storeFolder(onTestFinished);
  const raiseIn = ({ workbench, answer }: ReturnType<typeof start>, step: number) => {
    answer(run('a', { measured: heldOutMeans([{ step, held_out_reward: 0.1 }]) }));
    const known = workbench.statuses.get({ kind: 'training', id: 'a' });
    return known && workbench.inbox.raise('held-out drop', known, Date.now(), { heldAtStep: step }, step);
  };
  const [one, other] = [start(path), start(path)];
  expect(raiseIn(one, 10)).toBeDefined();
  one.workbench.inbox.clear('held-out drop', run('a'), 30);
  expect(raiseIn(other, 20)).toBeUndefined();
  expect(raiseIn(other, 40)).toBeDefined();
});

it('raises an alarm that began in repeated steps, even if it is read past the old one (attack30 B3)', () => {
  const { workbench, answer } = start(storeFolder(onTestFinished));
  const { inbox, statuses } = workbench;
  const raise = (fromStep: number, step: number) => {
    answer(run('a', { measured: heldOutMeans([{ step, held_out_reward: 0.1 }]) }));
    const known = statuses.get({ kind: 'training', id: 'a' });
    return known && inbox.raise('held-out drop', known, Date.now(), { heldAtStep: step }, fromStep);
  };
  expect(raise(70, 80)).toBeDefined();
  inbox.dismiss(inbox.list());
  inbox.restarted(run('a'), 50);
  inbox.clear('held-out drop', run('a'), 50);
  expect(raise(75, 85)).toBeDefined();
  // One that began before the restart continues.
  inbox.dismiss(inbox.list());
  inbox.restarted(run('a'), 78);
  inbox.clear('held-out drop', run('a'), 78);
  expect(raise(75, 90)).toBeUndefined();
});

it('has an alarm of a completed run', async () => {
  const opened = start(storeFolder(onTestFinished));
  opened.answer(run('a'));
  opened.answer(run('a', { status: 'succeeded' }));
  const { inbox, statuses } = opened.workbench;
  const known = statuses.get({ kind: 'training', id: 'a' });
  expect(known && inbox.raise('held-out drop', known, Date.now())).toMatchObject({ what: 'held-out drop' });
  await end(opened);
});

it('has an end that another command of benchtop saw first', async () => {
  const path = storeFolder(onTestFinished);
  const first = start(path);
  first.answer(run('a'));
  await end(first);

  const last = run('a', { status: 'failed', endTime: new Date(Date.now() + 1_000).toISOString(), record: {} });
  const other = RememberedStore.open(path, 'test');
  other.see([last]);
  other.close();
  const second = start(path);
  second.answer(last);
  expect(second.said()).toEqual(['a failed, after 5h']);
  await end(second);
});

it('keeps what shorter answers lack, such as those of a list to a command', async () => {
  const path = storeFolder(onTestFinished);
  const first = start(path);
  first.answer(run('a'));
  const endTime = ago(60_000);
  first.answer(run('a', { status: 'failed', endTime, reason: 'out of memory', done: 40, total: 400 }));
  await end(first);

  const memory = RememberedStore.open(path, 'test');
  const statuses = new StatusStore(kinds);
  const inbox = new Inbox(() => memory, statuses);
  const poor = { kind: 'training', id: 'a', label: 'run a', status: 'failed' };
  statuses.report([poor], { askedAt: Date.now(), at: Date.now() });
  inbox.observed([poor], Date.now());
  expect(inbox.list()).toMatchObject([
    { isExact: true, at: Date.parse(endTime), detail: { reason: 'out of memory', done: 40, total: 400, endTime } },
  ]);
  memory.close();
});

describe('the final held-out reward of a completed run (out32 A1)', () => {
  const meansUpTo = (last: number) =>
    heldOutMeans(
      [5, 10, 15, 20, 25, 30].flatMap(step =>
        step > last ? [] : [{ step, held_out_reward: step / 100, completed_samples: 40, round_completed: true }],
      ),
    );
  const ended = (more: Partial<Observation> = {}) => run('a', { status: 'succeeded', done: 30, total: 30, ...more });
  /** Another process that reads the end and all rounds, such as a command. */
  const readElsewhere = (path: string): void => {
    const memory = RememberedStore.open(path, 'test');
    const statuses = new StatusStore(kinds);
    const inbox = new Inbox(() => memory, statuses);
    statuses.onTransitions(transitions => transitions.map(transition => inbox.ended(transition)));
    for (const seen of [run('a'), ended(), run('a', { status: undefined, measured: meansUpTo(30) })]) {
      const times = { askedAt: Date.now(), at: Date.now() };
      statuses.report([seen], times);
      inbox.observed([seen], times.at);
    }
    memory.close();
  };
  const lastStep = ({ workbench }: ReturnType<typeof start>) =>
    workbench.inbox.list().map(({ detail }) => detail.measured?.last.step);

  it.each([15, 0])('is kept by a session that has read the curve up to step %d', async upTo => {
    const path = storeFolder(onTestFinished);
    const first = start(path);
    first.answer(run('a', { done: 16, total: 30, measured: meansUpTo(upTo) ?? null }));
    first.answer(ended());
    readElsewhere(path);
    first.workbench.inbox.readAgain();
    expect(lastStep(first)).toEqual([30]);
    first.answer(ended({ endTime: ago(0) }));
    expect(lastStep(first)).toEqual([30]);
    await end(first);
  });

  it('is kept if another process completes the end first', async () => {
    const path = storeFolder(onTestFinished);
    const first = start(path);
    first.answer(run('a', { done: 16, total: 30, measured: meansUpTo(15) }));
    first.answer(ended());
    readElsewhere(path);
    first.answer(ended({ endTime: ago(0) }));
    expect(lastStep(first)).toEqual([30]);
    await end(first);
  });

  it('is kept if another process sees the end first', async () => {
    const path = storeFolder(onTestFinished);
    const first = start(path);
    first.answer(run('a', { done: 16, total: 30, measured: meansUpTo(15) }));
    const now = Date.now();
    await eventually(() => expect(Date.now()).toBeGreaterThan(now));
    readElsewhere(path);
    first.answer(ended());
    expect(lastStep(first)).toEqual([30]);
    await end(first);
  });

  it('replaces an older one', async () => {
    const first = start(storeFolder(onTestFinished));
    first.answer(run('a', { done: 16, total: 30, measured: meansUpTo(15) }));
    first.answer(ended());
    expect(lastStep(first)).toEqual([15]);
    first.answer(run('a', { status: undefined, measured: meansUpTo(25) }));
    expect(lastStep(first)).toEqual([25]);
    first.answer(run('a', { status: undefined, measured: meansUpTo(30) }));
    expect(lastStep(first)).toEqual([30]);
    await end(first);
  });
});

it.each([[true], [false]])(
  'has a deployment that failed while the program was closed, after it was deployed (dismissed: %s)',
  async isDismissed => {
    const path = storeFolder(onTestFinished);
    const endTime = ago(60_000);
    const deployment = (status: string): Observation => ({ kind: 'deployment', id: 'd', label: 'd', status, endTime });
    const first = start(path);
    first.answer(deployment('DEPLOYING'));
    first.answer(deployment('DEPLOYED'));
    if (isDismissed) first.workbench.records.dismiss({ kind: 'deployment', id: 'd' });
    await end(first);

    const second = start(path);
    second.answer({ ...deployment('FAILED'), reason: 'evicted' });
    expect(second.said()).toEqual(['d failed, evicted']);
    // The service still tells the time of the deployment.
    expect(second.workbench.inbox.list()).toMatchObject([{ isExact: false }]);
    expect(second.workbench.inbox.list()[0]?.at).toBeGreaterThan(Date.parse(endTime));
    second.workbench.records.dismiss({ kind: 'deployment', id: 'd' });
    await end(second);

    const third = start(path);
    third.answer(deployment('FAILED'));
    expect(third.said()).toEqual([]);
    await end(third);
  },
);

it('separates what is new since the last look from everything not dismissed, which can be restored', async () => {
  const path = storeFolder(onTestFinished);
  const first = start(path);
  first.answer(run('a'), run('b'), run('c'));
  await end(first);
  const left = Date.now();

  const second = start(path);
  const { inbox } = second.workbench;
  second.answer(run('a', { status: 'failed', endTime: new Date(left + 1_000).toISOString() }));
  expect(inbox.newSince).toBe(inbox.absence?.from);
  expect(inbox.newSince).toBeLessThanOrEqual(left);
  // Work that ended on screen is new too.
  second.answer(run('b', { status: 'failed' }));
  expect(summaryOf(inbox)).toMatch(/^2 failed since \d\d:\d\d:\d\d$/);
  inbox.opened();
  expect(summaryOf(inbox)).toMatch(/^nothing new since \d\d:\d\d:\d\d \(2 in all\)$/);
  const events = inbox.list();
  inbox.dismiss(events);
  expect(summaryOf(inbox)).toBe('');
  inbox.restore(events);
  expect(inbox.list()).toEqual(events);
  await end(second);

  const third = start(path);
  await eventually(() => expect(Date.now()).toBeGreaterThan(third.workbench.inbox.newSince ?? 0));
  third.answer(run('c', { status: 'succeeded', endTime: new Date().toISOString() }));
  expect(summaryOf(third.workbench.inbox)).toMatch(/^1 ended since \d\d:\d\d:\d\d \(3 in all\)$/);
  expect(third.workbench.inbox.list().filter(event => third.workbench.inbox.isNew(event))).toMatchObject([{ id: 'c' }]);
  await end(third);
});

it('takes a last look in the future, by a clock that was set back since, for the present (attack37 C9)', async () => {
  const path = storeFolder(onTestFinished);
  const first = start(path);
  first.answer(run('a'));
  for (const name of ['looked at', 'inbox opened'])
    first.workbench.remembered.setSetting(name, Date.now() + 10 * hourMs);
  await end(first);
  const second = start(path);
  const { inbox } = second.workbench;
  const begun = Date.now();
  expect(inbox.newSince).toBeLessThanOrEqual(begun);
  await eventually(() => expect(Date.now()).toBeGreaterThan(begun));
  second.answer(run('a', { status: 'failed' }));
  expect(summaryOf(inbox)).toMatch(/^1 failed since/);
  await end(second);
});

it('names no time that is not before all new events (out27 B1)', async () => {
  const path = storeFolder(onTestFinished);
  const before = Date.now() - 1_000;
  const first = start(path);
  first.answer(run('a'), run('b'));
  first.answer(run('a', { status: 'failed', endTime: new Date().toISOString() }));
  expect(summaryOf(first.workbench.inbox)).toBe('1 failed');
  first.workbench.inbox.opened(before);
  const since = expect.stringMatching(/^1 failed since \d\d:\d\d:\d\d$/);
  expect(summaryOf(first.workbench.inbox)).toEqual(since);
  // It ended before the inbox was opened, but was noticed after.
  first.answer(run('b', { status: 'succeeded', endTime: ago(60_000) }));
  expect(summaryOf(first.workbench.inbox)).toBe('1 failed, 1 ended');
  await end(first);
});

it.each([['1970-01-01T00:00:00Z'], ['2999-01-01T00:00:00Z']])(
  'shows an end at an impossible time, %s, as of when it was seen',
  async endTime => {
    const path = storeFolder(onTestFinished);
    const begun = Date.now();
    const first = start(path);
    first.answer(run('a'), run('b'));
    first.answer(run('a', { status: 'failed', endTime }));
    const seen = first.workbench.inbox.list();
    expect(seen).toMatchObject([{ id: 'a', isExact: false }]);
    first.answer(run('a', { status: 'failed', endTime, reason: 'out of memory' }));
    expect(first.workbench.inbox.list()).toMatchObject([{ isExact: false, at: seen[0]?.at }]);
    await end(first);

    const second = start(path);
    second.answer(run('b', { status: 'succeeded', endTime }));
    for (const { at } of second.workbench.inbox.list()) {
      expect(at).toBeGreaterThanOrEqual(begun);
      expect(at).toBeLessThanOrEqual(Date.now());
    }
    await end(second);
  },
);
