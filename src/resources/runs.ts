/** Evaluation runs. */

import { errorMessage } from '../base/errors.ts';
import { mean } from '../base/statistics.ts';
import type { EvalProgress, EvalRun, TrajectoryReward } from '../contract/evaluations.ts';
import { evalRunStatuses, hasEnded } from '../contract/status.ts';
import { type Column, statusColumn } from '../present/column.ts';
import type { Command } from '../present/command.ts';
import { type Fact, failureFacts, optionLines, referenceFact, statusFact, warningFacts } from '../present/fact.ts';
import { intervalColumn } from '../present/number-columns.ts';
import { optimisticWords } from '../present/statistics/comparison.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { durationColumn, instant, instantFact, seenColumn, timeColumn, timeFact } from '../present/times.ts';
import { cancelRun, deleteRun, evalProgressQuery, evalRunQuery, evaluationKeys } from '../queries/evaluations.ts';
import { isMeasuredAsChosen } from '../queries/held-out.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { rememberedDifference } from '../queries/run-difference.ts';
import { extentOfRecord, readRunRewards } from '../queries/run-extent.ts';
import { everyRun, runsOfBenchmark } from '../queries/run-lists.ts';
import { runMeanOf } from '../queries/run-mean.ts';
import { contradictionWords } from '../queries/run-rewards.ts';
import { readHeldOutSplit } from '../queries/training.ts';
import { trajectoryKeys } from '../queries/trajectories.ts';
import { isNotOffered } from '../service/errors.ts';
import { rememberedAt, sentOptionsIn } from '../store/seen.ts';
import type { RememberedStore } from '../store/store.ts';
import { counted, countOf, reward } from '../text/numbers.ts';
import { type ActionTable, running, untilStopped } from './action.ts';
import {
  type BasedRun,
  baselineColumns,
  baselineOf,
  baselineWords,
  certaintyQueryOf,
  differenceReads,
  finalDifference,
  fromBaseline,
  knownFromBaseline,
} from './baseline.ts';
import { benchmarkActions } from './benchmarks.ts';
import { comparability } from './comparison.ts';
import { mostCompared } from './comparison-grid.ts';
import { defineResource, type MeasuredList, type Measures, type WholeFacts } from './define.ts';
import { measureEach } from './measure-each.ts';
import {
  intervalOfRun,
  isSoFar,
  listedCount,
  listedMean,
  type MeasuredRun,
  mayHaveMean,
  meanOfRun,
  soFar,
} from './measured-run.ts';
import { modelColumn, modelWords } from './models.ts';
import type { NamedRun, Place } from './place.ts';
import { withCertainty } from './run-certainty.ts';
import { certaintyFields, certaintyWords } from './run-mean.ts';

/**
 * Summary of a run's rewards. Counts three cases separately: a genuine 0 is a result, a missing reward is not 0, and a
 * rollout without an entry was never scored.
 */
export interface RewardSummary {
  /** Numeric rewards. */
  readonly values: readonly number[];
  readonly mean: number | undefined;
  /** Trajectories listed without a reward. */
  readonly missing: number;
  readonly unreadable: number;
  /** Says that trajectories have several rewards, if any do. */
  readonly contradictions: string;
  /** Rollouts of the run, if the service reports them; otherwise the number of listed trajectories. */
  readonly total: number;
}

export function summariseRewards(
  rewards: readonly TrajectoryReward[],
  totalRollouts?: number | null,
  unreadable: number = 0,
): RewardSummary {
  const values = rewards.flatMap(({ reward }) => (typeof reward === 'number' ? [reward] : []));
  return {
    values,
    mean: mean(values),
    missing: rewards.length - values.length,
    unreadable,
    contradictions: contradictionWords(rewards),
    total: Math.max(totalRollouts ?? 0, rewards.length + unreadable),
  };
}

