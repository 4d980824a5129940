import { describe, expect, it } from 'vitest';
import { mean } from '../../../src/base/statistics.ts';
import { summariseComparison } from '../../../src/present/statistics/comparison.ts';
import { type FilledValues, filled, type WorstCase } from '../../../src/present/statistics/filled.ts';
import { joinTallies, tallyMean, valuesBelow } from '../../../src/present/statistics/tally.ts';
import { taskMean } from '../../../src/present/statistics/task-mean.ts';
import type { RunTasks, TaskRewards } from '../../../src/present/statistics/tasks.ts';
import { Random } from '../../../tools/rig/random.ts';

/** The least mean of tasks of at most `room`, by every way to spread so many rollouts worth 0 over them and others. */
function triedOut(
  tasks: readonly (readonly number[])[],
  loose: number,
  room: number = Number.POSITIVE_INFINITY,
): number {
  if (loose === 0) return mean(tasks.map(rewards => mean(rewards) ?? 0)) ?? 0;
  const places = [...tasks.keys(), tasks.length].filter(place => (tasks[place]?.length ?? 0) < room);
  const ways = places.map(place => {
    const more =
      tasks.length === place ? [...tasks, [0]] : tasks.map((each, at) => (at === place ? [...each, 0] : each));
    return triedOut(more, loose - 1, room);
  });
  return Math.min(...ways);
}

const notAbove = (one: number, other: number): void => expect(one).toBeLessThanOrEqual(other + 1e-9);

it('has bounds no wider than the possible distributions of unlisted rollouts', () => {
  const random = new Random('tight');
  for (let round = 0; round < 200; round++) {
    const pair = [random.pick([0, 0.5, 1]), random.pick([0, 0.5, 1])];
    const others = Array.from({ length: random.between(1, 3) }, () => [random.pick([0, 0.25, 0.5, 1])]);
    const tasks = [pair, ...others];
    const listed = pair.length + others.length;
    // A prime number: no other task can have two.
    const total = [5, 7].find(prime => prime > listed) ?? 0;
    const { bounds } = taskMean({ tasks, total, end: 'complete' }, [0, 1]);
    const mirrored = tasks.map(rewards => rewards.map(reward => 1 - reward));
    expect(bounds?.[0]).toBeCloseTo(triedOut(tasks, total - listed), 12);
    expect(bounds?.[1]).toBeCloseTo(1 - triedOut(mirrored, total - listed), 12);
  }
});

