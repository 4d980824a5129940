/** When the interval of a mean is shown beside it, and when a completed run need not be read again. */
import { describe, expect, it } from 'vitest';
import { certaintyOf, intervalBeside, isSettled, rememberedCertainty, runMeanOf } from '../../src/queries/run-mean.ts';
import { certaintyFields, describeCertainty, formatIntervalBeside } from '../../src/resources/run-mean.ts';

const rewards = (...values: readonly number[]) =>
  values.map((reward, index) => ({ task_id: `t${index}`, trajectory_id: `tr${index}`, reward }));
const values = Array.from({ length: 20 }, (_, index) => index / 20);
const range = [0, 1] as const;
const ended = { status: 'completed', total: 20, range };
const knownCertainty = certaintyOf(rewards(...values), ended);
const mean = 0.475;

it('the total of a continuing run says nothing about its tasks while one has no reward', () => {
  const some = [...rewards(0.5, 0.5), { trajectory_id: 'other', reward: 0.5 }];
  const of = (status: string) => runMeanOf(some, { status, total: 40 });
  expect(runMeanOf(rewards(0.5, 0.5, 0.5), { status: 'running', total: 40 }).isOpen).toBe(false);
  expect([of('running').isOpen, of('completed').isOpen]).toEqual([true, false]);
});

it('a run that stopped with all rewards of its total has an interval on that condition, and none in lists', () => {
  const of = (total: number | undefined, ...given: readonly (number | undefined)[]) => {
    const some = given.map((reward, index) => ({ task_id: `t${index}`, reward }));
    const options = { status: 'cancelled', total, range };
    return { run: runMeanOf(some, options), certainty: certaintyOf(some as never, options) };
  };
  const { run, certainty } = of(20, ...values);
  const complete = runMeanOf(rewards(...values), ended);
  expect(run.interval).toEqual(complete.interval);
  expect(describeCertainty(run, run.mean)).toBe(
    `${describeCertainty(complete, run.mean)}, if no more rollouts were planned (stopped)`,
  );
  expect(certaintyFields(run)).toMatchObject({ interval_condition: expect.stringContaining('no more rollouts') });
  expect(certainty).toMatchObject({ reason: 'uncounted' });
  for (const open of [of(undefined, ...values), of(21, ...values, undefined)]) {
    expect([open.run.isOpen, open.run.interval, open.certainty.reason]).toEqual([true, undefined, 'open']);
    expect(describeCertainty(open.run, 0.5)).toContain('no interval');
  }
});

it('counts a rollout with neither task nor reward as unlisted', () => {
  const ten = (task: string, ...given: number[]) => given.map(reward => ({ task_id: task, reward }));
  const low = ['a', 'b', 'c', 'd', 'e'].flatMap(task => ten(task, ...Array.from({ length: 10 }, () => 0)));
  const some = [...low, ...['f', 'g', 'h', 'i', 'j'].flatMap(task => ten(task, 1))];
  const unknown = Array.from({ length: 45 }, () => ({ task_id: null, reward: null }));
  for (const status of ['completed', 'running', 'failed']) {
    const extent = { status, total: 100, samplesPerTask: { each: 10, isSent: false } };
    const mean = runMeanOf([...some, ...unknown], extent);
    expect(mean).toEqual(runMeanOf(some, extent));
    expect(mean).toMatchObject({ mean: 0.5, tasks: 10, allTasks: 10 });
    expect(mean.bounds).toEqual([expect.closeTo(0.05), expect.closeTo(0.5)]);
  }
  const uncounted = runMeanOf([...ten('a', 0, 0), ...ten('b', 0, 0), ...ten('c', 1), ...unknown.slice(0, 1)]);
  expect(uncounted.bounds?.[0]).toBeCloseTo(1 / 6);
});

