/** Evaluation runs: start, read, cancel, delete. */
import type { StartEvalBody } from '../../../contract/evaluations.ts';
import { ModelUnavailable } from '../../engine/catalog.ts';
import { once } from '../../store/idempotency.ts';
import type { EvalRunRow } from '../../store/records.ts';
import type { Call, ServiceContext } from '../context.ts';
import { ApiError, apiError, notFound } from '../errors.ts';
import type { Handlers } from '../handlers.ts';
import { findBenchmark, requireReady } from './launch.ts';

/** Evaluations run on the tasks that training does not see. */
const evaluatedSplit = 'test';
const pipeline_name = 'local-evaluation';

function recordOf(row: EvalRunRow) {
  const { organization_id: _, total_rollouts: __, failure, ...run } = row;
  return { ...run, failure: failure === null ? null : (JSON.parse(failure) as unknown) };
}

export function evaluationRoutes(service: ServiceContext): Handlers {
  const { benchmarks, evaluations, training, catalog, database, engine } = service;
  const find = ({ organizationId, params }: Call): EvalRunRow => {
    const runId = params['eval_run_id'] ?? '';
    const run = evaluations.get(organizationId, runId);
    if (!run) throw notFound('evaluation run', runId);
    return run;
  };

  /** A checkpoint that is named is evaluated instead of the base model. */
  const evaluated = (organizationId: string, { model_slug: slug, checkpoint_id: id }: StartEvalBody) => {
    const checkpoint = id === undefined ? undefined : training.checkpoint(organizationId, id);
    if (id !== undefined && !checkpoint) throw notFound('checkpoint', id);
    if (checkpoint) return { model: checkpoint.base_model_slug, checkpoint };
    if (!slug) throw apiError('validation_error', 'model_slug: name the model to evaluate.', { param: 'model_slug' });
    try {
      catalog.forEvaluation(slug, undefined);
    } catch (error) {
      if (!(error instanceof ModelUnavailable)) throw error;
      throw apiError('validation_error', `model_slug: ${error.message}`, { param: 'model_slug' });
    }
    return { model: slug, checkpoint: undefined };
  };

  const start = (call: Call): unknown => {
    const { organizationId, params, idempotencyKey } = call;
    const body = call.body as StartEvalBody;
    const { bench_id = '' } = params;
    // All checks are within: a repeat gets the first answer, also where the benchmark has changed since.
    const result = once(database, organizationId, idempotencyKey, { ...body, bench_id }, () => {
      const benchmark = findBenchmark(service, organizationId, bench_id);
      const { model, checkpoint } = evaluated(organizationId, body);
      requireReady(service, organizationId, benchmark.bench_id);
      const run = evaluations.create(organizationId, {
        bench_id: benchmark.bench_id,
        display_name: body.display_name,
        base_model_slug: model,
        parent_checkpoint_id: checkpoint?.checkpoint_id ?? null,
        training_run_id: checkpoint?.training_run_id ?? null,
        step: checkpoint?.step_index ?? null,
        split: evaluatedSplit,
        total_rollouts: benchmarks.tasks(benchmark.bench_id, evaluatedSplit).length,
      });
      return {
        bench_id: run.bench_id,
        eval_run_id: run.eval_run_id,
        pipeline_run_id: run.pipeline_run_id,
        display_name: run.display_name,
        execution_id: run.execution_id,
        pipeline_name,
        experiment_name: benchmark.label,
      };
    });
    engine.wake();
    return result;
  };

  return {
    startEval: start,
    listEvalRuns: call => {
      const { bench_id } = findBenchmark(service, call.organizationId, call.params['bench_id'] ?? '');
      return evaluations.list(call.organizationId, bench_id).map(recordOf);
    },
    getEvalRun: call => recordOf(find(call)),
    getEvalProgress: call => {
      const run = find(call);
      const { scored, failed, mean } = evaluations.counts(run.eval_run_id);
      const ended = run.status !== 'pending' && run.status !== 'running';
      const left = Math.max(0, run.total_rollouts - scored - failed);
      return {
        eval_run_id: run.eval_run_id,
        status: run.status,
        failure: run.failure === null ? null : JSON.parse(run.failure),
        terminal_rollouts: scored + failed + (run.status === 'cancelled' ? left : 0),
        total_rollouts: run.total_rollouts,
        live: {
          waiting_rollouts: ended ? 0 : left,
          running_rollouts: 0,
          awaiting_result_rollouts: 0,
          scored_rollouts: scored,
          failed_rollouts: failed,
          cancelled_rollouts: run.status === 'cancelled' ? left : 0,
          provisional_reward_mean: mean,
          final_reward_mean: ended ? run.reward_mean : null,
        },
      };
    },
    cancelEval: call => {
      const run = find(call);
      if (!evaluations.setStatus(run.eval_run_id, 'cancelled')) {
        throw new ApiError(
          409,
          'conflict_error',
          'run_already_terminal',
          `The run has already ended as ${run.status}.`,
        );
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
    deleteEvalRun: call => {
      const { bench_id = '', eval_run_id = '' } = call.params;
      if (!evaluations.delete(call.organizationId, bench_id, eval_run_id))
        throw notFound('evaluation run', eval_run_id);
      engine.wake();
      return { bench_id, eval_run_id };
    },
  };
}
