/** The measurements by which users choose between checkpoints: held-out rewards and evaluations. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded } from '../contract/status.ts';
import type { Checkpoint, HeldOutReward } from '../contract/training.ts';
import type { Column } from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import { describeSource } from '../present/mean.ts';
import { formatInterval, intervalColumn, numberColumn } from '../present/number-columns.ts';
import { type FullRewards, formatFull } from '../present/statistics/full-reward.ts';
import type { Interval } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { type Better, bestHeldOut, betterThan, type HeldOutMean, heldOutOfStep } from '../queries/held-out.ts';
import type { ReadRewards } from '../queries/run-extent.ts';
import { certaintyOf, runMeanOf } from '../queries/run-mean.ts';
import { counted, percent, reward } from '../text/numbers.ts';
import { describeHeldOut, describeRank, type Rivals, rivalsOf } from './describe-held-out.ts';
import { intervalOfRun, lacksIntervalOfRun, listedCount, listedMean, type MeasuredRun } from './measured-run.ts';
import { describeCertainty } from './run-mean.ts';
import { heldOutColumn, intervalOfHeldOut, samplesColumns, splitColumn } from './training-columns.ts';

/** A checkpoint's evaluations, combined. */
interface Evaluations {
  readonly runs: number;
  /** The mean over all rewards, or over the runs if any of them does not report its number of rewards. */
  readonly mean: number;
  /** The total number of rewards; undefined if any of the runs does not report it. */
  readonly rewards: number | undefined;
  /**
   * Several evaluations are clustered by task, because they repeat the same tasks. Undefined until their rewards are
   * read.
   */
  readonly interval: Interval | undefined;
  /** How many rewards are full, if others are partial and the rewards have been read. */
  readonly full?: FullRewards | undefined;
  /**
   * Gives the interval or the reason for its absence; empty if a list read it, undefined until the rewards are read.
   */
  readonly certainty?: string | undefined;
}

/** The rewards read for several evaluations, by {@link poolKey}. */
type Pools = ReadonlyMap<string, { readonly data?: ReadRewards | undefined; readonly error?: Error | null }>;

export const poolKey = (runs: readonly EvalRun[]): string => runs.map(({ eval_run_id }) => eval_run_id).join();

/** A checkpoint with its measurements. */
export interface Measured {
  readonly held_out?: HeldOutMean | undefined;
  /** Whether it has the highest held-out reward of the checkpoints; on a tie, only the latest has. */
  readonly is_best?: boolean | undefined;
  /** Set on the best checkpoint, see `betterThan`. */
  readonly better?: Better | undefined;
  /** Set on the best checkpoint. */
  readonly rivals?: Rivals | undefined;
  readonly evaluations?: Evaluations | undefined;
}

/** The ended evaluations that ran on the newest one's split: means over different tasks are not comparable. */
function togetherOf(runs: readonly EvalRun[]): readonly MeasuredRun[] {
  const rated = runs.filter((run: MeasuredRun) => hasEnded(run.status) && listedMean(run) !== undefined);
  const [newest] = rated.toSorted((one, other) => (other.created_at ?? '').localeCompare(one.created_at ?? ''));
  return rated.filter(({ split }) => split === newest?.split);
}

const byCheckpoint = (runs: readonly EvalRun[]) => Map.groupBy(runs, run => run.parent_checkpoint_id ?? '');

/** For each checkpoint, the evaluations whose rewards must be read for an interval: always if there are several. */
export function uncertainEvaluations(
  runs: readonly EvalRun[],
  checkpoints: readonly Checkpoint[],
  range: Range,
): readonly (readonly EvalRun[])[] {
  const ofEach = byCheckpoint(runs);
  const all = checkpoints.map(({ checkpoint_id }) => togetherOf(ofEach.get(checkpoint_id) ?? []));
  return all.filter(([only, ...others]) => only && (others.length > 0 || lacksIntervalOfRun(only, range)));
}

/** For a run on screen, evaluations are read for at most this many checkpoints, newest first. */
const maxPooled = 20;

/** The evaluations to read for a run on screen, and why the older checkpoints' evaluations are not read. */
export function newestUncertain(runs: readonly EvalRun[], checkpoints: readonly Checkpoint[], range: Range) {
  const newest = checkpoints.toSorted((one, other) => (other.step_index ?? 0) - (one.step_index ?? 0));
  const error = new Error(`only those of the newest ${maxPooled} checkpoints are read`);
  const older = uncertainEvaluations(runs, newest.slice(maxPooled), range);
  return {
    uncertain: uncertainEvaluations(runs, newest.slice(0, maxPooled), range),
    left: older.map(each => [poolKey(each), { error }] as const),
  };
}

/**
 * The interval of evaluations by task, and words that give it or the reason for its absence. It applies to the mean
 * over tasks. If the displayed mean over rewards differs, the interval is only in the words.
 */
function pooledInterval(
  { data, error }: NonNullable<ReturnType<Pools['get']>>,
  mean: number,
  range: Range,
): Pick<Evaluations, 'interval' | 'certainty' | 'full'> {
  if (!data) return { interval: undefined, ...(error && { certainty: `no interval: ${error.message}` }) };
  const { interval, full } = certaintyOf(data.rewards, { ...data, range });
  const run = runMeanOf(data.rewards, { ...data, range });
  return {
    interval: reward(run.mean) === reward(mean) ? interval : undefined,
    certainty: describeCertainty(run, mean),
    full,
  };
}

