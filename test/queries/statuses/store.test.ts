/** The single store of statuses: every change is announced once, in any order of reads. */

import { describe, expect, it } from 'vitest';
import { heldOutMeans } from '../../../src/queries/held-out.ts';
import type { Observation } from '../../../src/queries/statuses/known-resource.ts';
import {
  followedOf,
  lostAfterMs,
  runningOf,
  StatusStore,
  type Transition,
} from '../../../src/queries/statuses/store.ts';
import { kinds } from '../../../src/resources/catalogue.ts';

const run = (status: string | null | undefined, more: Partial<Observation> = {}): Observation => ({
  kind: 'run',
  id: 'evr_1',
  label: 't-words',
  status,
  ...more,
});
const times = (at: number, askedAt = at) => ({ at, askedAt });

function listening(): { statuses: StatusStore; transitions: Transition[]; changes: () => number } {
  const statuses = new StatusStore(kinds);
  const transitions: Transition[] = [];
  let changes = 0;
  statuses.onTransitions(some => transitions.push(...some));
  statuses.subscribe(() => {
    changes += 1;
  });
  return { statuses, transitions, changes: () => changes };
}

/** A seeded generator of numbers (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below;
  };
}

it('keeps a reason and an end time only as long as their status (out29 A3)', () => {
  const { statuses, transitions } = listening();
  const known = () => statuses.get({ kind: 'deployment', id: 'dep_1' });
  const deployment = { kind: 'deployment', id: 'dep_1' };
  const failed = { status: 'FAILED', reason: 'out of memory', endTime: '2026-01-01T10:00:00Z', waits: 'disk' };
  statuses.report([{ ...deployment, ...failed }], times(1));
  for (const status of [undefined, null, 'failed']) {
    statuses.report([{ ...deployment, status }], times(2));
    expect(known()).toMatchObject({ reason: failed.reason, endTime: failed.endTime, waits: failed.waits });
  }
  // Another spelling is not a change.
  expect(transitions).toEqual([]);
  statuses.report([{ ...deployment, status: 'DEPLOYING' }], times(3));
  expect([known()?.reason, known()?.endTime, known()?.waits]).toEqual([undefined, undefined, undefined]);
});

describe('the held-out means of a run', () => {
  const training = { kind: 'training', id: 'trn_1', total: 8 };
  const upTo = (...steps: readonly number[]): Observation => ({
    ...training,
    measured: heldOutMeans(steps.map(step => ({ step, held_out_reward: step / 10, completed_samples: 112 }))) ?? null,
  });
  const means = (statuses: StatusStore) => {
    const { last, best } = statuses.get(training)?.measured ?? {};
    return [last?.step, last?.isOld, best?.isOld];
  };

  it('are stale from its end until they are read after it', () => {
    const { statuses } = listening();
    statuses.report([{ ...training, status: 'running' }], times(1));
    statuses.report([upTo(0, 5)], times(2));
    expect(means(statuses)).toEqual([5, undefined, undefined]);
    statuses.report([{ ...training, status: 'cancelled' }], times(9));
    expect(means(statuses)).toEqual([5, true, true]);
    // It was asked for before the end was seen.
    statuses.report([upTo(0, 5, 6)], times(10, 8));
    expect(means(statuses)).toEqual([6, true, true]);
    statuses.report([upTo(0, 5, 6)], times(12, 11));
    expect(means(statuses)).toEqual([6, undefined, undefined]);
    statuses.report([{ ...training, status: 'cancelled' }], times(13, 8));
    expect(means(statuses)).toEqual([6, undefined, undefined]);
  });

  it('stay stale after a successful end while the last round is not listed, for some minutes', () => {
    const { statuses } = listening();
    statuses.report([{ ...training, status: 'running' }], times(1));
    statuses.report([upTo(0, 5)], times(2));
    statuses.report([{ ...training, status: 'succeeded' }], times(9));
    const readAt = (ms: number, ...steps: readonly number[]) => {
      statuses.report([upTo(...steps)], times(ms + 1, ms));
      return means(statuses);
    };
    expect(readAt(20_000, 0, 5)).toEqual([5, true, true]);
    expect(readAt(40_000, 0, 5, 8)).toEqual([8, undefined, undefined]);
    expect(readAt(80_000, 0, 5)).toEqual([5, true, true]);
    // It measures no last step.
    expect(readAt(400_000, 0, 5)).toEqual([5, undefined, undefined]);
  });

  it('are no longer stale once their steps are known to be complete (out26 B7)', () => {
    const { statuses } = listening();
    const { total: _, ...listed } = training;
    statuses.report([{ ...listed, status: 'succeeded' }], times(1));
    statuses.report([{ ...upTo(0, 5, 8), total: undefined }], times(2));
    expect(means(statuses)).toEqual([8, true, true]);
    statuses.report([{ ...listed, status: 'succeeded', done: 8 }], times(3));
    expect(means(statuses)).toEqual([8, undefined, undefined]);
    statuses.forget(training);
    statuses.report([{ ...listed, status: 'succeeded' }], times(4));
    statuses.report([{ ...upTo(0, 5), total: undefined }], times(5));
    statuses.report([{ ...listed, status: 'succeeded', done: 8 }], times(6));
    expect(means(statuses)).toEqual([5, true, true]);
  });

  it('are not stale if they include the last step, or the run had ended when first seen', () => {
    const { statuses } = listening();
    statuses.report([{ ...training, status: 'running' }], times(1));
    statuses.report([upTo(0, 8)], times(2));
    statuses.report([{ ...training, status: 'succeeded' }], times(3));
    expect(means(statuses)).toEqual([8, undefined, undefined]);
    statuses.forget(training);
    statuses.report([upTo(0, 5)], times(4));
    statuses.report([{ ...training, status: 'succeeded' }], times(5));
    expect(means(statuses)).toEqual([5, undefined, undefined]);
  });

  it('are empty once its curve was read without any, and stay if a later curve has none', () => {
    const { statuses } = listening();
    statuses.report([{ ...training, status: 'running' }], times(1));
    expect(statuses.get(training)?.measured).toBeUndefined();
    statuses.report([upTo()], times(2));
    expect(statuses.get(training)?.measured).toBeNull();
    statuses.report([upTo(5)], times(3));
    statuses.report([upTo()], times(4));
    expect(means(statuses)).toEqual([5, undefined, undefined]);
  });
});

describe('a transition', () => {
  it('is announced once, with the previous status', () => {
    const { statuses, transitions } = listening();
    statuses.report([run('running')], times(1));
    statuses.report([run('completed', { mean: 0.5 })], times(2));
    statuses.report([run('completed')], times(3));
    expect(transitions).toMatchObject([
      { from: 'running', to: 'completed', ended: true, resource: { label: 't-words', mean: 0.5, endedAt: 2 } },
    ]);
  });

  it('is announced for a start whose end a list already had, and for nothing else that is known', () => {
    const { statuses, transitions } = listening();
    const told: number[] = [];
    statuses.onTransitions(some => told.push(some.length));
    statuses.report([run('completed')], times(1));
    expect(told).toEqual([]);
    statuses.started(run(undefined), 2);
    expect(transitions).toMatchObject([{ from: '', to: 'completed', ended: true, resource: { endedAt: 2 } }]);
    statuses.started(run(undefined), 3);
    expect(told).toEqual([1]);
  });

  it('has the mean of its own answer, not an earlier one (W5)', () => {
    const { statuses, transitions } = listening();
    statuses.report([run('running', { mean: 0.25 })], times(1));
    statuses.report([run('completed')], times(2));
    expect(transitions.map(({ mean }) => mean)).toEqual([undefined]);
    statuses.report([run('running', { id: 'evr_2', mean: 0.25 })], times(1));
    statuses.report([run('completed', { id: 'evr_2', mean: 0.5 })], times(2));
    expect(transitions.map(({ mean }) => mean)).toEqual([undefined, 0.5]);
  });

  it('to an end is undone once it runs again (U35)', () => {
    const { statuses } = listening();
    const deployment = (status: string): Observation => ({ kind: 'deployment', id: 'd', status });
    const seen = () => statuses.get({ kind: 'deployment', id: 'd' });
    statuses.report([deployment('DEPLOYING')], times(1));
    statuses.report([deployment('DEPLOYED')], times(2));
    expect(seen()?.endedAt).toBe(2);
    statuses.report([{ kind: 'deployment', id: 'd', label: 'talker' }], times(3));
    expect(seen()?.endedAt).toBe(2);
    statuses.report([deployment('DEPLOYING')], times(4));
    expect(seen()?.endedAt).toBeUndefined();
  });

  it('to gone is undone once it is found again, with its previous end (U35)', () => {
    const { statuses } = listening();
    const seen = () => statuses.get({ kind: 'run', id: 'evr_1' });
    statuses.report([run('running')], times(1));
    statuses.gone({ kind: 'run', id: 'evr_1' }, false, 2);
    expect(seen()).toMatchObject({ gone: true, endedAt: 2 });
    statuses.report([run('running')], times(3));
    expect(seen()).toMatchObject({ gone: false, endedAt: undefined });
    statuses.report([run('completed')], times(4));
    statuses.gone({ kind: 'run', id: 'evr_1' }, false, 5);
    statuses.report([run('completed')], times(6));
    expect(seen()).toMatchObject({ gone: false, endedAt: 4 });
  });

  it('to a status of running, known or unknown, is not an end', () => {
    const { statuses, transitions } = listening();
    for (const status of ['pending', 'running', 'a-new-status', '__proto__', 'cancelling']) {
      statuses.report([run(status)], times(1));
    }
    expect(transitions.map(({ to, ended }) => [to, ended])).toEqual([
      ['running', false],
      ['a-new-status', false],
      ['__proto__', false],
      ['cancelling', false],
    ]);
  });

  it('is none if it had ended when first seen', () => {
    const { statuses, transitions } = listening();
    statuses.report([run('completed')], times(1));
    statuses.recall([{ kind: 'run', id: 'old', label: 'old', status: 'completed', seenAt: 1 }]);
    statuses.report([run('completed', { id: 'old' })], times(2));
    expect(transitions).toEqual([]);
  });

  it('is one if it was running when last seen, before a switch of profiles or in an earlier program', () => {
    const { statuses, transitions } = listening();
    statuses.recall([{ kind: 'run', id: 'old', label: 'old', status: 'running', seenAt: 1 }]);
    statuses.report([run('completed', { id: 'old' })], times(2));
    expect(transitions).toMatchObject([{ from: 'running', to: 'completed', ended: true }]);
    expect(statuses.get({ kind: 'run', id: 'old' })?.endedAt).toBe(2);
  });

  it('survives failed polls and answers without a status', () => {
    const { statuses, transitions } = listening();
    statuses.report([run('running')], times(1));
    statuses.failed({ kind: 'run', id: 'evr_1', label: '' }, 'the cable is out');
    expect(statuses.get(run('x'))).toMatchObject({ status: 'running', error: 'the cable is out' });
    statuses.report([run(undefined, { mean: 1 })], times(2));
    statuses.report([run('failed')], times(3));
    expect(transitions.map(({ to }) => to)).toEqual(['failed']);
    expect(statuses.get(run('x'))?.error).toBeUndefined();
  });

  it('is news for what this program started, even if the first answer says that it has ended', () => {
    const { statuses, transitions } = listening();
    statuses.started(run(undefined), 1);
    statuses.report([run('completed')], times(2));
    expect(transitions).toMatchObject([{ from: '', to: 'completed', ended: true }]);
  });

  it('is followed without an invented status, and not counted as running (C2)', () => {
    const { statuses } = listening();
    statuses.started(run(undefined), Date.now());
    statuses.report([run(null, { graded: 3 })], times(Date.now()));
    const known = statuses.get(run('x'));
    expect(known).toMatchObject({ status: undefined, isNew: true, graded: 3, gradedAt: expect.any(Number) });
    expect([followedOf(statuses), runningOf(statuses)]).toEqual([[known], []]);
    statuses.report([run('running')], times(Date.now()));
    expect([followedOf(statuses).length, runningOf(statuses).length]).toEqual([1, 1]);
  });

  it('is news once, even if a list was faster than the answer to the start', () => {
    const { statuses, transitions } = listening();
    statuses.report([run('completed')], times(1));
    statuses.started(run(undefined), 2);
    statuses.started(run(undefined), 3);
    expect(transitions.map(({ ended }) => ended)).toEqual([true]);
  });

  it('is news if what ran is gone', () => {
    const { statuses, transitions } = listening();
    statuses.report([run('running'), run('completed', { id: 'b' })], times(1));
    statuses.gone({ kind: 'run', id: 'evr_1' });
    statuses.gone({ kind: 'run', id: 'evr_1' });
    statuses.gone({ kind: 'run', id: 'b' });
    statuses.gone({ kind: 'run', id: 'never seen' });
    expect(transitions.map(({ resource, ended }) => [resource.id, resource.gone, ended])).toEqual([
      ['evr_1', true, true],
    ]);
  });

  it('of a deployment may leave its end, but not by an older answer', () => {
    const { statuses, transitions } = listening();
    const deployment = (status: string): Observation => ({ kind: 'deployment', id: 'd', status });
    statuses.report([deployment('DEPLOYING')], times(1));
    statuses.report([deployment('DEPLOYED')], times(10, 8));
    statuses.report([deployment('DEPLOYING')], times(11, 9));
    expect(statuses.get({ kind: 'deployment', id: 'd' })?.status).toBe('DEPLOYED');
    statuses.report([deployment('CANCELLING')], times(13, 12));
    expect(transitions.map(({ to }) => to)).toEqual(['DEPLOYED', 'CANCELLING']);
    statuses.report([deployment('DEPLOYED')], times(15, 14));
    // The clock was set back.
    statuses.report([deployment('DEPLOYING')], times(6, 5));
    expect(statuses.get({ kind: 'deployment', id: 'd' })?.status).toBe('DEPLOYING');
  });
});

describe('any interleaving of readers', () => {
  /** Readers ask and are answered at random moments; each answer holds a status from between the two. */
  function readings(seed: number): { at: number; askedAt: number; status: string }[] {
    const random = randomOf(seed);
    const endsAt = 40 + random(40);
    return Array.from({ length: 60 }, () => {
      const askedAt = random(100);
      const at = askedAt + random(30);
      const sampledAt = askedAt + random(at - askedAt);
      return { askedAt, at, status: sampledAt < 20 ? 'pending' : sampledAt < endsAt ? 'running' : 'completed' };
    }).toSorted((left, right) => left.at - right.at);
  }

  it('announces exactly one end, if and only if it was seen before', () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      for (const kind of ['run', 'deployment'] as const) {
        const { statuses, transitions } = listening();
        const all = readings(seed);
        for (const { status, at, askedAt } of all) statuses.report([{ kind, id: 'x', status }], { at, askedAt });
        const ends = transitions.filter(({ ended }) => ended).length;
        const seenBefore = all[0]?.status !== 'completed';
        const seenAfter = all.some(({ status }) => status === 'completed');
        expect([seed, kind, ends]).toEqual([seed, kind, seenBefore && seenAfter ? 1 : 0]);
        if (seenAfter) expect(statuses.get({ kind, id: 'x' })?.status).toBe('completed');
      }
    }
  });

  it('announces one end of each, however the answers are split into reports', () => {
    for (let seed = 1; seed <= 100; seed += 1) {
      const random = randomOf(seed);
      const { statuses, transitions } = listening();
      const ids = ['a', 'b', 'c', 'd'];
      statuses.report(
        ids.map(id => run('running', { id })),
        times(0),
      );
      for (let at = 1; at < 20; at += 1) {
        statuses.report(
          ids.filter(() => random(1) < 0.5).map(id => run('completed', { id })),
          times(at),
        );
      }
      expect(transitions.map(({ resource }) => resource.id).toSorted()).toEqual(ids);
    }
  });
});