it('has bounds that contain the mean of all rollouts, whichever are unlisted', () => {
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

it('covers the mean whichever tasks the rollouts without one belong to, if the total is unknown', () => {
  const random = new Random('nameless');
  const [fewer, more] = [
    [[0], [0, 1], [1, 1], [0, 1]],
    [[1], [1], [0]],
  ];
  for (let round = 0; round < 300; round++) {
    const tasks =
      round < 2
        ? ([fewer, more][round] ?? [])
        : Array.from({ length: random.between(1, 4) }, () =>
            Array.from({ length: random.between(1, 3) }, () => random.pick([0, 0.5, 1])),
          );
    const listed = tasks.flat().length;
    const nameless = random.between(1, 2);
    const each = Math.max(...tasks.map(({ length }) => length));
    const { bounds, unlistedRollouts } = taskMean({ tasks, least: listed + nameless, end: 'complete' }, [0, 1]);
    const mirrored = tasks.map(rewards => rewards.map(reward => 1 - reward));
    // With rollouts that are not listed, the condition is that no task has more than each.
    const room = unlistedRollouts > 0 ? each : Number.POSITIVE_INFINITY;
    const limits = [triedOut(tasks, nameless, room), 1 - triedOut(mirrored, nameless, room)] as const;
    notAbove(bounds?.[0] ?? 1, limits[0]);
    notAbove(limits[1], bounds?.[1] ?? 0);
    if (unlistedRollouts === 0) expect(bounds).toEqual(limits.map(limit => expect.closeTo(limit, 12)));
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

/** The lowest mean over every choice of the optional values: they are added from the lowest while that lowers it. */
function leastMean({ certain, optional }: WorstCase): number {
  const means = [...optional.values, Number.POSITIVE_INFINITY].map(limit =>
    tallyMean(joinTallies(certain, valuesBelow(optional, limit))),
  );
  return Math.min(...means.filter(value => !Number.isNaN(value)));
}

const limitsOf = ({ low, mirrored }: FilledValues): readonly [number, number] => [leastMean(low), -leastMean(mirrored)];

const taskMeans = (tasks: readonly (readonly number[])[]): number[] => tasks.map(rewards => mean(rewards) ?? 0);
const extremes = (values: readonly number[]) => [Math.min(...values), Math.max(...values)] as const;

/** A run of some tasks with the same number of rollouts. Only some rollouts are listed, with or without a reward. */
function partOf(random: Random, count: number, each: number): { all: TaskRewards[]; run: RunTasks } {
  const all = Array.from({ length: count }, () =>
    Array.from({ length: random.between(0, each) }, () =>
      random.next() < 0.3 ? undefined : random.pick([0, 0.25, 1]),
    ),
  );
  return { all, run: { tasks: all, total: count * each, samplesPerTask: each, end: 'complete' } };
}

it('has the bounds of all assignments of missing rewards, if the options give the rollouts per task', () => {
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
    const limits = limitsOf(filled([listed], { missing: 'bound', range: [0, 1] }));
    expect(limits).toEqual(bounds.map(bound => expect.closeTo(bound, 12)));
  }
});

describe.each([
  ['of the same tasks, each with as many', { more: 0, uneven: false, isKnown: false }],
  ['of other tasks, each with as many', { more: 3, uneven: false, isKnown: false }],
  ['of the same tasks, each with as many by the options', { more: 0, uneven: false, isKnown: true }],
  ['of other tasks, each with as many by the options', { more: 3, uneven: false, isKnown: true }],
  ['of the same tasks with different numbers', { more: 0, uneven: true, isKnown: false }],
  ['of other tasks with different numbers', { more: 3, uneven: true, isKnown: false }],
])('whichever rollouts are unlisted, %s', (name, { more, uneven, isKnown }) => {
  const random = new Random(name);

  /** Two runs, with the true mean difference over the tasks that both have, and the mean of the second. */
  function pairOf() {
    const both = random.between(1, 4);
    const each = random.between(1, 3);
    const draw = (): Map<string, number[]> => {
      const rewards = (): number[] =>
        Array.from({ length: uneven ? random.between(1, 3) : each }, () => random.pick([0, 0.25, 1]));
      const shared = Array.from({ length: both }, (_, task) => [`both ${task}`, rewards()] as const);
      const own = Array.from({ length: random.between(0, more) }, () => [`own ${random.next()}`, rewards()] as const);
      return new Map([...shared, ...own]);
    };
    const share = random.next();
    const hide = (rewards: readonly number[]): TaskRewards =>
      rewards.filter(() => random.chance(share)).map(reward => (random.chance(0.1) ? undefined : reward));
    const all = [draw(), draw()] as const;
    // Often one run is whole.
    const listed = all.map(tasks => {
      const isWhole = random.chance(0.3);
      return new Map([...tasks].map(([id, rewards]) => [id, isWhole ? rewards : hide(rewards)] as const));
    });
    const ids = [...new Set(listed.flatMap(tasks => [...tasks.keys()]))].filter(id =>
      listed.some(tasks => (tasks.get(id)?.length ?? 0) > 0),
    );
    const runs = listed.map((tasks, side): RunTasks => {
      const total = [...(all[side]?.values() ?? [])].flat().length;
      return {
        tasks: ids.map(id => tasks.get(id) ?? []),
        total,
        end: random.pick(['complete', 'running']),
        samplesPerTask: isKnown ? each : undefined,
      };
    });
    const meanOf = (rewards: readonly number[] = []): number => mean(rewards) ?? 0;
    const shared = [...all[0].keys()].filter(id => all[1].has(id));
    return {
      runs: runs as unknown as readonly [RunTasks, RunTasks],
      shared: shared.length,
      difference: meanOf(shared.map(id => meanOf(all[1].get(id)) - meanOf(all[0].get(id)))),
      mean: meanOf(taskMeans([...all[1].values()])),
    };
  }

  it('covers the difference over the tasks of both, and that of the listed rewards', () => {
    for (let round = 0; round < 300; round++) {
      const { runs, shared, difference } = pairOf();
      const compared = summariseComparison(...runs);
      const { interval } = compared;
      if (!interval) continue;
      const [low, high] = limitsOf(filled(runs, { missing: 'bound', range: [0, 1] }));
      notAbove(low, difference);
      notAbove(difference, high);
      for (const inside of [difference, compared.difference ?? 0]) {
        notAbove(interval.low, inside);
        notAbove(inside, interval.high);
        expect(compared.gate(inside + 1e-6).outcome).not.toBe('passed');
        expect(compared.gate(inside - 1e-6).outcome).not.toBe('failed');
      }
      const surelyShared = compared.tasks - compared.unsure;
      notAbove(surelyShared, shared);
      notAbove(shared, compared.tasks);
      notAbove(shared - compared.pairs, compared.lacking);
      notAbove(compared.lacking - compared.unsure, shared - compared.pairs);
    }
  });

  it('covers the mean of the tasks of a run', () => {
    for (let round = 0; round < 300; round++) {
      const { runs, mean: whole } = pairOf();
      const run = taskMean(runs[1], [0, 1]);
      if (run.mean === undefined || run.isOpen) continue;
      const [low, high] = run.bounds ?? [run.mean, run.mean];
      notAbove(low, whole);
      notAbove(whole, high);
    }
  });
});

it('has the limits of all assignments for a difference, if the assignments are all and both runs have the same tasks', () => {
  const random = new Random('difference');
  for (let round = 0; round < 150; round++) {
    const [count, each] = [random.between(1, 4), random.between(1, 2)];
    const { all, run } = partOf(random, count, each);
    const base = Array.from({ length: count }, () => [random.pick([0, 0.25, 1])]);
    const whole: RunTasks = { tasks: base, total: count, end: 'complete' };
    const [low, high] = limitsOf(filled([whole, run], { missing: 'bound', range: [0, 1] }));
    // A task without a reward counts where that is worse.
    const rated = [...all.keys()].filter(task => all[task]?.some(reward => reward !== undefined));
    const others = [...all.keys()].filter(task => !rated.includes(task));
    const ways = Array.from({ length: 2 ** others.length }, (_, way) => [
      ...rated,
      ...others.filter((_task, at) => (way >> at) & 1),
    ]).filter(tasks => tasks.length > 0);
    const differences = ways.flatMap(tasks => {
      const [before, after] = [tasks.map(task => base[task] ?? []), tasks.map(task => all[task] ?? [])];
      return [...assignments(after, each)].map(
        values => (mean(taskMeans(values)) ?? 0) - (mean(taskMeans(before)) ?? 0),
      );
    });
    expect([low, high]).toEqual(extremes(differences).map(limit => expect.closeTo(limit, 12)));
  }
});

it('uses only the number of rollouts per task in the options, unless that does not fit', () => {
  const tasks = Array.from({ length: 6 }, () => [1]);
  const of = (samplesPerTask: number | undefined, more: Partial<RunTasks> = {}) =>
    taskMean({ tasks, total: 32, samplesPerTask, end: 'complete', ...more }, [0, 1]).allTasks;
  // Without options, a task may have 1, 2 or 4 of 32.
  expect([of(undefined), of(1), of(2), of(4)]).toEqual([undefined, 32, 16, 8]);
  expect([of(3), of(8)]).toEqual([undefined, undefined]);
  expect(of(1, { tasks: [[1, 1], ...tasks.slice(1)] })).toBeUndefined();
});

it('leaves open which tasks a run has if its number of rollouts contradicts its options', () => {
  const run = {
    tasks: [
      [1, 1],
      [0, 0, 1],
    ],
    total: 10,
    end: 'complete',
  } as const;
  const { allTasks, bounds } = taskMean({ ...run, samplesPerTask: 4 }, [0, 1]);
  expect(allTasks).toBeUndefined();
  expect(bounds?.[0]).toBeLessThan(0.25);
  expect(bounds?.[1]).toBeGreaterThan(0.83);
});

it('counts a task that only the other run lists, even if the rollouts of this one fill its own tasks', () => {
  const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
  const none: TaskRewards = [];
  const base = { tasks: [...times(12, times(4, 0)), ...times(12, times(4, 1))], total: 96, end: 'complete' } as const;
  const tasks = [...times(10, times(4, 1)), ...times(14, none)];
  for (const more of [
    { end: 'stopped', samplesPerTask: 4 },
    { end: 'stopped' },
    { end: 'complete', samplesPerTask: 4 },
  ]) {
    const limits = limitsOf(
      filled([base, { tasks, total: 50, ...more } as RunTasks], { missing: 'bound', range: [0, 1] }),
    );
    expect(limits[0]).toBeLessThan(0);
  }
});
