/** Several runs against one baseline. */
import { describe, expect, it } from 'vitest';
import { cellText, fittingText } from '../../src/present/column.ts';
import { comparisonDefaults, summariseComparison } from '../../src/present/statistics/comparison.ts';
import { confidenceOfEach } from '../../src/present/statistics/family.ts';
import { evidenceFor, intervalDefaults } from '../../src/present/statistics/interval.ts';
import type { RunTasks } from '../../src/present/statistics/tasks.ts';
import type { ComparedRun } from '../../src/queries/compare.ts';
import {
  describeFamilyIntervals,
  gridColumns,
  gridFacts,
  gridOf,
  gridTasks,
  taskColumns,
} from '../../src/resources/comparison-grid.ts';
import { Random } from '../../tools/rig/random.ts';

const run = (id: string, rewards: readonly number[]): ComparedRun => ({
  ...{ id, name: `run ${id}` },
  read: {
    rewards: rewards.map((reward, index) => ({ reward, task_id: `task ${index}`, trajectory_id: `${id} ${index}` })),
    ...{ status: 'completed', total: rewards.length, listed: rewards.length },
  },
});
const base = Array.from({ length: 40 }, (_, index) => 0.3 + 0.4 * Math.sin(index) ** 2);
const shifted = (by: number) => base.map((value, index) => value + by + 0.1 * Math.sin(7 * index));
const runs = [
  run('evr_0', base),
  run('evr_1', shifted(0.2)),
  run('evr_2', shifted(0.02)),
  run('evr_3', shifted(-0.15)),
];

describe('a grid of runs', () => {
  it('compares each with the baseline, with simultaneous intervals', () => {
    const grid = gridOf(runs, 'evr_0');
    expect(grid.confidence).toBeCloseTo(1 - 0.05 / 3);
    expect(describeFamilyIntervals(grid, 0.95)).toBe('98.3% CI each, so that all 3 hold at 95% (Bonferroni)');
    const cells = grid.rows.map(row => gridColumns(grid.confidence).map(column => cellText(column, row)));
    expect(cells.map(row => row.slice(0, 5))).toEqual([
      ['run evr_0', 'A', expect.any(String), '', 'baseline'],
      ['run evr_1', 'B', expect.any(String), expect.stringMatching(/^\+0\.(20|19)/), 'better'],
      ['run evr_2', 'C', expect.any(String), expect.stringMatching(/^\+0\.0/), 'undecided'],
      ['run evr_3', 'D', expect.any(String), expect.stringMatching(/^-0\.1/), 'worse'],
    ]);
    const [, better] = grid.rows;
    const alone = gridOf(runs.slice(0, 2), 'evr_0').rows[1];
    const width = (row: typeof better) => (row?.compared.interval?.high ?? 0) - (row?.compared.interval?.low ?? 0);
    expect(width(better)).toBeGreaterThan(width(alone));
    expect(describeFamilyIntervals(gridOf(runs.slice(0, 2), 'evr_0'), 0.95)).toBe('');
    expect(better && gridFacts(better).find(({ label }) => label === 'interval')?.value).toMatch(/^98\.3% CI \+/);
  });

  it('follows the chosen baseline', () => {
    const rows = gridOf(runs, 'evr_3').rows;
    expect(rows.map(({ isBase }) => isBase)).toEqual([false, false, false, true]);
    expect(rows[0]?.compared.verdict.kind).toBe('better');
    expect(gridOf([], 'evr_3').rows).toEqual([]);
  });

  it('shows the tasks in all runs, the largest spread first', () => {
    const { rows } = gridOf(runs, 'evr_0');
    const tasks = gridTasks([...runs.slice(0, 3), run('evr_3', base.slice(0, 39))]);
    expect(tasks).toHaveLength(40);
    const spreads = tasks.map(({ spread = 0 }) => spread);
    expect(spreads).toEqual(spreads.toSorted((one, other) => other - one));
    const last = tasks.find(({ task_id }) => task_id === 'task 39');
    expect(last?.means[3]).toBeUndefined();
    expect(taskColumns(rows).map(({ title }) => title)).toEqual(['TASK', 'A', 'B', 'C', 'D', 'SPREAD']);
  });
});