describe('the known statuses', () => {
  it('are the same object until something changes, and notify no listener', () => {
    const { statuses, changes } = listening();
    const said = run('running', { curve: [1, 2], done: 3 });
    statuses.report([said], times(1));
    const before = statuses.all();
    statuses.report([{ ...said, curve: [1, 2], mean: null }], times(2));
    expect(statuses.all()).toBe(before);
    expect([changes(), statuses.lastRead(said)?.at]).toEqual([1, 2]);
    statuses.report([{ ...said, curve: [1, 2, 3] }], times(3));
    expect(statuses.all()).not.toBe(before);
    expect(changes()).toBe(2);
  });

  it('are running if they change by themselves, have not ended, are not gone and were not lost', () => {
    const { statuses } = listening();
    statuses.recall([{ kind: 'run', id: 'lost', label: 'lost', status: 'running', seenAt: 0 }]);
    statuses.report(
      [
        run('running'),
        run('completed', { id: 'over' }),
        run('running', { id: 'gone' }),
        { kind: 'training', id: 't', status: 'a-new-status' },
        { kind: 'training', id: 'old', status: null },
        { kind: 'trajectory', id: 'traj', status: 'running' },
        { kind: 'benchmark', id: 'b', status: 'not ready' },
      ],
      times(lostAfterMs),
    );
    statuses.gone({ kind: 'run', id: 'gone' });
    expect(runningOf(statuses, lostAfterMs).map(({ id }) => id)).toEqual(['evr_1']);
    expect(followedOf(statuses, lostAfterMs).map(({ id }) => id)).toEqual(['evr_1', 't']);
  });
});