export const runColumns: readonly Column<MeasuredRun>[] = [
  {
    id: 'name',
    title: 'RUN',
    width: { min: 13, max: 60, grow: 3 },
    value: row => row.display_name ?? row.eval_run_id,
  },
  statusColumn(row => row.status, { known: evalRunStatuses }),
  {
    id: 'mean',
    title: 'MEAN',
    width: 7,
    align: 'right',
    value: listedMean,
    text: meanOfRun,
  },
  seenColumn(rememberedAt),
  {
    id: 'benchmark',
    title: 'BENCHMARK',
    width: { min: 10, max: 30, grow: 1 },
    wide: true,
    forPrograms: true,
    value: row => row.bench_id ?? undefined,
  },
  // In a narrow column, the step stays.
  { ...modelColumn(row => modelWords(row) || undefined), exported: row => row.base_model_slug ?? undefined },
  {
    id: 'checkpoint',
    title: 'CHECKPOINT',
    width: { min: 12, max: 40, grow: 1 },
    wide: true,
    forPrograms: true,
    value: row => row.parent_checkpoint_id ?? undefined,
  },
  timeColumn('created', 'STARTED', row => row.created_at),
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.eval_run_id },
  {
    id: 'step',
    title: 'STEP',
    width: 5,
    align: 'right',
    wide: true,
    forPrograms: true,
    value: row => row.step ?? undefined,
  },
  { id: 'n', title: 'N', width: 5, align: 'right', wide: true, forPrograms: true, value: listedCount },
  {
    id: 'total',
    title: 'TOTAL',
    width: 5,
    align: 'right',
    wide: true,
    forPrograms: true,
    value: row => countOf(row.total_rollouts),
  },
  durationColumn(),
];

/**
 * The columns of a list of runs: the declared ones, and after the mean its interval and the baseline. Runs of several
 * benchmarks are not comparable, so such a list names the benchmark of each.
 *
 * @param nameOf the name of a benchmark, if it is known
 */
export function runListColumns(
  range: Range,
  isOfOne: boolean,
  nameOf: (benchId: string) => string | undefined = id => id,
): readonly Column<BasedRun>[] {
  const interval = { ...intervalColumn<BasedRun>(row => intervalOfRun(row, range)), wide: true, forPrograms: true };
  return runColumns.flatMap((column): readonly Column<BasedRun>[] => {
    if (column.id === 'mean') return [column, interval, ...baselineColumns];
    if (column.id !== 'benchmark') return [column];
    return [{ ...column, wide: isOfOne, text: ({ bench_id: id }) => (id ? (nameOf(id) ?? id) : '') }];
  });
}

/** The columns of the difference to the baseline. */
const ofBaseline = baselineColumns.map(({ id }) => id);

const rewardsOfRun = (run: EvalRun, context: QueryContext) =>
  readRunRewards(run.eval_run_id, context, extentOfRecord(run));

/** Reads each id once. */
function once<Data>(read: (id: string, context: QueryContext) => Promise<Data>): typeof read {
  const reads = new Map<string, Promise<Data>>();
  return (id, context) => {
    const known = reads.get(id) ?? read(id, context);
    reads.set(id, known);
    return known;
  };
}

/**
 * Adds the difference between a run and the baseline of its benchmark, by task. Takes a request for the rewards of the
 * run, except those of an ended run whose difference was read before, and none without a baseline.
 */
function addsFromBaseline(rows: readonly BasedRun[], list: MeasuredList) {
  const runOf = once(
    async (id, context) => rows.find(row => row.eval_run_id === id) ?? (await evalRunQuery(id).read(context)),
  );
  const baseRewards = once(async (id, context) => rewardsOfRun(await runOf(id, context), context));
  return async (run: BasedRun, context: QueryContext): Promise<BasedRun> => {
    const { memory, compare } = context;
    const id = list.baseline ?? baselineOf(memory, run.bench_id);
    if (id === undefined || listedMean(run) === undefined) return run;
    const base = await runOf(id, context);
    // There is no room to say that a benchmark is unknown.
    if (Object.keys(comparability([base, run].map(namedRun))).length > 0) return run;
    const { eval_run_id, status } = run;
    if (eval_run_id === id) return { ...run, from_baseline: fromBaseline({ run: base }, { run }, compare) };
    const known = rememberedDifference(memory, eval_run_id, status);
    const kept = knownFromBaseline(known, { base, run }, compare);
    if (kept) return { ...run, from_baseline: kept };
    const rewards = { base: await baseRewards(id, context), fresh: await rewardsOfRun(run, context) };
    const from_baseline = fromBaseline({ run: base, rewards: rewards.base }, { run, rewards: rewards.fresh }, compare);
    const difference = finalDifference(id, rewards, from_baseline, compare);
    if (difference) memory.see([{ kind: 'run', id: eval_run_id, status, difference }]);
    return { ...run, from_baseline };
  };
}

const measures: Measures<BasedRun> = {
  columns: (rows, range) => runListColumns(range, new Set(rows.map(({ bench_id }) => bench_id)).size < 2),
  costly: ['interval', ...ofBaseline],
  field: () => undefined,
  read: (rows, columns, context, list) =>
    measureEach(rows, context, list, [
      ...(ofBaseline.some(id => columns.has(id)) ? [addsFromBaseline(rows, list)] : []),
      ...(columns.has('interval') ? [withCertainty<BasedRun>] : []),
    ]),
};

