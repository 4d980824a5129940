/**
 * The baseline of a benchmark: the evaluation run that other runs are compared with. The user chooses it, and this
 * machine remembers it for each benchmark of a service.
 */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import { type Column, plainColumn } from '../present/column.ts';
import { formatInterval, intervalColumn } from '../present/number-columns.ts';
import { type Interval, intervalMethod } from '../present/statistics/interval.ts';
import { compareTasks } from '../queries/compare.ts';
import { evalRunQuery, evaluationKeys } from '../queries/evaluations.ts';
import type { RecordedMean } from '../queries/extent-of.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import { type QueryContext, readShared } from '../queries/query-context.ts';
import { isDifferenceOf, type RunDifference, rememberedDifference } from '../queries/run-difference.ts';
import { type ReadRewards, readRunRewards } from '../queries/run-extent.ts';
import { isSettled, rememberedCertainty } from '../queries/run-mean.ts';
import { extentOfKnown, observationOf } from '../queries/run-results.ts';
import { meanOfRewards } from '../queries/run-rewards.ts';
import { type KnownResource, knownResource } from '../queries/statuses/known-resource.ts';
import type { RememberedStore } from '../store/store.ts';
import { difference, type reward } from '../text/numbers.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { compareRuns, comparisonOptions } from './comparison.ts';
import { listedCount, listedMean, type MeasuredRun } from './measured-run.ts';
import type { RewardRead } from './watch-reads.ts';

type Settings = Pick<RememberedStore, 'setting' | 'setSetting'>;

const settingOf = (benchId: string): string => `baseline.${benchId}`;

/** The id of a benchmark's baseline, if there is one. */
export function baselineOf(memory: Settings, benchId: string | null | undefined): string | undefined {
  const id = benchId ? memory.setting(settingOf(benchId)) : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Makes a run the baseline of its benchmark, or unsets it if it already is. Returns the sentence to show. */
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
  /**
   * Its mean minus the mean of the baseline, over the tasks in both. Undefined if there are none; absent until the
   * rewards of both have been read.
   */
  readonly difference?: number | undefined;
  readonly interval?: Interval | undefined;
}

/** A run in a list, with any difference from the baseline. */
export type BasedRun = MeasuredRun & { readonly from_baseline?: FromBaseline | undefined };

/** A run, and its rewards if they have been read. */
export interface RewardedRun {
  readonly run: MeasuredRun;
  readonly rewards?: ReadRewards | undefined;
}

type Compare = QueryContext['compare'];

/** A run's difference from the baseline over the tasks in both; unknown until the rewards of both have been read. */
export function fromBaseline(base: RewardedRun, fresh: RewardedRun, settings: Compare): FromBaseline {
  const baseline = base.run.eval_run_id;
  const isBaseline = fresh.run.eval_run_id === baseline;
  if (isBaseline || !base.rewards || !fresh.rewards) return { baseline, isBaseline };
  const tasks = compareTasks(base.rewards, fresh.rewards);
  const { difference, isConditional, interval } = compareRuns(tasks, comparisonOptions(settings));
  return { baseline, isBaseline, difference, interval: isConditional ? undefined : interval };
}

const meanIn = (run: MeasuredRun): RecordedMean => ({ mean: listedMean(run), graded: listedCount(run) ?? undefined });

/** The remembered difference, if it still holds for the rewards of both runs. */
export function knownFromBaseline(
  known: RunDifference | undefined,
  { base, run }: { readonly base: MeasuredRun; readonly run: MeasuredRun },
  settings: Compare,
): FromBaseline | undefined {
  const baseline = base.eval_run_id;
  const means = { base: meanIn(base), new: meanIn(run) };
  const { range } = comparisonOptions(settings);
  if (!known || !hasEnded(run.status) || !isDifferenceOf(known, { baseline, means, range })) return undefined;
  return { baseline, isBaseline: false, difference: known.difference, interval: known.interval };
}

/** The difference to remember: undefined unless both runs had ended before their rewards were read. */
export function finalDifference(
  { base, fresh }: { readonly base: ReadRewards; readonly fresh: ReadRewards },
  { baseline, difference, interval }: FromBaseline,
  settings: Compare,
): RunDifference | undefined {
  if (!base.certainty || !fresh.certainty) return undefined;
  const meanOf = ({ rewards, recorded }: ReadRewards): RecordedMean => {
    const read = meanOfRewards(rewards);
    return { mean: recorded?.mean ?? read.mean, graded: recorded?.graded ?? read.rewards };
  };
  const means = { base: meanOf(base), new: meanOf(fresh) };
  const { range } = comparisonOptions(settings);
  return { baseline, difference, interval, range, method: intervalMethod, means };
}