describe('the known facts', () => {
  const ref = { kind: 'run', id: 'evr_1' };
  const measured = {
    last: { step: 2, reward: 0.5, samples: 4 },
    best: { step: 1, reward: 0.75, samples: 4 },
    curve: [0.75, 0.5],
    everySteps: 1,
    upTo: 2,
  };
  const whole = {
    done: 3,
    total: 9,
    mean: 0.5,
    graded: 2,
    measured,
    curve: [0.25, undefined],
    startedAt: '2026-03-04',
    endTime: '2026-03-05',
    reason: 'out of memory',
    parent: 'bench_1',
  };

  it('stay if an answer has fewer, and are the same object until something changes', () => {
    const { statuses, changes } = listening();
    statuses.report([run('running', whole)], times(5));
    const known = statuses.get(ref);
    expect(known).toEqual({
      ...ref,
      ...whole,
      label: 't-words',
      status: 'running',
      gradedAt: 5,
      endedAt: undefined,
      error: undefined,
      gone: false,
      isNew: false,
    });
    const all = statuses.all();
    expect(all).toEqual([known]);
    statuses.report([{ ...ref }, run(null), run('running', structuredClone(whole))], times(6));
    expect([statuses.get(ref), statuses.all(), changes()]).toEqual([known, all, 1]);
    expect(statuses.get(ref)).toBe(known);
    expect(statuses.all()).toBe(all);
    const other = { ...measured, last: { step: 3, reward: 1, samples: 4 } };
    statuses.report([run('running', { measured: other, curve: [0.25] })], times(7));
    expect(statuses.get(ref)).toMatchObject({ measured: other, curve: [0.25], total: 9 });
    expect(changes()).toBe(2);
    statuses.report([run('running', { curve: [0.75] })], times(8));
    expect(statuses.get(ref)?.curve).toEqual([0.75]);
  });

  it('keep their numbers and status if an earlier response arrives late (rev38 A5)', () => {
    const { statuses } = listening();
    const numbers = { done: 20, graded: 20, mean: 0.5, failed: 18, total: 30 };
    const old = {
      done: 10,
      graded: 10,
      mean: 0.2,
      failed: 1,
      total: 10,
      record: { status: 'pending', reward_mean: 0.2 },
    };
    statuses.report([run('running', numbers)], times(3000, 2000));
    const [late] = statuses.report([run('pending', old)], times(4000, 1000));
    expect(statuses.get(ref)).toMatchObject({ ...numbers, status: 'running' });
    expect(late?.record).toBeUndefined();
    // Progress is never out of date, but its status is.
    statuses.report([run('cancel_signaled', { done: 20 })], times(6000, 6000));
    const more = { ...numbers, done: 21, graded: 21 };
    const [ahead] = statuses.report([run('running', { ...more, record: { status: 'running' } })], times(7000, 5000));
    expect(statuses.get(ref)).toMatchObject({ ...more, status: 'cancel_signaled' });
    expect(ahead?.record).toEqual({ status: 'cancel_signaled' });
  });

  it('end without the earlier progress, unless that was complete or the end has its own', () => {
    const numbers = { done: 3, total: 30, mean: 0.5, graded: 2, failed: 1 };
    const endOf = (before: Partial<Observation>, end: Partial<Observation>) => {
      const { statuses, transitions } = listening();
      statuses.report([run('running', before)], times(1));
      statuses.report([run('completed', end)], times(3));
      // This answer was requested before the end was seen.
      statuses.report([run('running', before)], times(4, 2));
      expect(transitions.map(({ resource }) => resource)).toEqual([statuses.get(ref)]);
      expect(statuses.movedAt(ref)).toBe(end.done === undefined ? 1 : 3);
      const { done, total, mean, graded, failed } = statuses.get(ref) ?? {};
      return { done, total, mean, graded, failed };
    };
    const none = { done: undefined, mean: undefined, graded: undefined, failed: undefined };
    expect(endOf(numbers, {})).toEqual({ ...none, total: 30 });
    expect(endOf(numbers, { mean: 0.75 })).toEqual({ ...none, total: 30, mean: 0.75 });
    expect(endOf(numbers, { done: 30, graded: 29 })).toEqual({ ...none, done: 30, total: 30, graded: 29 });
    const whole = { ...numbers, done: 30, graded: 29 };
    expect(endOf(whole, {})).toEqual(whole);
    // A count belongs to its mean: the same, apart from rounding.
    expect(endOf(whole, { mean: 0.50004 })).toEqual({ ...whole, mean: 0.50004 });
    expect(endOf(whole, { mean: 0.75 })).toEqual({ ...whole, mean: 0.75, graded: undefined });
    // The mean without a count is the last value of a curve.
    const { graded: _, ...trained } = numbers;
    expect(endOf(trained, {})).toEqual({ ...none, total: 30, mean: 0.5 });
  });

  it('have the times at which they were read, reported progress and moved', () => {
    const { statuses } = listening();
    const at = () => [statuses.lastRead(ref), statuses.doneReadAt(ref), statuses.movedAt(ref), statuses.goneAt(ref)];
    expect(at()).toEqual([undefined, undefined, undefined, undefined]);
    statuses.report([run('running')], { ...times(1), by: 'list' });
    expect(at()).toEqual([{ at: 1, by: 'list' }, undefined, undefined, undefined]);
    statuses.report([run('running', { done: 2 })], times(2));
    expect(at()).toEqual([{ at: 2, by: undefined }, 2, 2, undefined]);
    statuses.report([run('running', { done: 2 })], times(3));
    statuses.report([run('running')], times(4));
    expect(at()).toEqual([{ at: 4, by: undefined }, 3, 2, undefined]);
    statuses.gone(ref, false, 5);
    expect(statuses.goneAt(ref)).toBe(5);
    statuses.gone(ref, false, 6);
    expect(statuses.goneAt(ref)).toBe(5);
    statuses.report([run('running')], times(7));
    expect(statuses.goneAt(ref)).toBeUndefined();
  });

  it('have rewards since the first time seen, by another program too if only their number is known', () => {
    const since = (before: number, status: string | null, ...counts: number[]) => {
      const statuses = new StatusStore(kinds, ({ id }, count) => (id === 'evr_1' && count === 2 ? before : undefined));
      for (const [index, graded] of counts.entries()) statuses.report([run(status, { graded })], times(10 + index));
      return statuses.get(ref)?.gradedAt;
    };
    expect([since(4, null, 2), since(40, null, 2), since(4, null, 3), since(4, 'running', 2)]).toEqual([4, 10, 10, 10]);
    expect([since(4, null, 2, 2), since(4, null, 1, 2), since(4, null, 2, 3)]).toEqual([4, 11, 11]);
  });

  it('are passed to all listeners whenever they change, and only then', () => {
    const { statuses, changes, transitions } = listening();
    const told = (work: () => void) => {
      const before = changes();
      work();
      return changes() - before;
    };
    const resource = { ...ref, label: 't-words' };
    expect(told(() => statuses.recall([{ ...resource, status: 'running', seenAt: 1 }]))).toBe(1);
    expect(told(() => statuses.recall([{ ...resource, status: 'failed', seenAt: 2 }]))).toBe(0);
    expect(statuses.get(ref)?.status).toBe('running');
    expect(told(() => statuses.failed(resource, 'lost'))).toBe(1);
    expect(told(() => statuses.failed(resource, 'lost'))).toBe(0);
    expect(told(() => statuses.dismiss(ref))).toBe(0);
    expect(told(() => statuses.report([run('completed')], times(3)))).toBe(1);
    expect(told(() => statuses.dismiss(ref))).toBe(1);
    expect(statuses.get(ref)?.endedAt).toBeUndefined();
    expect(told(() => statuses.forget(ref))).toBe(1);
    expect(told(() => statuses.forget(ref))).toBe(0);
    expect(told(() => statuses.started(run(undefined, { id: 'new' }), 4))).toBeGreaterThan(0);
    expect(told(() => statuses.gone({ kind: 'run', id: 'new' }, false, 5))).toBe(1);
    expect(transitions.map(({ from, to, ended }) => [from, to, ended])).toEqual([
      ['running', 'completed', true],
      ['', 'gone', true],
    ]);
    expect(statuses.get({ kind: 'run', id: 'new' })).toMatchObject({ gone: true, endedAt: 5 });
  });

  it('are not news if they vanish after the end, unless watched', () => {
    const { statuses, transitions } = listening();
    statuses.report([run('completed'), run('completed', { id: 'pinned' })], times(1));
    statuses.gone(ref, false, 2);
    statuses.gone({ kind: 'run', id: 'pinned' }, true, 2);
    expect(transitions.map(({ resource, from, to }) => [resource.id, from, to])).toEqual([
      ['pinned', 'completed', 'gone'],
    ]);
    expect([statuses.get(ref)?.endedAt, statuses.get({ kind: 'run', id: 'pinned' })?.endedAt]).toEqual([undefined, 2]);
  });

  it('are not undone by an answer requested when the end was read', () => {
    const { statuses } = listening();
    const deployment = (status: string): Observation => ({ kind: 'deployment', id: 'd', status });
    statuses.report([deployment('DEPLOYING')], times(1));
    statuses.report([deployment('DEPLOYED')], times(10, 8));
    statuses.report([{ ...deployment('DEPLOYING'), label: 'tutor', startedAt: 'now', done: 4 }], times(10, 10));
    expect(statuses.get(deployment(''))).toMatchObject({
      status: 'DEPLOYED',
      label: 'tutor',
      startedAt: 'now',
      done: undefined,
    });
  });

  it('do not count as running with an unknown status', () => {
    const { statuses } = listening();
    const ids = ['hibernating', 'WARMING_UP', 'running'].map(status => ({ ...run(status), id: status }));
    statuses.report(ids, times(1_000));
    expect(runningOf(statuses, 1_000).map(({ id }) => id)).toEqual(['running']);
    expect(followedOf(statuses, 1_000).length).toBe(3);
  });

  it('count as running for half a day after the last read, for kinds that run', () => {
    const { statuses } = listening();
    statuses.report([run('running'), { kind: 'benchmark', id: 'b', status: 'building' }], times(1_000));
    statuses.report([{ kind: 'unheard of', id: 'x', status: 'running' }], times(1_000));
    const ids = (now: number) => runningOf(statuses, now).map(({ id }) => id);
    expect([ids(1_000 + 43_199_999), ids(1_000 + 43_200_000)]).toEqual([['evr_1'], []]);
    statuses.gone(ref, false, 1_000);
    expect(ids(1_000)).toEqual([]);
    expect(['run', 'benchmark', 'unheard of', '__proto__'].map(kind => statuses.runs(kind))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
