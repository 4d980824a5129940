import { expect, it } from 'vitest';
import { mean } from '../../../src/base/statistics.ts';
import { type TaskRewards, taskMean } from '../../../src/present/statistics/tasks.ts';
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