/** Combines the evaluations of a checkpoint. */
function evaluationsOf(runs: readonly EvalRun[], range: Range, pools: Pools): Evaluations | undefined {
  const same = togetherOf(runs);
  const [only, ...others] = same;
  if (!only) return undefined;
  const counts = same.map(run => listedCount(run));
  const isCounted = counts.every(count => count !== undefined);
  const weights = isCounted ? counts : same.map(() => 1);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const all = sum(weights);
  if (all === 0) return undefined;
  const mean = sum(same.map((run, index) => (listedMean(run) ?? 0) * (weights[index] ?? 0))) / all;
  const rewards = isCounted ? all : undefined;
  const interval = others.length === 0 ? intervalOfRun(only, range) : undefined;
  const of =
    others.length === 0 && !lacksIntervalOfRun(only, range)
      ? { interval, certainty: '', full: interval && only.certainty?.full }
      : pooledInterval(pools.get(poolKey(same)) ?? {}, mean, range);
  return { runs: same.length, mean, rewards, ...of };
}

/** Adds measurements to a run's checkpoints. */
export function withMeasured<Row extends Checkpoint>(
  rows: readonly Row[],
  heldOut: readonly HeldOutReward[],
  runs: readonly EvalRun[],
  range: Range,
  pools: Pools = new Map(),
): readonly (Row & Measured)[] {
  const meanOf = heldOutOfStep(heldOut);
  const means = rows.map(({ step_index }) => meanOf(step_index));
  const known = means.filter(mean => mean !== undefined);
  const best = bestHeldOut(known);
  const ofEach = byCheckpoint(runs);
  return rows.map((row, index) => {
    const held_out = means[index];
    const evaluations = evaluationsOf(ofEach.get(row.checkpoint_id) ?? [], range, pools);
    const is_best = known.length > 1 && held_out !== undefined && held_out === best;
    const better = held_out !== undefined && held_out === best ? betterThan(best, heldOut) : undefined;
    const rank = { ...(is_best && { is_best, rivals: rivalsOf(best, known, range) }), ...(better && { better }) };
    return { ...row, held_out, evaluations, ...rank };
  });
}

/** `best`, or `below step 0` if another step is better; undefined for any other checkpoint. */
export function bestCell({ held_out, is_best, better }: Measured): string | undefined {
  if (!better || better.why === 'incomplete' || better.why === 'lost samples') return is_best ? 'best' : undefined;
  return `${better.reward === held_out?.reward ? 'equals' : 'below'} step ${better.step}`;
}

/** The columns for the measurements, which only some services and runs have. */
export function measuredCheckpointColumns<Row extends Measured>(range: Range): readonly Column<Row>[] {
  const ifAny = { ifAny: true };
  return [
    { ...heldOutColumn<Row>(row => row.held_out), ...ifAny },
    splitColumn<Row>(row => row.held_out),
    { id: 'best', title: 'BEST', width: 4, whole: true, ...ifAny, value: bestCell },
    { ...intervalColumn<Row>(row => row.held_out && intervalOfHeldOut(row.held_out, range)), ...ifAny },
    {
      ...numberColumn<Row>('evaluated', 'EVALUATED', row => row.evaluations?.mean),
      text: row => (row.evaluations ? evaluatedMean(row.evaluations) : ''),
      bestFirst: true,
      ...ifAny,
    },
    {
      ...intervalColumn<Row>(row => row.evaluations?.interval, { id: 'evaluated-interval', title: 'EVAL 95% CI' }),
      ...ifAny,
      isUnread: row => row.evaluations !== undefined && row.evaluations.certainty === undefined,
    },
    { ...numberColumn<Row>('runs', 'RUNS', row => row.evaluations?.runs, { text: String }), ...ifAny },
    ...samplesColumns<Row>(row => row.held_out).map(column => ({ ...column, ...ifAny })),
  ];
}

/** `0.755`, or `0.755?` for a mean of means whose reward counts are unknown. */
const evaluatedMean = ({ mean, rewards, runs }: Evaluations): string =>
  `${reward(mean)}${runs > 1 && rewards === undefined ? '?' : ''}`;

/** `evaluated 0.755 n=233 in 3 runs (full reward 12.3%)`; a single run is not counted. */
export const describeEvaluations = (evaluations: Evaluations): string =>
  [
    `evaluated ${evaluatedMean(evaluations)}`,
    evaluations.rewards === undefined ? '' : `n=${evaluations.rewards}`,
    evaluations.runs > 1 ? `in ${evaluations.runs} runs` : '',
    evaluations.full ? `(full reward ${percent(evaluations.full.full / evaluations.full.of)})` : '',
  ]
    .filter(Boolean)
    .join(' ');

/** `0.755 over 233 rewards in 3 evaluations, 95% CI 0.700 to 0.800`. */
function evaluatedSentence(evaluations: Evaluations): string {
  const { mean, rewards, runs, interval, full, certainty = 'interval not read yet' } = evaluations;
  const source = [describeSource({ mean, count: rewards }), `in ${counted(runs, 'evaluation')}`];
  const certain = certainty || (interval && formatInterval(interval));
  const fullWords = full && `full reward ${formatFull(full)}`;
  return [[evaluatedMean(evaluations), ...source].filter(Boolean).join(' '), certain, fullWords]
    .filter(Boolean)
    .join(', ');
}

/** The measurements in words. */
export function measuredCheckpointFacts(
  { held_out, is_best, evaluations, ...rank }: Measured,
  range: Range,
): readonly Fact[] {
  // The validation split chooses the checkpoint; evaluations use different tasks.
  const isApart = held_out?.split === 'validation';
  const best = `highest held-out reward of the checkpoints${isApart ? '' : ': chosen and measured on the same tasks, so it looks better than it is'}`;
  return [
    { label: 'held-out', value: held_out && describeHeldOut(held_out, range) },
    {
      label: 'best',
      value: [is_best ? best : '', describeRank(rank)].filter(Boolean).join('; ') || undefined,
    },
    { label: 'evaluated', value: evaluations && evaluatedSentence(evaluations) },
  ];
}