describe('the names of compared runs', () => {
  const named = (id: string, name: string, more: Partial<ComparedRun> = {}) => ({ ...run(id, base), name, ...more });
  const namesOf = (...compared: readonly ComparedRun[]) => {
    const { rows, confidence } = gridOf(compared, compared[0]?.id ?? '');
    const [column] = gridColumns(confidence);
    const fact = (row: (typeof rows)[number]) => gridFacts(row).find(({ label }) => label === 'differs in')?.value;
    return rows.map(row => [row.title, column && fittingText(column, row, 8), fact(row)]);
  };

  it('differ in a narrow column, even from runs of another name', () => {
    const models = ['v/clerk-base', 'v/clerk-small', 'v/clerk-small'];
    const runs = models.map((model, index) =>
      named(`${index}`, index < 2 ? 'first evaluation' : 'second one', { model }),
    );
    expect(namesOf(...runs).map(([, short]) => short)).toEqual([
      'first evaluation (clerk-base)',
      'first evaluation (clerk-small)',
      'second one',
    ]);
    expect(namesOf(...runs.slice(0, 2)).map(([, short]) => short)).toEqual(['clerk-base', 'clerk-small']);
    const taken = namesOf(...runs.slice(0, 2), named('m', 'clerk-base', { model: 'v/other' }));
    expect(new Set(taken.map(([, short]) => short)).size).toBe(3);
  });

  it('differ even if most other runs belong to one model', () => {
    const others = ['B', 'C', 'D'].map(name => named(name, name, { model: 'v/m2' }));
    const titles = namesOf(named('1', 'A', { model: 'v/m1' }), named('2', 'A', { model: 'v/m2' }), ...others);
    expect(titles.map(([title]) => title)).toEqual(['A (m1)', 'A (m2)', 'B', 'C', 'D']);
  });

  it('have the whole model if only its beginning differs', () => {
    const models = ['words step 5', 'lr/words step 5'];
    expect(namesOf(...models.map((model, index) => named(`${index}`, 'A', { model }))).map(([title]) => title)).toEqual(
      ['A (words step 5)', 'A (lr/words step 5)'],
    );
  });

  it('cut a long option, unless only the cut part differs (C7)', () => {
    const prompts = ['x', 'y'].map(each => `${each}${'a'.repeat(200)}`);
    const titlesOf = (values: readonly string[]) =>
      namesOf(...values.map((prompt, index) => named(`${index}`, 'A', { options: { prompt } }))).map(
        ([title]) => title,
      );
    expect(titlesOf(prompts)).toEqual(['x', 'y'].map(each => `A (prompt ${each}aaaaaaaaaaa…aaaaaaaaaaa)`));
    const middle = ['x', 'y'].map(each => `${'a'.repeat(20)}${each}${'a'.repeat(20)}`);
    expect(titlesOf(middle)).toEqual(middle.map(prompt => `A (prompt ${prompt})`));
  });

  it('count the runs of a pool once, and are never empty', () => {
    const pools = [
      ['1', '4'],
      ['2', '5'],
    ].map((pool, index) => named(`${index}`, 'a pool +1', { pool, model: 'v/m' }));
    expect(namesOf(...pools)).toEqual(pools.map(() => ['a pool +1', 'a pool +1', undefined]));
    const differing = pools.map((pool, k) => ({ ...pool, options: { k } }));
    expect(namesOf(...differing)).toEqual([0, 1].map(k => [`a pool +1 (k ${k})`, `k ${k} +1`, `k ${k}`]));
  });
});

it('says how many tasks would show half of the difference', () => {
  const tasks = (values: readonly number[]): RunTasks => ({ tasks: values.map(value => [value]), end: 'complete' });
  const compared = (values: readonly number[]) => summariseComparison(tasks(base), tasks(values), comparisonDefaults);
  const small = compared(shifted(0.03)).tasksForHalf() ?? 0;
  const large = compared(shifted(0.2)).tasksForHalf() ?? 0;
  expect(small).toBeGreaterThan(4 * large);
  expect(compared(base).tasksForHalf()).toBeUndefined();
  // With so many of the same tasks, half of the difference is shown indeed, and with half as many it is not.
  const shows = (count: number): boolean => {
    const index = Array.from({ length: count }, (_, at) => at % base.length);
    const [before, after] = [base, shifted(0.03 - 0.015)].map(values => tasks(index.map(at => values[at] ?? 0)));
    return before && after ? evidenceFor([before, after], intervalDefaults).shows('above', 0, 1) : false;
  };
  const half = compared(shifted(0.03)).difference ?? 0;
  expect(half).toBeGreaterThan(0.02);
  expect(shows(small * 2)).toBe(true);
  expect(shows(small / 4)).toBe(false);
});

it('gives intervals that hold together at least as often as they claim', () => {
  const random = new Random('family');
  const comparisons = 7;
  const count = 200;
  const draws = 600;
  /** In how many draws at least one of the runs, which are all equal, seems to differ. */
  const wrong = (confidence: number): number => {
    let found = 0;
    for (let draw = 0; draw < draws; draw++) {
      const sample = (): RunTasks => ({ tasks: Array.from({ length: count }, () => [random.next()]), end: 'complete' });
      const first = sample();
      const others = Array.from({ length: comparisons }, sample);
      const differs = others.some(other => {
        const { shows } = evidenceFor([first, other], { ...intervalDefaults, confidence });
        return shows('above', 0, 1) || shows('below', 0, 1);
      });
      if (differs) found += 1;
    }
    return found / draws;
  };
  expect(wrong(confidenceOfEach(comparisons, 0.95))).toBeLessThanOrEqual(0.05);
  // Without the correction they do not.
  expect(wrong(0.95)).toBeGreaterThan(0.08);
});
