/** Evaluation runs: start, read, cancel, delete. */
import { hasEnded } from '../../../contract/status.ts';
import { ModelUnavailable } from '../../engine/catalog.ts';
import { evaluationOptionSpecs, evaluationOptions, listOptions, readOptions } from '../../engine/options.ts';
import { baseModels } from '../../model/base-models.ts';
import { warningsOf } from '../../samples/manifest.ts';
import type { RolloutCounts } from '../../store/evaluations.ts';
import { type EvalRunRow, storedFailure, storedStart } from '../../store/records.ts';
import { alreadyEnded, invalid, notFound } from '../errors.ts';
import type { Area, Call, Handlers, ServiceContext } from '../handlers.ts';
import type { BodyOf } from '../requests.ts';
import { findBenchmark, namedBenchmark, requireReady, tasksToRun, withOptions } from './launch.ts';

/** Evaluations run on tasks that training does not see. */
const evaluatedSplit = 'test';
const pipeline_name = 'local-evaluation';

/**
 * A run in the contract's form, with the names of every generation. Once it has ended, however it did, it has the mean of
 * its rewards, and their number.
 */
function recordOf(row: EvalRunRow, { scored, mean }: Pick<RolloutCounts, 'scored' | 'mean'>) {
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
    failure: storedFailure(row),
  };
}

/** The model to evaluate: a base model, or a checkpoint of it. `field` is the request's name for the model. */
function evaluated(
  { training, catalog }: ServiceContext,
  organizationId: string,
  { model_slug: slug, checkpoint_id: id }: BodyOf<'startEval'>,
  field: string,
) {
  const checkpoint = id === undefined ? undefined : training.checkpoint(organizationId, id);
  if (id !== undefined && !checkpoint) throw notFound('checkpoint', id);
  if (slug && checkpoint && slug !== checkpoint.base_model_slug) {
    throw invalid(field, `the checkpoint is of ${checkpoint.base_model_slug}.`);
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

function start(service: ServiceContext, { organizationId, params, idempotencyKey, ignored, body }: Call<'startEval'>) {
  const { evaluations, idempotency, engine } = service;
  const isDocuments = params['bench_id'] !== undefined;
  if (isDocuments && body.display_name === undefined) throw invalid('display_name', 'name the run.');
  const inPath = params['bench_id'];
  const asked = { ...body, bench_id: inPath ?? body.bench_id };
  // All validation is inside: a repeat gets the first answer even if the benchmark has changed.
  const keyed = { organizationId, operation: 'startEval', key: idempotencyKey, body: asked };
  const result = idempotency.once(keyed, () => {
    const benchmark = namedBenchmark(service, organizationId, body, inPath);
    const { model, checkpoint } = evaluated(
      service,
      organizationId,
      body,
      isDocuments ? 'model_slug' : 'base_model_slug',
    );
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

export function evaluationRoutes(service: ServiceContext): Handlers {
  const { evaluations, engine } = service;
  const find = ({ organizationId, params }: Call): EvalRunRow => {
    const runId = params['eval_run_id'] ?? '';
    const run = evaluations.get(organizationId, runId);
    if (!run) throw notFound('evaluation run', runId);
    return run;
  };

  return {
    startEval: call => start(service, call),
    listEvalRuns: call => {
      const { bench_id } = findBenchmark(service, call.organizationId, call.params['bench_id'] ?? '');
      const sums = evaluations.rewardSums(call.organizationId, bench_id);
      const none = { scored: 0, mean: null };
      return evaluations
        .list(call.organizationId, bench_id)
        .map(run => recordOf(run, sums.get(run.eval_run_id) ?? none));
    },
    getEvalRun: call => {
      const run = find(call);
      return recordOf(run, evaluations.counts(run.eval_run_id));
    },
    getEvalProgress: call => {
      const run = find(call);
      const { scored, failed, ungraded, mean } = evaluations.counts(run.eval_run_id);
      const ended = hasEnded(run.status);
      const done = scored + failed + ungraded;
      const left = Math.max(0, run.total_rollouts - done);
      return {
        eval_run_id: run.eval_run_id,
        status: run.status,
        failure: storedFailure(run),
        // Those that were cancelled never began.
        terminal_rollouts: done,
        total_rollouts: run.total_rollouts,
        live: {
          waiting_rollouts: ended ? 0 : left,
          running_rollouts: 0,
          awaiting_result_rollouts: 0,
          scored_rollouts: scored,
          failed_rollouts: failed,
          ungraded_rollouts: ungraded,
          cancelled_rollouts: run.status === 'cancelled' ? left : 0,
          provisional_reward_mean: mean,
          final_reward_mean: ended ? (run.reward_mean ?? mean) : null,
        },
      };
    },
    cancelEval: call => {
      const run = find(call);
      if (!evaluations.setStatus(run.eval_run_id, 'cancelled')) {
        throw alreadyEnded(run.status);
      }
      engine.wake();
      return { eval_run_id: run.eval_run_id, status: 'cancelled' };
    },
    getRolloutStatistics: call => {
      const { eval_run_id } = find(call);
      return { eval_run_id, snapshots: evaluations.snapshots(eval_run_id) };
    },
    getTrajectoryRewards: call => {
      const { eval_run_id } = find(call);
      return { eval_run_id, trajectory_rewards: evaluations.rewards(eval_run_id) };
    },
    getEvalOptions: call => {
      const { bench_id = null, base_model_slug: slug } = call.query;
      if (bench_id !== null) findBenchmark(service, call.organizationId, bench_id);
      const models = baseModels.filter(model => slug === undefined || model.slug === slug);
      const options = listOptions(evaluationOptionSpecs);
      return { bench_id, models: models.map(model => ({ base_model_slug: model.slug, options })) };
    },
    deleteEvalRun: call => {
      const { bench_id, eval_run_id } = find(call);
      const { bench_id: named = bench_id } = call.params;
      if (named !== bench_id) throw notFound('evaluation run', eval_run_id);
      evaluations.delete(call.organizationId, eval_run_id);
      engine.wake();
      return { bench_id, eval_run_id };
    },
  };
}

export const evaluationArea: Area = { name: 'evaluations', routes: evaluationRoutes };