describe('an interval', () => {
  it('uses the number of rollouts per task in the options of the run', () => {
    const of = (each?: number, isSent = false) => {
      const samplesPerTask = each === undefined ? undefined : { each, isSent };
      return runMeanOf(rewards(1, 1, 1, 1, 1, 1), { ...ended, total: 32, samplesPerTask });
    };
    // Clopper and Pearson: 6 of 32.
    expect(of(1).interval?.low).toBeCloseTo(0.072_076, 5);
    expect(describeCertainty(of(1), 1)).toContain('over 6 of 32 tasks');
    // The others may belong to these tasks.
    expect(of().interval).toBeUndefined();
    // The service may have ignored the options that were sent.
    expect(of(1, true)).toEqual(of());
  });

  it('belongs to the mean and the number of rewards beside it', () => {
    const beside = (more: object) =>
      intervalBeside({ mean, graded: 20, status: 'completed', certainty: knownCertainty, ...more }, range);
    expect(beside({})).toEqual(knownCertainty.interval);
    expect(beside({ graded: undefined })).toEqual(knownCertainty.interval);
    for (const other of [{ mean: 0.5 }, { graded: 19 }, { status: 'running', graded: 19 }, { mean: undefined }])
      expect(beside(other)).toBeUndefined();
  });

  it('is shown beside a mean that exceeds the range only by rounding', () => {
    const rounded = 1.0000000000000002;
    const certainty = certaintyOf(rewards(...Array<number>(20).fill(rounded)), ended);
    expect(certainty.interval).toMatchObject({ high: 1 });
    const shown = { mean: rounded, graded: 20, status: 'completed', certainty };
    expect(intervalBeside(shown, range)).toEqual(certainty.interval);
    expect(isSettled(certainty, { mean: rounded, graded: 20 }, range)).toBe(true);
    expect(isSettled(certainty, { mean: rounded, graded: 20 }, [0, 2])).toBe(false);
  });

  it('is described by tasks everywhere, as samples of one task are not independent (C22)', () => {
    const some = Array.from({ length: 176 }, (_, index) => ({ task_id: `t${index % 44}`, reward: index % 2 }) as never);
    const options = { status: 'completed', total: 176, range };
    const shown = { mean: 0.5, graded: 176, status: 'completed', certainty: certaintyOf(some, options) };
    expect(formatIntervalBeside(shown, range)).toMatch(/ over 44 tasks$/);
    expect(formatIntervalBeside(shown, range)).toBe(describeCertainty(runMeanOf(some, options), 0.5));
  });

  it('is not shown beside a mean outside it, even if the record has that mean', () => {
    const recorded = { mean: 0.99, graded: 20 };
    const certainty = certaintyOf(rewards(...values), { ...ended, recorded });
    expect(certainty.interval?.high).toBeLessThan(0.99);
    expect(intervalBeside({ ...recorded, status: 'completed', certainty }, range)).toBeUndefined();
  });
});

describe('the rewards of a completed run', () => {
  it('are read again for another mean, number or range', () => {
    expect(isSettled(knownCertainty, { mean, graded: 20 }, range)).toBe(true);
    expect(isSettled(knownCertainty, { mean: 0.6, graded: 20 }, range)).toBe(false);
    expect(isSettled(knownCertainty, { mean, graded: 24 }, range)).toBe(false);
    expect(isSettled(knownCertainty, { mean, graded: 20 }, [0, 2])).toBe(false);
    expect(isSettled({ ...knownCertainty, isFinal: false }, { mean, graded: 20 }, range)).toBe(false);
  });

  it('are not read again if the record counted others from the start', () => {
    const recorded = { mean, graded: 24 };
    expect(isSettled(certaintyOf(rewards(...values), { ...ended, recorded }), recorded, range)).toBe(true);
  });

  it('are not read again for a range that does not contain them either', () => {
    const outside = certaintyOf(rewards(0, 5), { ...ended, total: 2 });
    expect(outside).toMatchObject({ reason: 'outside', highest: 5 });
    expect(isSettled(outside, { mean: 2.5, graded: 2 }, [0, 2])).toBe(true);
    expect(isSettled(outside, { mean: 2.5, graded: 2 }, [0, 5])).toBe(false);
  });
});

it('computes a remembered certainty again if it came from another version of the method, or has no version', () => {
  const of = (method: number | undefined) =>
    rememberedCertainty(
      { seen: { find: () => ({ status: 'completed', certainty: { ...knownCertainty, method } }) } as never },
      '',
      {
        status: 'completed',
      },
    );
  expect([of(knownCertainty.method), of(knownCertainty.method - 1), of(undefined)]).toEqual([
    knownCertainty,
    undefined,
    undefined,
  ]);
});

it('has another method once it has other fields: the full rewards are unknown before method 3 (rev38data B2)', () => {
  const withAll = certaintyOf(
    rewards(1, 0.5, 0),
    { ...ended, total: 4, failed: 1, endedAt: 1, recorded: { mean, graded: 3 } },
    [1, 2],
  );
  const fields =
    'endedAt failed full highest interval isFinal lowest means method range readAfterEnd recorded rewards tasks total';
  expect([withAll.method, Object.keys(withAll).sort().join(' ')]).toEqual([3, fields]);
});
