import { type Profiler, Session } from 'node:inspector/promises';
import { expect, it } from 'vitest';
import { type FallingValues, lowestOfEvery } from '../../../src/present/statistics/filled.ts';
import { Random } from '../../../tools/rig/random.ts';

/** The same, added up again for each limit. */
function addedUp(tasks: readonly FallingValues[], budget: number, size: number): number[] {
  const limits = [...new Set(tasks.flatMap(({ values }) => values))].sort((one, next) => one - next);
  const counts = limits.map(limit => {
    const costs = tasks.flatMap(({ first, values }) => {
      const at = values.findIndex(value => value <= limit);
      return at < 0 ? [] : [first + at];
    });
    costs.sort((one, next) => one - next);
    return costs.filter((_, at) => costs.slice(0, at + 1).reduce((sum, cost) => sum + cost, 0) <= budget).length;
  });
  return Array.from({ length: size }, (_, place) => limits[counts.findIndex(count => count > place)]).filter(
    limit => limit !== undefined,
  );
}

/** The runs of the part of the module that runs most often. Only code that is loaded while they are counted has counts. */
async function mostRuns(work: (module: { lowestOfEvery: typeof lowestOfEvery }) => void): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    work(await import(`${new URL('../../../src/present/statistics/filled.ts', import.meta.url).href}?counted`));
    const { result } = (await session.post('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType;
    const functions = result.filter(({ url }) => url.endsWith('counted')).flatMap(script => script.functions);
    return Math.max(...functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)));
  } finally {
    session.disconnect();
  }
}

it('finds the lowest values that rollouts without a task can give', () => {
  const random = new Random('falling');
  for (let round = 0; round < 3_000; round++) {
    const tasks = Array.from({ length: random.between(0, 5) }, (): FallingValues => {
      const falls = Array.from({ length: random.between(1, 6) }, () => random.between(0, 8) / 8);
      return { first: random.between(0, 2), values: falls.sort((one, next) => next - one) };
    });
    const [budget, size] = [random.between(0, 16), random.between(0, 6)];
    expect(lowestOfEvery(tasks, budget, size)).toEqual(addedUp(tasks, budget, size));
  }
});

it('takes few steps for each value, for any number of rollouts', async () => {
  const [tasks, each] = [8, 2_000];
  const falling = Array.from(
    { length: tasks },
    (_, task): FallingValues => ({
      first: 0,
      values: Array.from({ length: each }, (_value, at) => (1 + task / 100) / (at + 1)),
    }),
  );
  const runs = await mostRuns(module => module.lowestOfEvery(falling, each, tasks));
  expect(runs).toBeGreaterThanOrEqual(tasks * each);
  expect(runs).toBeLessThan(10 * tasks * each);
});
