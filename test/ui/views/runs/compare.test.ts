import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compareTasks } from '../../../../src/queries/compare.ts';
import { comparisonLines } from '../../../../src/ui/views/runs/compare.tsx';
import { comparePlace } from '../../../../src/ui/views/runs/use-run-actions.tsx';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const rewarded = (task_id: string | null, reward: number | null, trajectory_id = `traj_${task_id}`) => ({
  task_id,
  reward,
  trajectory_id,
});
const lines = (tasks: Parameters<typeof comparisonLines>[0], width = 120): string[] =>
  comparisonLines(tasks, { base: 'untrained', new: 'trained' }, width, createTheme()).map(line =>
    stripVTControlCharacters(line),
  );

describe('compareTasks', () => {
  it('pairs the tasks of two runs, with the mean of several rollouts', () => {
    const tasks = compareTasks(
      [rewarded('a', 0.2), rewarded('a', 0.4), rewarded('b', 0), rewarded('c', 1), rewarded(null, 1)],
      [rewarded('a', 0.5, 'traj_new'), rewarded('b', null), rewarded('d', 1)],
    );
    expect(tasks.map(({ task_id }) => task_id)).toEqual(['a', 'b', 'c', 'd']);
    expect(tasks[0]).toMatchObject({ new: 0.5, trajectory_id: 'traj_new' });
    expect(tasks[0]?.base).toBeCloseTo(0.3);
    expect(tasks[0]?.difference).toBeCloseTo(0.2);
    // A missing reward is no zero.
    expect(tasks[1]).toMatchObject({ base: 0, new: undefined, difference: undefined });
    expect(tasks[2]).toMatchObject({ base: 1, new: undefined, trajectory_id: 'traj_c' });
  });
});

describe('comparisonLines', () => {
  const run = (values: readonly number[]) => values.map((value, index) => rewarded(`t${index}`, value));

  it('say the means, the paired difference, its interval, and who did better where', () => {
    const said = lines(compareTasks(run([0.1, 0.2, 0.3, 0.4]), run([0.5, 0.55, 0.8, 0.4])));
    expect(said.slice(0, 2)).toEqual(['base  0.250 of 4 tasks  untrained', 'new   0.563 of 4 tasks  trained']);
    // Differences 0.4, 0.35, 0.5, 0: mean 0.3125, s 0.2175, t(0.975, 3) 3.182.
    expect(said[2]).toBe('diff  +0.313  95% between -0.0335 and +0.659');
    expect(said.slice(3)).toEqual([
      '      No clear difference',
      '      new is higher on 3, lower on 0, same on 1 of 4',
    ]);
  });

  it('are sure only where the interval leaves no doubt', () => {
    const [low, high] = [run([0.1, 0.12, 0.11, 0.1, 0.13]), run([0.8, 0.81, 0.83, 0.79, 0.82])];
    expect(lines(compareTasks(low, high))[3]).toBe('      The new run is better');
    expect(lines(compareTasks(high, low))[3]).toBe('      The base is better');
    expect(lines(compareTasks(run([0.1]), run([0.9]))).slice(2)).toEqual([
      'diff  +0.800  from one task only',
      '      No clear difference',
      '      new is higher on 1, lower on 0, same on 0 of 1',
    ]);
  });

  it('say if nothing can be compared', () => {
    expect(lines(compareTasks([rewarded('a', 1)], [rewarded('b', 1)])).at(-1)).toBe('No task has a reward in both.');
  });

  it('keep to the width without losing a word of the result', () => {
    const said = lines(compareTasks(run([0.1, 0.5]), run([0.2, 0.9])), 30);
    for (const line of said) expect(line.length).toBeLessThan(31);
    expect(said.join(' ').replace(/ +/g, ' ')).toContain('new is higher on 2, lower on 0, same on 0 of 2');
    expect(said.at(-1)).toMatch(/^ {6}\S/);
  });
});

it('takes the earlier run as the base', () => {
  const run = (eval_run_id: string, created_at: string) =>
    ({ eval_run_id, created_at }) as Parameters<typeof comparePlace>[0];
  const place = comparePlace(run('evr_new', '2026-02-01T00:00:00Z'), run('evr_old', '2026-01-01T00:00:00Z'));
  expect(place).toMatchObject({
    view: 'compare',
    base: { id: 'evr_old' },
    new: { id: 'evr_new', name: 'evr_new' },
  });
});