/** The result of a run, so far or final. */
export interface RunOutcome {
  readonly mean: number | undefined;
  /** The number of rewards in the mean; undefined if only the mean is known. */
  readonly graded: number | undefined;
  /** The mean of the listed rewards, if the service's own differs. */
  readonly listed: number | undefined;
  /** Rollouts listed without a reward before the run ended. */
  readonly without: number;
  readonly ended: boolean;
  /** Whether its rewards have been read. */
  readonly isRead: boolean;
}

/**
 * The mean of a run. While the run continues, it is computed from the displayed rewards; after the end, the service's
 * mean is used. Without rewards, the progress provides the mean so far.
 */
export function outcomeOf(
  run: EvalRun,
  progress: EvalProgress | undefined,
  rewards: RewardSummary | undefined,
): RunOutcome {
  const live = progress?.live;
  const ended = hasEnded(run.status);
  const without = ended ? 0 : (rewards?.missing ?? 0);
  const final = ended ? (run.reward_mean ?? live?.final_reward_mean) : undefined;
  if (rewards !== undefined && rewards.values.length > 0) {
    const mean = final ?? rewards.mean;
    const listed = reward(mean) === reward(rewards.mean) ? undefined : rewards.mean;
    return { mean, graded: rewards.values.length, listed, without, ended, isRead: true };
  }
  const mean = final ?? (ended ? undefined : live?.provisional_reward_mean) ?? undefined;
  const isRead = rewards !== undefined;
  return { mean, graded: live?.scored_rollouts ?? undefined, listed: undefined, without, ended, isRead };
}

/**
 * `(2 failed, 1 running)`, after the number of rollouts without a reward, which includes the failed and the running ones;
 * empty for none.
 */
export function failedAmong(without: number, failed: number = 0, running: number = 0): string {
  if (failed + running === 0 || failed + running > without) return '';
  if (failed === without) return ' (all failed)';
  return ` (${[failed > 0 && `${failed} failed`, running > 0 && `${running} running`].filter(Boolean).join(', ')})`;
}

/** Shown for a run without a mean: the number of rollouts listed without a reward. */
export function noRewardWords({ isRead }: Pick<RunOutcome, 'isRead'>, without: number, failed?: number): string {
  if (!isRead) return 'rewards not read';
  if (without === 0) return 'no reward yet';
  return `no reward; ${counted(without, 'rollout')} without one${failedAmong(without, failed)}`;
}

/** `mean 0.143 of 8 rewards`; says so if it is not final. */
export function meanWords(outcome: RunOutcome): readonly [label: string, value: string, of: string] {
  const { mean, graded, listed, without, ended } = outcome;
  const other = listed === undefined ? '' : `, ${reward(listed)} by the rewards listed`;
  const of = graded === undefined || mean === undefined ? '' : `of ${counted(graded, 'reward')}${other}`;
  if (mean === undefined && !ended) return ['mean', noRewardWords(outcome, without), ''];
  return [ended ? 'mean' : `mean ${soFar}`, reward(mean), of];
}

/** The mean of a record, with the number of rewards, and of rollouts without one once the run has ended. */
function meanFact(run: MeasuredRun, isUnread: boolean): Fact {
  const [mean, graded] = [listedMean(run), listedCount(run)];
  if (isUnread && mean === undefined)
    return { label: isSoFar(run) ? `mean ${soFar}` : 'mean', value: 'could not be read' };
  const of = graded === undefined || mean === undefined ? '' : ` of ${counted(graded, 'reward')}`;
  if (isSoFar(run)) return { label: `mean ${soFar}`, value: mean === undefined ? undefined : `${reward(mean)}${of}` };
  if (mean === undefined && mayHaveMean(run)) return { label: 'mean', value: 'not reported' };
  const without = graded === undefined ? 0 : (countOf(run.total_rollouts) ?? graded) - graded;
  const missing = without > 0 ? `, ${counted(without, 'rollout')} without one` : '';
  return { label: 'mean', value: `${reward(mean)}${of}${missing}` };
}

/** `0.143 of 8 rewards`, or that there is no reward yet. */
function outcomeFact(outcome: RunOutcome): Fact {
  const [label, ...words] = meanWords(outcome);
  return { label, value: words.filter(Boolean).join(' ') };
}

