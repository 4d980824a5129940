/** Evaluation runs: start, read, cancel, delete. */
import { hasEnded } from '../../../contract/status.ts';
import { ModelUnavailable } from '../../engine/catalog.ts';
import { evaluationOptionSpecs, evaluationOptions, listOptions, readOptions } from '../../engine/options.ts';
import { baseModels } from '../../model/base-models.ts';
import { warningsOf } from '../../samples/manifest.ts';
import type { RolloutCounts } from '../../store/evaluations.ts';
import { type EvalRunRow, storedFailure, storedStart } from '../../store/records.ts';
import { alreadyEnded, invalid, notFound } from '../errors.ts';
import type { Area, Call, ServiceContext } from '../handlers.ts';
import type { BodyOf } from '../requests.ts';
import { findBenchmark, namedBenchmark, requireReady, tasksToRun, withOptions } from './launch.ts';

/** Training never uses this split. */
const evaluatedSplit = 'test';
const pipeline_name = 'local-evaluation';

/**
 * A run in the contract's form, with every generation's names. Once it has ended, it includes the mean and number of
 * its rewards.
 */
function evalRunRecord(
  { engine }: ServiceContext,
  row: EvalRunRow,
  { scored, mean }: Pick<RolloutCounts, 'scored' | 'mean'>,
) {
  const { organization_id: _, ...run } = row;
  const ended = hasEnded(row.status);
  return {
    ...run,
    reward_mean: ended ? (row.reward_mean ?? mean) : null,
    reward_count: ended ? scored : null,
    model_slug: run.base_model_slug,
    checkpoint_id: run.parent_checkpoint_id,
    agent_id: null,
    ...storedStart(row),
    waits_because: engine.problemOf('evaluation', row.eval_run_id),
    failure: storedFailure(row),
  };
}

/** The model to evaluate: a base model, or a checkpoint of one. `field` is the request's field for the model. */
function findModel(
  { training, catalog }: ServiceContext,
  organizationId: string,
  { model_slug: slug, checkpoint_id: id }: BodyOf<'startEval'>,
  field: string,
) {
  const checkpoint = id === undefined ? undefined : training.checkpoint(organizationId, id);
  if (id !== undefined && !checkpoint) throw notFound('checkpoint', id);
  if (slug && checkpoint && slug !== checkpoint.base_model_slug) {
    throw invalid(field, `the checkpoint belongs to ${checkpoint.base_model_slug}.`);
  }
  if (checkpoint) return { model: checkpoint.base_model_slug, checkpoint };
  if (!slug) throw invalid(field, 'name the model to evaluate.');
  try {
    catalog.forEvaluation(slug, undefined);
  } catch (error) {
    if (!(error instanceof ModelUnavailable)) throw error;
    throw invalid(field, error.message);
  }
  return { model: slug, checkpoint: undefined };
}

function startEval(
  service: ServiceContext,
  { organizationId, params, idempotencyKey, ignored, body }: Call<'startEval'>,
) {
  const { evaluations, idempotency, engine } = service;
  // The document's address names the benchmark; the newest generation's does not.
  const pathId = params['bench_id'];
  const modelField = pathId === undefined ? 'base_model_slug' : 'model_slug';
  if (pathId !== undefined && body.display_name === undefined) throw invalid('display_name', 'name the run.');
  // Validate inside, so that a repeat gets the first response even if the benchmark has changed.
  const identity = { ...body, bench_id: pathId ?? body.bench_id };
  const request = { organizationId, operation: 'startEval', key: idempotencyKey, body: identity };
  const result = idempotency.once(request, () => {
    const benchmark = namedBenchmark(service, organizationId, body, pathId);
    const { model, checkpoint } = findModel(service, organizationId, body, modelField);
    const read = withOptions(() => readOptions(evaluationOptionSpecs, body.options ?? {}));
    const options = evaluationOptions(read.set);
    requireReady(service, organizationId, benchmark.bench_id);
    const { evaluation_max_samples: most, evaluation_samples_per_task: samples } = options;
    const tasks = tasksToRun(service, benchmark.bench_id, evaluatedSplit).slice(0, most);
    const run = evaluations.create(organizationId, {
      bench_id: benchmark.bench_id,
      display_name: body.display_name ?? `${benchmark.label} with ${checkpoint?.checkpoint_id ?? model}`,
      base_model_slug: model,
      parent_checkpoint_id: checkpoint?.checkpoint_id ?? null,
      training_run_id: checkpoint?.training_run_id ?? null,
      step: checkpoint?.step_index ?? null,
      split: evaluatedSplit,
      total_rollouts: tasks.length * samples,
      options,
      ignored_options: [...ignored, ...read.ignored],
      warnings: warningsOf(tasks),
    });
    return {
      bench_id: run.bench_id,
      eval_run_id: run.eval_run_id,
      pipeline_run_id: run.pipeline_run_id,
      display_name: run.display_name,
      execution_id: run.execution_id,
      pipeline_name,
      experiment_name: benchmark.label,
      ignored_options: storedStart(run).ignored_options,
    };
  });
  engine.wake();
  return result;
}

