/**
 * The baseline of a benchmark: the evaluation run that the others are compared with. The user chooses it; this machine
 * remembers it for each benchmark of a service.
 */
import type { EvalRun } from '../contract/evaluations.ts';
import type { Column } from '../present/column.ts';
import { intervalColumn } from '../present/number-columns.ts';
import { comparisonDefaults } from '../present/statistics/comparison.ts';
import type { Interval } from '../present/statistics/interval.ts';
import { compareTasks } from '../queries/compare.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { ReadRewards } from '../queries/run-extent.ts';
import type { RememberedStore } from '../store/store.ts';
import { difference, type reward } from '../text/numbers.ts';
import { compareRuns } from './comparison.ts';
import type { MeasuredRun } from './measured-run.ts';

type Settings = Pick<RememberedStore, 'setting' | 'setSetting'>;

const settingOf = (benchId: string): string => `baseline.${benchId}`;

/** The id of the baseline of a benchmark, if there is one. */
export function baselineOf(memory: Settings, benchId: string | null | undefined): string | undefined {
  const id = benchId ? memory.setting(settingOf(benchId)) : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Makes a run the baseline of its benchmark, or unsets it if it already is. Returns a sentence. */
export function toggleBaseline(memory: Settings, { eval_run_id, bench_id, display_name }: EvalRun): string {
  if (!bench_id) return 'Its benchmark is unknown';
  const isOn = baselineOf(memory, bench_id) !== eval_run_id;
  memory.setSetting(settingOf(bench_id), isOn ? eval_run_id : null);
  const name = display_name ?? eval_run_id;
  return isOn ? `${name} is the baseline of its benchmark` : `${name} is no longer the baseline`;
}

/** How a run differs from the baseline of its benchmark. */
export interface FromBaseline {
  readonly baseline: string;
  readonly isBaseline: boolean;
  /** Its mean minus that of the baseline, over the tasks in both: means over other tasks may differ the other way. */
  readonly difference?: number | undefined;
  readonly interval?: Interval | undefined;
}

/** A run of a list with its difference to the baseline, if there is one. */
export type BasedRun = MeasuredRun & { readonly from_baseline?: FromBaseline | undefined };

/** A run, and its rewards if they were read. */
export interface RewardedRun {
  readonly run: MeasuredRun;
  readonly rewards?: ReadRewards | undefined;
}

/** The difference between a run and the baseline over the tasks in both; unknown until the rewards of both are read. */
export function fromBaseline(base: RewardedRun, fresh: RewardedRun, settings: QueryContext['compare']): FromBaseline {
  const baseline = base.run.eval_run_id;
  const isBaseline = fresh.run.eval_run_id === baseline;
  if (isBaseline || !base.rewards || !fresh.rewards) return { baseline, isBaseline };
  const { equalWithin, rewardRange: range } = settings ?? {
    ...comparisonDefaults,
    rewardRange: comparisonDefaults.range,
  };
  const tasks = compareTasks(base.rewards, fresh.rewards);
  const { difference, isConditional, interval } = compareRuns(tasks, { ...comparisonDefaults, equalWithin, range });
  return { baseline, isBaseline, difference, interval: isConditional ? undefined : interval };
}

/** A run without a difference is the baseline, or shares no task with it, or is not read. */
const differenceText = ({ from_baseline: from }: BasedRun): string => {
  if (!from) return '';
  return from.isBaseline ? 'baseline' : from.difference === undefined ? '' : difference(from.difference);
};

export const baselineColumns: readonly Column<BasedRun>[] = [
  {
    id: 'difference',
    title: 'VS BASE',
    width: 8,
    align: 'right',
    ifAny: true,
    forPrograms: true,
    value: ({ from_baseline: from }) => (from?.isBaseline ? 0 : from?.difference),
    text: differenceText,
  },
  {
    ...intervalColumn<BasedRun>(row => row.from_baseline?.interval, {
      id: 'difference-interval',
      title: 'VS BASE 95% CI',
      text: difference as typeof reward,
    }),
    width: 15,
    ...{ ifAny: true, wide: true, forPrograms: true },
  },
];

/** The difference in words: `+0.120, 95% between +0.050 and +0.190, paired by task`. */
export function baselineWords({ from_baseline: from }: BasedRun): string | undefined {
  if (!from) return undefined;
  if (from.isBaseline) return 'this run';
  if (from.difference === undefined) return undefined;
  const { interval } = from;
  const between = interval && `95% between ${difference(interval.low)} and ${difference(interval.high)}`;
  return [difference(from.difference), between, 'paired by task'].filter(Boolean).join(', ');
}
