/** Evaluation runs. */

import { errorMessage } from '../base/errors.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded } from '../contract/status.ts';
import type { Command } from '../present/command.ts';
import { type Fact, failureFacts, optionLines, referenceFact, statusFact, warningFacts } from '../present/fact.ts';
import { describeMean, soFar } from '../present/mean.ts';
import { optimisticNote } from '../present/statistics/caution.ts';
import { comparisonDefaults } from '../present/statistics/comparison.ts';
import { countFull } from '../present/statistics/full-reward.ts';
import { instantFact, timeFact } from '../present/times.ts';
import { cancelRun, deleteRun, evalProgressQuery, evalRunQuery, evaluationKeys } from '../queries/evaluations.ts';
import { isMeasuredAsChosen } from '../queries/held-out.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { extentOfRecord, readRunRewards } from '../queries/run-extent.ts';
import { everyRun, runsOfBenchmark } from '../queries/run-lists.ts';
import { runMeanOf } from '../queries/run-mean.ts';
import { certaintyQueryOf, soFarQueryOf } from '../queries/run-results.ts';
import { describeContradictions } from '../queries/run-rewards.ts';
import { readHeldOutSplit } from '../queries/training-curves.ts';
import { trajectoryKeys } from '../queries/trajectories.ts';
import { isNotOffered } from '../service/errors.ts';
import { rememberedAt, sentOptionsIn } from '../store/seen.ts';
import { counted, reward } from '../text/numbers.ts';
import { type ActionTable, running, untilStopped } from './action.ts';
import { type BasedRun, describeBaseline, differenceReads } from './baseline.ts';
import { benchmarkActions } from './benchmarks.ts';
import { comparability } from './comparison.ts';
import { maxCompared } from './comparison-grid.ts';
import { defineResource, type WholeFacts } from './define.ts';
import { certainMeanOf, listedCount, listedMeanOf, type MeasuredRun, mayHaveMean } from './measured-run.ts';
import { pooledPlace, pooledRuns } from './pools.ts';
import { runColumns, runMeasures } from './run-columns.ts';
import { certaintyFields, describeCertainty, formatIntervalBeside } from './run-mean.ts';
import { describeOutcome, outcomeOf, type RunOutcome, summariseRewards } from './run-outcome.ts';
import { compareManyPlace, comparePlace, namedRun } from './run-places.ts';

/**
 * The mean from a record, with the number of rewards and, once the run has ended, the number of rollouts without a
 * reward.
 */
function meanFact(run: MeasuredRun, isUnread: boolean): Fact {
  const listed = listedMeanOf(run);
  const isFinal = hasEnded(run.status);
  const label = isFinal ? 'mean' : `mean ${soFar}`;
  if (listed.mean !== undefined) return { label, value: describeMean(listed) };
  if (isUnread) return { label, value: 'could not be read' };
  return { label, value: !isFinal ? undefined : mayHaveMean(run) ? 'not reported' : reward(undefined) };
}

/** A caveat about the mean, if one applies. */
export const cautionOf = (run: MeasuredRun): string | undefined =>
  isMeasuredAsChosen(run, run.held_out_split) ? optimisticNote : undefined;

/**
 * The facts about a run, with its outcome and interval if known.
 *
 * @param isUnread whether its rewards could not be read
 */