function findEvalRun({ evaluations }: ServiceContext, { organizationId, params }: Call): EvalRunRow {
  const runId = params['eval_run_id'] ?? '';
  const run = evaluations.get(organizationId, runId);
  if (!run) throw notFound('evaluation run', runId);
  return run;
}

function listEvalRuns(service: ServiceContext, { organizationId, params }: Call<'listEvalRuns'>) {
  const { bench_id } = findBenchmark(service, organizationId, params['bench_id'] ?? '');
  const sums = service.evaluations.rewardSums(organizationId, bench_id);
  const none = { scored: 0, mean: null };
  const runs = service.evaluations.list(organizationId, bench_id);
  return runs.map(run => evalRunRecord(service, run, sums.get(run.eval_run_id) ?? none));
}

function getEvalProgress(service: ServiceContext, call: Call<'getEvalProgress'>) {
  const run = findEvalRun(service, call);
  const { eval_run_id, status, total_rollouts } = run;
  const { scored, failed, ungraded, mean } = service.evaluations.counts(eval_run_id);
  const ended = hasEnded(status);
  // Cancelled rollouts never began, so they are not included.
  const terminal_rollouts = scored + failed + ungraded;
  const left = Math.max(0, total_rollouts - terminal_rollouts);
  return {
    eval_run_id,
    status,
    failure: storedFailure(run),
    waits_because: service.engine.problemOf('evaluation', eval_run_id),
    terminal_rollouts,
    total_rollouts,
    live: {
      waiting_rollouts: ended ? 0 : left,
      running_rollouts: 0,
      awaiting_result_rollouts: 0,
      scored_rollouts: scored,
      failed_rollouts: failed,
      ungraded_rollouts: ungraded,
      cancelled_rollouts: status === 'cancelled' ? left : 0,
      provisional_reward_mean: mean,
      final_reward_mean: ended ? (run.reward_mean ?? mean) : null,
    },
  };
}

function cancelEval(service: ServiceContext, call: Call<'cancelEval'>) {
  const { eval_run_id, status } = findEvalRun(service, call);
  if (!service.evaluations.setStatus(eval_run_id, 'cancelled')) throw alreadyEnded(status);
  service.engine.wake();
  return { eval_run_id, status: 'cancelled' };
}

function getEvalOptions(service: ServiceContext, { organizationId, query }: Call<'getEvalOptions'>) {
  const { bench_id = null, base_model_slug: slug } = query;
  if (bench_id !== null) findBenchmark(service, organizationId, bench_id);
  const models = baseModels.filter(model => slug === undefined || model.slug === slug);
  const options = listOptions(evaluationOptionSpecs);
  return { bench_id, models: models.map(model => ({ base_model_slug: model.slug, options })) };
}

function deleteEvalRun(service: ServiceContext, call: Call<'deleteEvalRun'>) {
  const { bench_id, eval_run_id } = findEvalRun(service, call);
  const { bench_id: pathId = bench_id } = call.params;
  if (pathId !== bench_id) throw notFound('evaluation run', eval_run_id);
  service.evaluations.delete(call.organizationId, eval_run_id);
  service.engine.wake();
  return { bench_id, eval_run_id };
}

export const evaluationArea: Area = {
  name: 'evaluations',
  routes: {
    startEval,
    listEvalRuns,
    getEvalRun: (service, call) => {
      const run = findEvalRun(service, call);
      return evalRunRecord(service, run, service.evaluations.counts(run.eval_run_id));
    },
    getEvalProgress,
    cancelEval,
    getRolloutStatistics: (service, call) => {
      const { eval_run_id } = findEvalRun(service, call);
      return { eval_run_id, snapshots: service.evaluations.snapshots(eval_run_id) };
    },
    getTrajectoryRewards: (service, call) => {
      const { eval_run_id } = findEvalRun(service, call);
      return { eval_run_id, trajectory_rewards: service.evaluations.rewards(eval_run_id) };
    },
    getEvalOptions,
    deleteEvalRun,
  },
};
