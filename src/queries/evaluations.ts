/** Queries and actions for evaluation runs. */

import { isRecord, own } from '../base/own-property.ts';
import type { BySide } from '../base/sides.ts';
import { failureReason, type ListQuery } from '../contract/common.ts';
import type { EvalProgress, EvalRun } from '../contract/evaluations.ts';
import { hasEnded } from '../contract/status.ts';
import { intervalDefaults } from '../present/statistics/interval.ts';
import { ifThere, isNotOffered, mayLackPath } from '../service/errors.ts';
import type { CallOptions } from '../service/options.ts';
import { findOnPages } from '../service/pagination.ts';
import type { CallInput } from '../service/request.ts';
import { sentOptionsField, sentOptionsIn } from '../store/seen.ts';
import type { RememberedResource, SeenResource } from '../store/store.ts';
import { countOf } from '../text/numbers.ts';
import { action } from './action.ts';
import { benchmarkKeys } from './benchmarks.ts';
import { runLists } from './every-benchmark.ts';
import type { RecordedMean } from './extent-of.ts';
import { type ListSource, readRows } from './lists/list-source.ts';
import type { LiveQuery } from './live-query.ts';
import { type Activity, activityOfRun } from './polling.ts';
import type { QueryContext } from './query-context.ts';
import { readPart, rememberedKind } from './remembered-fallback.ts';
import { isSameMean } from './run-mean.ts';
import type { RunInput } from './run-options.ts';
import { meanOfRewards, readTrajectoryRewards } from './run-rewards.ts';

export const evaluationKeys = {
  all: ['evaluations'],
  everyRun: ['evaluations', 'runs'],
  runsOf: (benchId: string) => ['evaluations', 'runs', benchId],
  one: (runId: string) => ['evaluations', 'one', runId],
  progress: (runId: string) => ['evaluations', 'progress', runId],
  ends: (runId: string) => ['evaluations', 'ends', runId],
  results: (runId: string) => ['evaluations', 'results', runId],
  soFar: (runId: string) => ['evaluations', 'so far', runId],
  certainty: (runId: string, of: RecordedMean) => ['evaluations', 'certainty', runId, of],
  rewards: (runId: string, of: RecordedMean) => ['evaluations', 'rewards', runId, of],
  difference: (runId: string, baseline: string, means: BySide<RecordedMean>) => [
    'evaluations',
    'difference',
    runId,
    baseline,
    means,
  ],
} as const;

/** Adds the options that this machine sent, unless the service returns them all: some services return none. */
function withSentOptions(run: EvalRun, seen: RememberedResource | undefined): EvalRun {
  const sent = sentOptionsIn(seen?.record);
  const isReturned = Object.keys(sent ?? {}).every(name => own(run.options ?? undefined, name) != null);
  return isReturned ? run : { ...run, [sentOptionsField]: sent };
}

const remembered = rememberedKind<EvalRun>({
  kind: 'run',
  idName: 'eval_run_id',
  words: 'runs',
  observe: run => ({
    label: run.display_name,
    status: run.status,
    mean: run.reward_mean,
    graded: run.reward_count,
    total: run.total_rollouts,
    startedAt: run.created_at,
    endTime: run.completed_at,
    reason: failureReason(run.failure),
    waits: run.waits_because,
    parent: run.bench_id,
  }),
  recall: withSentOptions,
});

export const startEvaluation = action(
  (service, { bench_id, model, checkpoint, trained: _, display_name = '', ...rest }: RunInput, options) => {
    const body = { display_name, model_slug: model, checkpoint_id: checkpoint, ...rest };
    return service.call('startEval', { params: { bench_id }, body }, options);
  },
  {
    touches: [evaluationKeys.all, benchmarkKeys.all],
    keyed: 'startEval',
    starts: ({ eval_run_id, ...answer }, { model, checkpoint, trained, ...input }) => {
      const display_name = answer.display_name ?? input.display_name;
      const bench_id = answer.bench_id ?? input.bench_id;
      const from = { base_model_slug: model, parent_checkpoint_id: checkpoint, ...trained };
      // The response has no status.
      const record = { eval_run_id, display_name, bench_id, status: null, ...from };
      return { kind: 'run', id: eval_run_id, label: display_name, parent: bench_id, record };
    },
  },
);

