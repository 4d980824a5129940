import { expect, it } from 'vitest';
import { mean } from '../../../src/base/statistics.ts';
import { tallyMean } from '../../../src/present/statistics/tally.ts';
import { filled, type RunTasks, type TaskRewards, taskMean } from '../../../src/present/statistics/tasks.ts';
import { Random } from '../../../tools/rig/random.ts';

/** The least mean of tasks, by trying every way to spread so many rollouts worth 0 over them and others. */
function triedOut(tasks: readonly (readonly number[])[], loose: number): number {
  if (loose === 0) return mean(tasks.map(rewards => mean(rewards) ?? 0)) ?? 0;
  const ways = [...tasks.keys(), tasks.length].map(place => {
    const more =
      tasks.length === place ? [...tasks, [0]] : tasks.map((each, at) => (at === place ? [...each, 0] : each));
    return triedOut(more, loose - 1);
  });
  return Math.min(...ways);
}

it('has bounds no wider than the ways in which rollouts may be spread that are not listed', () => {
  const random = new Random('tight');
  for (let round = 0; round < 200; round++) {
    const pair = [random.pick([0, 0.5, 1]), random.pick([0, 0.5, 1])];
    const others = Array.from({ length: random.between(1, 3) }, () => [random.pick([0, 0.25, 0.5, 1])]);
    const tasks = [pair, ...others];
    const listed = pair.length + others.length;
    // A prime number: no other task can have two as well.
    const total = [5, 7].find(prime => prime > listed) ?? 0;
    const { bounds } = taskMean({ tasks, total, end: 'complete' }, [0, 1]);
    const mirrored = tasks.map(rewards => rewards.map(reward => 1 - reward));
    expect(bounds?.[0]).toBeCloseTo(triedOut(tasks, total - listed), 12);
    expect(bounds?.[1]).toBeCloseTo(1 - triedOut(mirrored, total - listed), 12);
  }
});

it('has the mean of all rollouts between its bounds, whichever are not listed', () => {
  const random = new Random('not listed');
  for (let round = 0; round < 2_000; round++) {
    // A prime number of rollouts, two of them of one task: no other task can have as many.
    const total = random.pick([5, 7, 11, 13, 17]);
    const all: number[][] = [[random.pick([0, 1]), random.pick([0, 0.5, 1])]];
    for (let left = total - 2; left > 0; ) {
      const size = Math.min(left, random.between(1, 4));
      all.push(Array.from({ length: size }, () => random.pick([0, 0.5, 1])));
      left -= size;
    }
    const tasks: TaskRewards[] = all
      .map((rewards, task) => (task === 0 ? rewards : rewards.filter(() => random.next() < 0.7)))
      .filter(({ length }) => length > 0);
    const { bounds, mean: listed = 0 } = taskMean({ tasks, total, end: 'complete' }, [0, 1]);
    const [low, high] = bounds ?? [listed, listed];
    const whole = mean(all.map(rewards => mean(rewards) ?? 0));
    if (tasks.length < 2) continue;
    expect(whole).toBeGreaterThanOrEqual(low - 1e-9);
    expect(whole).toBeLessThanOrEqual(high + 1e-9);
  }
});

it('has no more rollouts without a task than rollouts without a reward', () => {
  const tasks = [[1], [undefined]];
  expect(taskMean({ tasks, total: 2, least: 2, nameless: 5, end: 'complete' }, [0, 1])).toMatchObject({
    rated: 1,
    rollouts: 2,
    nameless: 1,
  });
});

/** Every way to give the missing rewards of all rollouts, `each` of every task, the lowest or the highest value. */
function* assignments(tasks: readonly TaskRewards[], each: number): Generator<number[][]> {
  const whole = tasks.map(rewards => Array.from({ length: each }, (_, sample) => rewards[sample]));
  const holes = whole.flat().filter(reward => reward === undefined).length;
  for (let way = 0; way < 2 ** holes; way++) {
    let hole = 0;
    yield whole.map(rewards => rewards.map(reward => reward ?? (way >> hole++) & 1));
  }
}

const taskMeans = (tasks: readonly (readonly number[])[]): number[] => tasks.map(rewards => mean(rewards) ?? 0);
const extremes = (values: readonly number[]) => [Math.min(...values), Math.max(...values)] as const;

/** A run of some tasks with the same number of rollouts, of which only some are listed, with or without a reward. */
function partOf(random: Random, count: number, each: number): { all: TaskRewards[]; run: RunTasks } {
  const all = Array.from({ length: count }, () =>
    Array.from({ length: random.between(0, each) }, () =>
      random.next() < 0.3 ? undefined : random.pick([0, 0.25, 1]),
    ),
  );
  return { all, run: { tasks: all, total: count * each, samplesPerTask: each, end: 'complete' } };
}