export function runFacts(run: BasedRun, outcome?: RunOutcome, certainty?: string, isUnread = false): readonly Fact[] {
  const [label = '', ...words] = outcome ? describeOutcome(outcome) : [];
  return [
    { label: 'name', value: run.display_name },
    { label: 'id', value: run.eval_run_id },
    run.status == null ? { label: 'status', value: 'not reported' } : statusFact('status', run.status),
    outcome ? { label, value: words.filter(Boolean).join(' ') } : meanFact(run, isUnread),
    { label: 'full reward', value: outcome?.full || undefined },
    {
      label: 'no reward',
      value: outcome?.mean !== undefined && outcome.without > 0 ? counted(outcome.without, 'rollout') : undefined,
    },
    {
      label: 'interval',
      value: certainty || (run.certainty && formatIntervalBeside(certainMeanOf(run), run.certainty.range)) || undefined,
    },
    { label: 'vs baseline', value: describeBaseline(run) },
    referenceFact('model', 'models', run.base_model_slug),
    referenceFact('checkpoint', 'checkpoints', run.parent_checkpoint_id, run.training_run_id),
    { label: 'caution', value: cautionOf(run) },
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

/** Adds the mean, its number of rewards and its interval, if any rewards are readable. */
async function wholeFacts(run: EvalRun, context: QueryContext): Promise<WholeFacts> {
  const held_out_split = await readHeldOutSplit(run, context);
  let unread: string | undefined;
  const answer = await readRunRewards(run.eval_run_id, context, extentOfRecord(run)).catch((error: unknown) => {
    context.signal.throwIfAborted();
    // Some services do not offer this endpoint.
    if (!isNotOffered(error)) unread = `The rewards could not be read. ${errorMessage(error)}`;
    return undefined;
  });
  const { rewardRange: range = comparisonDefaults.range } = context.compare ?? {};
  const summary = answer && summariseRewards(answer.rewards, answer.total, 0, range);
  const outcome = summary && outcomeOf(run, undefined, summary);
  const isWhole = outcome?.mean !== undefined || (answer && !answer.unread && !listedCount(run));
  const known = isWhole ? outcome : undefined;
  const certain = answer && runMeanOf(answer.rewards, { ...answer, range });
  return {
    facts: runFacts(
      { ...run, held_out_split },
      outcome && !outcome.ended ? outcome : known,
      certain ? describeCertainty(certain, outcome?.mean) : undefined,
      unread !== undefined,
    ),
    unread: unread ?? ((answer && describeContradictions(answer.rewards)) || undefined),
    hasMean: outcome?.mean !== undefined || run.reward_mean != null,
    answer,
    ...(known && {
      fields: {
        ...{ mean: known.mean, graded: known.graded, full_rewards: countFull(summary?.values ?? [], range) ?? null },
        ...(certain && certaintyFields(certain)),
      },
    }),
  };
}

const group = 'Run';

/** Makes the run the base for comparisons within its benchmark. */
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
    appliesTo: rows => {
      const isMany = rows.length > maxCompared && pooledRuns(rows.map(namedRun)).length > maxCompared;
      if (isMany) return `${rows.length} runs are marked: 2 to ${maxCompared} can be compared`;
      const { why } = comparability(rows.map(namedRun));
      if (why !== undefined) return why;
      return rows.length > 1 || rows[0]?.bench_id != null ? rows : 'Its benchmark is unknown: mark two runs';
    },
    opens: (rows, memory) => {
      const [one, other] = rows;
      if (rows.length > 2) {
        const place = compareManyPlace(rows, memory);
        return (rows.length > maxCompared && pooledPlace(place.runs, place.base)) || place;
      }
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
    appliesTo: running,
    change: {
      send: cancelRun,
      verb: 'cancel',
      participle: 'cancelled',
      consequence: 'unfinished rollouts stop at once. Finished ones are kept.',
      command: 'cancel',
      waitUntil: untilStopped,
    },
  },
  delete: {
    id: 'run.delete',
    title: 'delete the run',
    keys: ['d'],
    group,
    writes: true,
    destructive: true,
    appliesTo: rows => (rows.every(run => run.bench_id) ? rows : 'Its benchmark is unknown'),
    change: {
      send: deleteRun,
      verb: 'delete',
      participle: 'deleted',
      consequence: 'the record, the rewards and the statistics are deleted. This cannot be undone.',
      command: 'delete',
      blockedReason: ({ bench_id, eval_run_id }) =>
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
  list: ({ benchmark }) => (benchmark === undefined ? everyRun : runsOfBenchmark(benchmark)),
  get: evalRunQuery,
  columns: runColumns,
  measures: runMeasures,
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
    soFar: soFarQueryOf,
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