/**
 * The run that a request has started, with the options that were sent; undefined for other requests. Made only from the
 * request and its response, so that all forms and commands get the same result.
 */
export function runWithSentOptions(
  operation: string,
  { params, body }: CallInput<unknown, unknown>,
  answer: unknown,
): SeenResource | undefined {
  // Not parsed with the contract's schemas, which are loaded after the first frame.
  if (operation !== 'startEval' || !isRecord(answer) || !isRecord(body)) return undefined;
  const { eval_run_id } = answer;
  const { display_name, options } = body;
  if (typeof eval_run_id !== 'string' || typeof display_name !== 'string') return undefined;
  const bench_id = typeof answer['bench_id'] === 'string' ? answer['bench_id'] : String(params?.['bench_id']);
  const record = { eval_run_id, display_name, bench_id, status: null, [sentOptionsField]: options };
  return { kind: 'run', id: eval_run_id, label: display_name, parent: bench_id, record };
}

export const cancelRun = action(
  (service, { eval_run_id }: Pick<EvalRun, 'eval_run_id'>, options) =>
    service.call('cancelEval', { params: { eval_run_id } }, options),
  { touches: [evaluationKeys.all] },
);

type CallContext = Pick<QueryContext, 'service'> & Pick<CallOptions, 'signal'>;

const listRuns = ({ service, signal }: CallContext, bench_id: string, query: ListQuery) =>
  service.call('listEvalRuns', { params: { bench_id }, query }, { signal });

/** Services that follow the document need the benchmark to delete a run. If the record lacks it, nothing is sent. */
export const deleteRun = action(
  (service, { bench_id, eval_run_id }: Pick<EvalRun, 'bench_id' | 'eval_run_id'>, options) =>
    service.call('deleteEvalRun', { params: { bench_id: bench_id ?? '', eval_run_id } }, options),
  {
    touches: [evaluationKeys.all, benchmarkKeys.all],
    removes: {
      resource: ({ eval_run_id }) => ({ kind: 'run', id: eval_run_id }),
      reread: async (service, { bench_id, eval_run_id }, options): Promise<unknown> => {
        // A list that contains the run is conclusive. A list without it may just omit evaluations made by training
        // runs.
        const listed =
          bench_id &&
          (await ifThere(() =>
            findOnPages(
              cursor => readRows({ cursor }, query => listRuns({ service, ...options }, bench_id, query)),
              each => each.eval_run_id === eval_run_id,
            ),
          ));
        if (listed) return listed;
        const input = { params: { eval_run_id } };
        return service.call('getEvalRun', input, options).catch((error: unknown) => {
          if (!isNotOffered(error) && !mayLackPath(error)) throw error;
          // Every service has an operation for a run's rewards, even if there are none.
          return service.call('getTrajectoryRewards', input, options);
        });
      },
    },
  },
);

/** A benchmark's runs, and all benchmarks', as the service lists them. */
export const { ofBenchmark: listedRunsOf, ofAll: everyListedRun } = runLists<EvalRun>({
  ...{ remembered, keys: evaluationKeys, operation: 'listEvalRuns', noun: 'runs', read: listRuns },
  // The count may be missing: only a zero makes the request unnecessary.
  mayHave: ({ eval_run_count }) => eval_run_count !== 0,
});

/**
 * The activity of an ended run: while its reported mean differs from the mean of its listed rewards, either may be out
 * of date.
 */