/** A caveat about the mean, if one is known to apply. */
export const cautionOf = (run: MeasuredRun): string | undefined =>
  isMeasuredAsChosen(run, run.held_out_split) ? optimisticWords : undefined;

/**
 * The facts of a run, with its outcome and interval if they were read.
 *
 * @param isUnread whether its rewards could not be read
 */
export function runFacts(run: BasedRun, outcome?: RunOutcome, certainty?: string, isUnread = false): readonly Fact[] {
  return [
    { label: 'name', value: run.display_name },
    { label: 'id', value: run.eval_run_id },
    run.status == null ? { label: 'status', value: 'not reported' } : statusFact('status', run.status),
    outcome ? outcomeFact(outcome) : meanFact(run, isUnread),
    {
      label: 'no reward',
      value: outcome?.mean !== undefined && outcome.without > 0 ? counted(outcome.without, 'rollout') : undefined,
    },
    { label: 'interval', value: certainty || undefined },
    { label: 'vs baseline', value: baselineWords(run) },
    referenceFact('model', 'models', run.base_model_slug),
    referenceFact('checkpoint', 'checkpoints', run.parent_checkpoint_id, run.training_run_id),
    {
      label: 'caution',
      value: cautionOf(run),
    },
    referenceFact('training', 'training', run.training_run_id),
    { label: 'step', value: run.step },
    referenceFact('benchmark', 'benchmarks', run.bench_id),
    { label: 'agent', value: run.agent_id },
    { label: 'options', value: optionLines(run.options) },
    { label: 'options sent', value: optionLines(sentOptionsIn(run)) },
    timeFact('started', run.created_at),
    timeFact('ended', run.completed_at),
    instantFact('seen', rememberedAt(run)),
    ...warningFacts(run),
    ...failureFacts(run.failure),
  ];
}

/** Adds the mean, its number of rewards and its interval, if there are readable rewards. */
async function wholeFacts(run: EvalRun, context: QueryContext): Promise<WholeFacts> {
  const held_out_split = await readHeldOutSplit(run, context);
  let unread: string | undefined;
  const answer = await rewardsOfRun(run, context).catch((error: unknown) => {
    context.signal.throwIfAborted();
    // A service may lack this part.
    if (!isNotOffered(error)) unread = `The rewards could not be read. ${errorMessage(error)}`;
    return undefined;
  });
  const outcome = answer && outcomeOf(run, undefined, summariseRewards(answer.rewards));
  const known = outcome?.mean === undefined ? undefined : outcome;
  const certain = answer && runMeanOf(answer.rewards, { ...answer, range: context.compare?.rewardRange });
  return {
    facts: runFacts(
      { ...run, held_out_split },
      outcome && !outcome.ended ? outcome : known,
      certain ? certaintyWords(certain, outcome?.mean) : undefined,
      unread !== undefined,
    ),
    unread: unread ?? ((answer && contradictionWords(answer.rewards)) || undefined),
    hasMean: known !== undefined || run.reward_mean != null,
    answer,
    ...(known && { fields: { mean: known.mean, graded: known.graded, ...(certain && certaintyFields(certain)) } }),
  };
}

/** Remembers when a run was first seen, and when this machine started it. */
type Memory = Pick<RememberedStore, 'find'>;

/** The range of possible start times in epoch milliseconds: some services do not report the start. */
function startOf({ eval_run_id, created_at }: EvalRun, memory: Memory): readonly [from: number, to: number] {
  const created = instant(created_at);
  if (created !== undefined) return [created, created];
  // A run may be much older than its first sighting, which is only an upper bound.
  const { startedAt = -Infinity, firstSeenAt = Infinity } = memory.find('run', eval_run_id) ?? {};
  return [startedAt, firstSeenAt];
}

export function namedRun(run: EvalRun): NamedRun {
  const { eval_run_id: id, display_name, bench_id } = run;
  const model = modelWords(run);
  return { id, name: display_name ?? id, ...(model && { model }), ...(bench_id && { bench_id }) };
}

/** The place of a comparison of several runs. The base is the benchmark's baseline, otherwise the earliest run. */
export function compareManyPlace(rows: readonly EvalRun[], memory: RememberedStore): Place<'compare-many'> {
  const startedAt = (run: EvalRun): number => startOf(run, memory)[1];
  const earliest = rows.reduce<EvalRun | undefined>(
    (first, run) => (!first || startedAt(run) < startedAt(first) ? run : first),
    undefined,
  );
  const kept = rows.find(run => run.eval_run_id === baselineOf(memory, run.bench_id));
  return { view: 'compare-many', runs: rows.map(namedRun), base: (kept ?? earliest)?.eval_run_id ?? '' };
}

