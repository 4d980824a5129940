/** The difference of runs to the baseline of their benchmark. */
import { describe, expect, it } from 'vitest';
import { compareDefaults } from '../../src/config/preferences.ts';
import { cellText } from '../../src/present/column.ts';
import { rememberedDifference } from '../../src/queries/run-difference.ts';
import type { ReadRewards } from '../../src/queries/run-extent.ts';
import { certaintyOf } from '../../src/queries/run-mean.ts';
import {
  baselineColumns,
  baselineOf,
  describeBaseline,
  finalDifference,
  fromBaseline,
  knownFromBaseline,
  toggleBaseline,
} from '../../src/resources/baseline.ts';
import { runListColumns } from '../../src/resources/run-columns.ts';
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
  it('is stored per benchmark of a service, until it is removed', () => {
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

  it('is compared by task if the rewards are known', () => {
    const [before, after] = [
      Array.from({ length: 40 }, (_, at) => at / 40),
      Array.from({ length: 40 }, (_, at) => (at + 1) / 40),
    ];
    const base = { run: run('evr_1', 0.4875), rewards: rewarded(before) };
    const fresh = { run: run('evr_2', 0.5125), rewards: rewarded(after) };
    const paired = fromBaseline(base, fresh, compareDefaults);
    expect(paired.isBaseline).toBe(false);
    expect(paired.difference).toBeCloseTo(0.025);
    expect(paired.interval).toBeDefined();
    const cells = all({ ...fresh.run, from_baseline: paired });
    expect(cells).toMatchObject({ difference: '+0.0250' });
    expect(cells['difference-interval']).toMatch(/^-0\.\d+\.\.\+0\.\d+$/);
    expect(describeBaseline({ ...fresh.run, from_baseline: paired })).toMatch(/^\+0\.0250, 95% .*, paired by task$/);
    expect(all({ ...base.run, from_baseline: fromBaseline(base, base, compareDefaults) })).toEqual({
      ...{ difference: 'baseline', 'difference-interval': '' },
    });
  });

  it('has no interval while the service reports neither the end of a run nor its number of rollouts (B3)', () => {
    const values = Array.from({ length: 40 }, (_, at) => at / 40);
    const open = { ...rewarded(values), status: undefined, total: undefined };
    const base = { run: run('evr_1', 0.4875), rewards: rewarded(values) };
    const paired = fromBaseline(base, { run: run('evr_2', 0.5125), rewards: open }, compareDefaults);
    expect(paired).toMatchObject({ difference: 0, interval: undefined });
  });

  it('is never computed from means over different tasks, but from common tasks, or unknown (A5)', () => {
    const hard = Array.from({ length: 20 }, () => 0.3);
    const base = { run: run('evr_1', 0.5), rewards: rewarded([...hard, ...Array.from({ length: 10 }, () => 0.9)]) };
    const fresh = { run: run('evr_2', 0.4), rewards: rewarded(hard.map(() => 0.4)) };
    expect(fromBaseline(base, fresh, compareDefaults).difference).toBeCloseTo(0.1);
    for (const [one, other] of [
      [{ run: base.run }, fresh],
      [base, { run: fresh.run }],
      [base, { ...fresh, rewards: rewarded([]) }],
    ] as const) {
      const from_baseline = fromBaseline(one, other, compareDefaults);
      expect(all({ ...fresh.run, from_baseline })['difference']).toBe('');
      expect(describeBaseline({ ...fresh.run, from_baseline })).toBeUndefined();
    }
  });
});

describe('a remembered difference', () => {
  const [before, after] = [Array.from({ length: 40 }, () => 0.25), Array.from({ length: 40 }, () => 0.75)];
  const extent = { status: 'completed', total: 40 };
  const ended = (values: readonly number[]): ReadRewards => {
    const rewards = rewarded(values);
    return { ...rewards, certainty: certaintyOf(rewards.rewards, extent) };
  };
  const [base, fresh] = [run('evr_1', 0.25), run('evr_2', 0.75)];
  const from = fromBaseline(
    { run: base, rewards: ended(before) },
    { run: fresh, rewards: ended(after) },
    compareDefaults,
  );
  const known = finalDifference({ base: ended(before), fresh: ended(after) }, from, compareDefaults);

  it('belongs to two completed runs', () => {
    expect(known).toMatchObject({ baseline: 'evr_1', difference: 0.5, interval: from.interval });
    for (const running of [
      { base: rewarded(before), fresh: ended(after) },
      { base: ended(before), fresh: rewarded(after) },
    ])
      expect(finalDifference(running, from, compareDefaults)).toBeUndefined();
  });

  it('belongs to the range of rewards of its interval', () => {
    const runs = { base, run: fresh };
    expect(knownFromBaseline(known, runs, compareDefaults)).toMatchObject({ difference: 0.5, interval: from.interval });
    expect(knownFromBaseline(known, runs, { ...compareDefaults, rewardRange: [0, 2] })).toBeUndefined();
    expect(knownFromBaseline(known, runs, { ...compareDefaults, rewardRange: [-1, 1] })).toBeUndefined();
  });

  it('belongs to the status that the run ended with', () => {
    const seen = { find: () => ({ status: 'cancelled', difference: known }) } as never;
    expect(rememberedDifference({ seen }, 'evr_2', 'cancelled')).toEqual(known);
    expect(rememberedDifference({ seen }, 'evr_2', 'completed')).toBeUndefined();
  });

  it('is computed again if it came from another version of the method, or has no version', () => {
    for (const method of [(known?.method ?? 0) - 1, undefined]) {
      const seen = { find: () => ({ status: 'cancelled', difference: { ...known, method } }) } as never;
      expect(rememberedDifference({ seen }, 'evr_2', 'cancelled')).toBeUndefined();
    }
  });
});

it('shows the mean of a run with its interval once its rewards were read, and with its duration', () => {
  const row = { ...run('evr_1', 0.5), created_at: '2026-01-01T00:00:00Z', completed_at: '2026-01-01T00:01:30Z' };
  const rewards = Array.from({ length: 40 }, (_, at) => ({ task_id: `${at}`, trajectory_id: `${at}`, reward: at % 2 }));
  const of = (more: object) => {
    const texts = runListColumns([0, 1], true).map(column => [column.title, cellText(column, { ...row, ...more })]);
    return Object.fromEntries(texts) as Record<string, string>;
  };
  const texts = of({ certainty: certaintyOf(rewards, { status: 'completed', total: 40 }) });
  expect(texts['95% CI']).toMatch(/^0\.33\d\.\.0\.66\d$/);
  expect(texts).toMatchObject({ TOOK: '1m 30s', N: '40', TOTAL: '40' });
  expect(of({})['95% CI']).toBe('');
});