function activityOfMean(status: string | null | undefined, reported: RecordedMean, listed: RecordedMean): Activity {
  const isSame = isSameMean(reported, listed, intervalDefaults.range);
  return hasEnded(status) && !isSame ? 'settling' : activityOfRun(status);
}

const unknownMean: RecordedMean = { mean: undefined, graded: undefined };

/**
 * @param listed the mean of the rewards that were read
 * @param ended whether the run is known to have ended
 */
export function evalRunQuery(runId: string, listed = unknownMean, ended = false): LiveQuery<EvalRun> {
  const query: LiveQuery<EvalRun> = {
    key: evaluationKeys.one(runId),
    activity: run => {
      const reported = { mean: run?.reward_mean ?? undefined, graded: countOf(run?.reward_count) };
      return activityOfMean(run?.status, reported, listed);
    },
    read: ({ service, signal }) => service.call('getEvalRun', { params: { eval_run_id: runId } }, { signal }),
  };
  return remembered.one(query, runId, {
    listed: { by: 'listEvalRuns', in: parent => (parent === undefined ? everyListedRun : listedRunsOf(parent)) },
    read: async (context, seen) => {
      // If the run exists, its rewards can be read, even if there are none.
      // A remembered status is valid only if it is final.
      const isOver = hasEnded(seen?.status);
      const { mean = null, rewards } = meanOfRewards(await readTrajectoryRewards(runId, context, ended || isOver));
      const outcome = { reward_mean: mean, reward_count: rewards };
      if (isOver) return { ...seen, eval_run_id: runId, ...outcome };
      return { ...seen, eval_run_id: runId, status: null, ...outcome, remembered_at: undefined };
    },
  });
}

/** Declares a run as the parent of lists that belong to it. */
export function partOfRun(runId: string): NonNullable<ListSource<never>['partOf']> {
  return { kind: 'run', id: runId, read: evalRunQuery(runId).read };
}

/**
 * The number of completed rollouts. Services differ on whether rollouts cancelled along with their run are terminal;
 * here they are not complete.
 */
export function rolloutsDone({ terminal_rollouts, live }: EvalProgress): number | undefined {
  const terminal = countOf(terminal_rollouts);
  if (terminal === undefined) return undefined;
  const { scored_rollouts, failed_rollouts, cancelled_rollouts } = live ?? {};
  return Math.max(
    terminal - (cancelled_rollouts ?? 0),
    Math.min(terminal, (scored_rollouts ?? 0) + (failed_rollouts ?? 0)),
  );
}

/** The number of finished rollouts. A rollout with a reward is finished, even if the count is older. */
export function doneWith(done: number | undefined, graded: number | undefined): number | undefined {
  return done === undefined ? undefined : Math.max(done, graded ?? 0);
}

/** The parameters are those of {@link evalRunQuery}. */
export function evalProgressQuery(runId: string, listed = unknownMean, ended = false): LiveQuery<EvalProgress> {
  return {
    key: evaluationKeys.progress(runId),
    about: { kind: 'run', id: runId },
    observes: progress => {
      const { status, total_rollouts: total, live, failure, waits_because: waits } = progress;
      const mean = live?.final_reward_mean ?? live?.provisional_reward_mean;
      const done = rolloutsDone(progress);
      const graded = live?.scored_rollouts;
      const failed = live?.failed_rollouts;
      const reason = failureReason(failure);
      return { kind: 'run', id: runId, status, done, total, mean, graded, failed, reason, waits };
    },
    activity: progress => {
      const { final_reward_mean: mean, scored_rollouts: graded } = progress?.live ?? {};
      return activityOfMean(progress?.status, { mean: mean ?? undefined, graded: countOf(graded) }, listed);
    },
    read: context =>
      readPart('getEvalProgress', evalRunQuery(runId, listed, ended), context, () =>
        context.service.call('getEvalProgress', { params: { eval_run_id: runId } }, { signal: context.signal }),
      ),
  };
}