it('has the bounds of all assignments of missing rewards, if the options say how many rollouts a task has', () => {
  const random = new Random('samples per task');
  for (let round = 0; round < 400; round++) {
    const [count, each] = [random.between(1, 4), random.between(1, 2)];
    const { all, run } = partOf(random, count, each);
    // A task without a listed rollout is not known.
    const listed = { ...run, tasks: all.filter(({ length }) => length > 0) };
    if (!listed.tasks.some(rewards => rewards.some(reward => reward !== undefined))) continue;
    const [low, high] = extremes([...assignments(all, each)].map(tasks => mean(taskMeans(tasks)) ?? 0));
    const { bounds = [low, high], allTasks } = taskMean(listed, [0, 1]);
    expect(bounds).toEqual([expect.closeTo(low, 12), expect.closeTo(high, 12)]);
    expect(allTasks).toBe(count);
    const tallies = filled([listed], { missing: 'bound', range: [0, 1] });
    expect([tallyMean(tallies.low), tallyMean(tallies.high)]).toEqual(bounds.map(bound => expect.closeTo(bound, 12)));
  }
});

it('has the bounds of all assignments of a difference, whichever tasks of the same set the runs list', () => {
  const random = new Random('difference');
  for (let round = 0; round < 150; round++) {
    const count = random.between(1, 3);
    const each = [random.between(1, 2), random.between(1, 2)] as const;
    const parts = [partOf(random, count, each[0]), partOf(random, count, each[1])] as const;
    const known = [...Array(count).keys()].filter(task => parts.some(({ all }) => (all[task]?.length ?? 0) > 0));
    if (known.length === 0) continue;
    const runs = parts.map(({ run }) => ({ ...run, tasks: known.map(task => run.tasks[task] ?? []) }));
    const [before, after] = parts.map(({ all }, run) =>
      extremes([...assignments(all, each[run] ?? 1)].map(tasks => mean(taskMeans(tasks)) ?? 0)),
    );
    const tallies = filled(runs as readonly RunTasks[] as [RunTasks, RunTasks], { missing: 'bound', range: [0, 1] });
    expect(tallyMean(tallies.low)).toBeCloseTo((after?.[0] ?? 0) - (before?.[1] ?? 0), 12);
    expect(tallyMean(tallies.high)).toBeCloseTo((after?.[1] ?? 0) - (before?.[0] ?? 0), 12);
  }
});

it('takes no other number of rollouts per task than the options say, unless that does not fit', () => {
  const tasks = Array.from({ length: 6 }, () => [1]);
  const of = (samplesPerTask: number | undefined, more: Partial<RunTasks> = {}) =>
    taskMean({ tasks, total: 32, samplesPerTask, end: 'complete', ...more }, [0, 1]).allTasks;
  // Without options, a task may have 1, 2 or 4 of 32.
  expect([of(undefined), of(1), of(2), of(4)]).toEqual([undefined, 32, 16, 8]);
  expect([of(3), of(8)]).toEqual([undefined, undefined]);
  expect(of(1, { tasks: [[1, 1], ...tasks.slice(1)] })).toBeUndefined();
});

it('leaves it open which tasks a run has whose number of rollouts contradicts its options', () => {
  const run = {
    tasks: [
      [1, 1],
      [0, 0, 1],
    ],
    total: 10,
    end: 'complete',
  } as const;
  expect(taskMean(run, [0, 1])).toMatchObject({ allTasks: 2, bounds: [0.3, 0.8] });
  const { allTasks, bounds } = taskMean({ ...run, samplesPerTask: 4 }, [0, 1]);
  expect(allTasks).toBeUndefined();
  expect(bounds?.[0]).toBeLessThan(0.25);
  expect(bounds?.[1]).toBeGreaterThan(0.83);
});

it('counts a task that only the other run lists, though the rollouts of this one would fit its own tasks', () => {
  const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
  const none: TaskRewards = [];
  const base = { tasks: [...times(12, times(4, 0)), ...times(12, times(4, 1))], total: 96, end: 'complete' } as const;
  const tasks = [...times(10, times(4, 1)), ...times(14, none)];
  for (const more of [
    { end: 'stopped', samplesPerTask: 4 },
    { end: 'stopped' },
    { end: 'complete', samplesPerTask: 4 },
  ]) {
    const { low } = filled([base, { tasks, total: 50, ...more } as RunTasks], { missing: 'bound', range: [0, 1] });
    expect(low.size).toBeGreaterThanOrEqual(24);
    expect(tallyMean(low)).toBeLessThan(0);
  }
});