/** Reads the rewards of an ended baseline. */
const baseRewardsQuery = (known: KnownResource): LiveQuery<ReadRewards> => ({
  key: evaluationKeys.rewards(known.id, { mean: known.mean, graded: known.graded }),
  observes: ({ certainty }) => observationOf(known.id, certainty),
  activity: () => 'settled',
  read: context => readRunRewards(known.id, context, extentOfKnown(known)),
});

/**
 * The reads needed for an ended run's difference from the baseline of its benchmark: the rewards of both. None if the
 * difference is known, or the baseline has not ended.
 */
export function differenceReads(known: KnownResource, workbench: Workbench): readonly RewardRead[] {
  const { remembered, statuses, compare, cache } = workbench;
  const baseline = baselineOf(remembered, known.parent);
  if (baseline === undefined) return [];
  const ref = { kind: 'run', id: baseline, label: baseline };
  const seen = evalRunQuery(baseline).observes?.({
    ...remembered.seen.find('run', baseline)?.record,
    eval_run_id: baseline,
  });
  const base = statuses.get(ref) ?? knownResource(ref, seen ? [seen] : []);
  const readBase = baseRewardsQuery(base);
  if (baseline === known.id) {
    const isKnown = isSettled(known.certainty, known, compare.rewardRange);
    return isKnown ? [] : [{ known, query: readBase }];
  }
  const means = { base: { mean: base.mean, graded: base.graded }, new: { mean: known.mean, graded: known.graded } };
  const isCurrent = (difference: RunDifference | undefined): difference is RunDifference =>
    difference !== undefined && isDifferenceOf(difference, { baseline, means, range: compare.rewardRange });
  if (isCurrent(known.difference) || base.gone || isRunning(base.status)) return [];
  // Another process or an earlier session may have computed the difference.
  const kept = rememberedDifference(remembered, known.id, known.status);
  const query: LiveQuery<Pick<KnownResource, 'certainty' | 'difference'>> = {
    key: evaluationKeys.difference(known.id, baseline, means),
    observes: ({ certainty, difference }) => ({ ...observationOf(known.id, certainty), difference }),
    activity: () => 'settled',
    read: async context => {
      if (isCurrent(kept))
        return { certainty: rememberedCertainty(remembered, known.id, { status: known.status }), difference: kept };
      const ofBase = cache.getQueryData<ReadRewards>(readBase.key) ?? readShared(readBase, context);
      const [base, fresh] = await Promise.all([ofBase, readRunRewards(known.id, context, extentOfKnown(known))]);
      // Without the status or the total there is no interval, but the next read may have both.
      if (fresh.unread) throw fresh.unread;
      const runOf = (id: string, rewards: ReadRewards): RewardedRun => ({ run: { eval_run_id: id }, rewards });
      const from = fromBaseline(runOf(baseline, base), runOf(known.id, fresh), compare);
      return { certainty: fresh.certainty, difference: finalDifference({ base, fresh }, from, compare) };
    },
  };
  const read = { known, query };
  return isCurrent(kept) ? [read] : [{ known: base, query: readBase }, read];
}

/** Empty if the difference has not been read, or the run shares no task with the baseline. */
const differenceText = ({ from_baseline: from }: BasedRun): string => {
  if (!from) return '';
  return from.isBaseline ? 'baseline' : from.difference === undefined ? '' : difference(from.difference);
};

/** Whether the difference for an ended run with a mean has not been read yet. */
function isUnread(row: BasedRun): boolean {
  const { from_baseline: from, status } = row;
  if (!from || from.isBaseline || 'difference' in from) return false;
  return hasEnded(status) && listedMean(row) !== undefined;
}

export const baselineColumns: readonly Column<BasedRun>[] = [
  plainColumn('difference', 'VS BASE', 8, ({ from_baseline: from }) => (from?.isBaseline ? 0 : from?.difference), {
    align: 'right',
    ifAny: true,
    forPrograms: true,
    bestFirst: true,
    text: differenceText,
    isUnread,
  }),
  {
    ...intervalColumn<BasedRun>(row => row.from_baseline?.interval, {
      id: 'difference-interval',
      title: 'VS BASE 95% CI',
      text: difference as typeof reward,
    }),
    width: 15,
    ...{ ifAny: true, wide: true, decides: 1, forPrograms: true },
    isUnread,
  },
];

/** The difference in words: `+0.120, 95% CI +0.050 to +0.190, paired by task`. */
export function describeBaseline({ from_baseline: from }: BasedRun): string | undefined {
  if (!from) return undefined;
  if (from.isBaseline) return 'this run';
  if (from.difference === undefined) return undefined;
  const { interval } = from;
  const between = interval && formatInterval(interval, difference);
  return [difference(from.difference), between, 'paired by task'].filter(Boolean).join(', ');
}
