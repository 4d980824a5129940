/** The difference of runs to the baseline of their benchmark. */
import { describe, expect, it } from 'vitest';
import { compareDefaults } from '../../src/config/preferences.ts';
import { cellText } from '../../src/present/column.ts';
import { differenceOfMeans, intervalOfMean } from '../../src/present/statistics/mean-and-count.ts';
import type { ReadRewards } from '../../src/queries/run-extent.ts';
import {
  baselineColumns,
  baselineOf,
  baselineWords,
  fromBaseline,
  toggleBaseline,
} from '../../src/resources/baseline.ts';
import { runListColumns } from '../../src/resources/runs.ts';
import { RememberedStore } from '../../src/store/store.ts';

const run = (id: string, reward_mean: number, count = 40) => ({
  ...{ eval_run_id: id, bench_id: 'bench_1', status: 'completed', reward_mean },
  ...{ reward_count: count, total_rollouts: 40 },
});
const rewarded = (values: readonly number[]): ReadRewards => ({
  rewards: values.map((reward, index) => ({ reward, task_id: `task ${index}`, trajectory_id: `traj ${index}` })),
  ...{ status: 'completed', total: values.length, listed: values.length },
});
const all = (row: object) =>
  Object.fromEntries(baselineColumns.map(column => [column.id, cellText(column, row as never)]));

describe('the baseline', () => {
  it('is kept for each benchmark of a service, until it is taken back', () => {
    const memory = RememberedStore.inMemory('service');
    expect(baselineOf(memory, 'bench_1')).toBeUndefined();
    expect(toggleBaseline(memory, run('evr_1', 0.5))).toBe('evr_1 is the baseline of its benchmark');
    expect(toggleBaseline(memory, { ...run('evr_3', 0.5), bench_id: 'bench_2' })).toContain('is the baseline');
    toggleBaseline(memory, run('evr_2', 0.5));
    expect([baselineOf(memory, 'bench_1'), baselineOf(memory, 'bench_2')]).toEqual(['evr_2', 'evr_3']);
    expect(toggleBaseline(memory, run('evr_2', 0.5))).toBe('evr_2 is no longer the baseline');
    expect(baselineOf(memory, 'bench_1')).toBeUndefined();
    memory.close();
  });

  it('is compared by task where the rewards are known', () => {
    const [before, after] = [
      Array.from({ length: 40 }, (_, at) => at / 40),
      Array.from({ length: 40 }, (_, at) => (at + 1) / 40),
    ];
    const base = { run: run('evr_1', 0.4875), rewards: rewarded(before) };
    const fresh = { run: run('evr_2', 0.5125), rewards: rewarded(after) };
    const paired = fromBaseline(base, fresh, compareDefaults);
    expect(paired).toMatchObject({ basis: 'paired', isBaseline: false });
    expect(paired.difference).toBeCloseTo(0.025);
    const unpaired = fromBaseline({ run: base.run }, fresh, compareDefaults);
    expect(unpaired.basis).toBe('unpaired');
    const width = ({ low = 0, high = 0 } = {}) => high - low;
    expect(width(paired.interval)).toBeLessThan(width(unpaired.interval) / 2);
    const cells = all({ ...fresh.run, from_baseline: paired });
    expect(cells).toMatchObject({ difference: '+0.0250', basis: 'paired' });
    expect(cells['difference-interval']).toMatch(/^-0\.\d+\.\.\+0\.\d+$/);
    expect(baselineWords({ ...fresh.run, from_baseline: unpaired })).toContain('not paired: from the means alone');
    expect(all({ ...base.run, from_baseline: fromBaseline(base, base, compareDefaults) })).toEqual({
      ...{ difference: 'baseline', 'difference-interval': '', basis: '' },
    });
  });

  it('says nothing of a run without a mean, and no interval without the number of rewards', () => {
    const { reward_count: _, total_rollouts: __, ...uncounted } = run('evr_2', 0.5);
    const base = { run: run('evr_1', 0.4) };
    const plain = fromBaseline(base, { run: uncounted }, compareDefaults);
    expect(plain.difference).toBeCloseTo(0.1);
    expect(plain.interval).toBeUndefined();
    expect(all({ ...uncounted, from_baseline: plain })).toMatchObject({ difference: '+0.100', basis: '' });
    const none = { eval_run_id: 'evr_3', bench_id: 'bench_1', status: 'running' };
    expect(all({ ...none, from_baseline: fromBaseline(base, { run: none }, compareDefaults) })['difference']).toBe('');
  });
});

it('two means without their rewards differ by what both intervals allow', () => {
  const [base, fresh] = [
    { mean: 0.3, samples: 50, missing: 0 },
    { mean: 0.7, samples: 50, missing: 0 },
  ];
  const interval = differenceOfMeans(base, fresh, [0, 1]);
  expect(interval?.low).toBeGreaterThan(0);
  expect(interval?.low).toBeLessThan((intervalOfMean(0.7, 50)?.low ?? 0) - (intervalOfMean(0.3, 50)?.high ?? 0));
  expect(differenceOfMeans(base, { ...fresh, samples: undefined }, [0, 1])).toBeUndefined();
  expect(differenceOfMeans(base, { ...fresh, missing: 30 }, [0, 1])?.low).toBeLessThan(interval?.low ?? 0);
});

it('the mean of a run stands with its interval and its duration', () => {
  const row = { ...run('evr_1', 0.5), created_at: '2026-01-01T00:00:00Z', completed_at: '2026-01-01T00:01:30Z' };
  const texts = new Map(runListColumns([0, 1]).map(column => [column.title, cellText(column, row)]));
  expect(texts.get('95% CI')).toMatch(/^0\.33\d\.\.0\.66\d$/);
  expect(texts.get('TOOK')).toBe('1m 30s');
  expect([texts.get('N'), texts.get('TOTAL')]).toEqual(['40', '40']);
});