/** The place of a comparison. The base is the earlier run, or `one` if the order is unknown. */
export function comparePlace(one: EvalRun, other: EvalRun, memory: Memory): Place<'compare'> {
  const [[oneFrom, oneTo], [otherFrom, otherTo]] = [startOf(one, memory), startOf(other, memory)];
  const isLater = otherTo < oneFrom;
  const [base, fresh] = isLater ? [other, one] : [one, other];
  const isDated = isLater || oneTo <= otherFrom;
  return { view: 'compare', base: namedRun(base), new: namedRun(fresh), ...(!isDated && { isUndated: true }) };
}

const group = 'Run';

/** Chooses the run that the others of its benchmark are compared with. */
export const baselineCommand: Command = {
  id: 'run.baseline',
  title: 'set it as the baseline of its benchmark, or unset it',
  keys: ['*'],
  group,
  hint: 'baseline',
};

export const runActions = {
  compare: {
    id: 'run.compare',
    title: 'compare 2 to 8 runs, task by task',
    keys: ['='],
    group,
    hint: 'compare',
    rank: 'main',
    to: rows => {
      if (rows.length > mostCompared) return `${rows.length} runs are marked: 2 to ${mostCompared} can be compared`;
      const { why } = comparability(rows.map(namedRun));
      if (why !== undefined) return why;
      return rows.length > 1 || rows[0]?.bench_id != null ? rows : 'Its benchmark is unknown: mark two runs';
    },
    opens: (rows, memory) => {
      const [one, other] = rows;
      if (rows.length > 2) return compareManyPlace(rows, memory);
      return one && other ? comparePlace(one, other, memory) : 'compare';
    },
  },
  cancel: {
    id: 'run.cancel',
    title: 'cancel the run',
    keys: ['c'],
    group,
    hint: 'cancel',
    rank: 'stop',
    writes: true,
    to: running,
    change: {
      send: cancelRun,
      verb: 'cancel',
      past: 'cancelled',
      loses: 'it stops at once. Finished rollouts are kept.',
      command: 'cancel',
      ends: untilStopped,
    },
  },
  delete: {
    id: 'run.delete',
    title: 'delete the run',
    keys: ['d'],
    group,
    writes: true,
    destructive: true,
    to: rows => (rows.every(run => run.bench_id) ? rows : 'Its benchmark is unknown'),
    change: {
      send: deleteRun,
      verb: 'delete',
      past: 'deleted',
      loses: 'the record, its rewards and statistics are deleted. This cannot be undone.',
      command: 'delete',
      lacks: ({ bench_id, eval_run_id }) =>
        bench_id
          ? undefined
          : `The benchmark of ${eval_run_id} is unknown, but this service needs it. Name it: benchtop api deleteEvalRun bench_id=ID eval_run_id=${eval_run_id}`,
    },
  },
} as const satisfies ActionTable<EvalRun>;

export const runs = defineResource<EvalRun>({
  names: ['runs', 'run', 'r', 'eval', 'evals', 'evaluations'],
  order: 20,
  idPattern: /^evr[_-]/,
  kind: 'run',
  scopes: ['benchmark'],
  statuses: evalRunStatuses,
  list: ({ benchmark }) => (benchmark === undefined ? everyRun : runsOfBenchmark(benchmark)),
  get: evalRunQuery,
  columns: runColumns,
  measures,
  facts: row => runFacts(row),
  wholeFacts,
  label: row => row.display_name,
  parent: row => row.bench_id,
  actions: runActions,
  commands: { baseline: baselineCommand },
  watch: {
    status: id => [evalProgressQuery(id), evalRunQuery(id)],
    countsDone: true,
    details: id => [evalRunQuery(id)],
    certainty: certaintyQueryOf,
    difference: differenceReads,
    progressNames: { done: 'terminal_rollouts', total: 'total_rollouts', mean: 'mean' },
    runs: true,
    endsForGood: true,
    shownIn: id => [
      evaluationKeys.everyRun,
      evaluationKeys.one(id),
      evaluationKeys.progress(id),
      evaluationKeys.results(id),
      trajectoryKeys.list({ eval_run_id: id }),
    ],
  },
  emptyAdvice: { command: benchmarkActions.evaluate, words: 'on a benchmark evaluates a model' },
});
