/** Evaluation runs: start, read, cancel, delete. */
import type { StartEvalBody } from '../../../contract/evaluations.ts';
import { once } from '../../store/idempotency.ts';
import type { EvalRunRow } from '../../store/records.ts';
import type { Call, ServiceContext } from '../context.ts';
import { ApiError, apiError, notFound } from '../errors.ts';
import type { Handlers } from '../handlers.ts';

/** Evaluations run on the tasks that training does not see. */
const evaluatedSplit = 'test';
const pipeline_name = 'local-evaluation';

function recordOf(row: EvalRunRow) {
  const { organization_id: _, total_rollouts: __, failure, ...run } = row;
  return { ...run, failure: failure === null ? null : (JSON.parse(failure) as unknown) };
}

export function evaluationRoutes({ benchmarks, evaluations, database, inference, wake }: ServiceContext): Handlers {
  const find = ({ organizationId, params }: Call): EvalRunRow => {
    const runId = params['eval_run_id'] ?? '';
    const run = evaluations.get(organizationId, runId);
    if (!run) throw notFound('evaluation run', runId);
    return run;
  };

  const start = (call: Call): unknown => {
    const { organizationId, params, idempotencyKey } = call;
    const body = call.body as StartEvalBody;
    const benchmark = benchmarks.get(organizationId, params['bench_id'] ?? '');
    if (!benchmark) throw notFound('benchmark', params['bench_id'] ?? '');
    if (body.checkpoint_id) throw notFound('checkpoint', body.checkpoint_id);
    const model = body.model_slug;
    if (!model) throw apiError('validation_error', 'model_slug: name the model to evaluate.', { param: 'model_slug' });
    if (!inference.has(model)) {
      throw apiError('validation_error', `model_slug: there is no model ${model}.`, { param: 'model_slug' });
    }
    const readiness = benchmarks.readiness(organizationId, benchmark.bench_id);
    if (!readiness.ready) {
      throw new ApiError(
        409,
        'conflict_error',
        'benchmark_not_ready',
        'The benchmark is not ready to launch: see its readiness.',
        {
          context: { ...readiness },
        },
      );
    }
    const result = once(database, organizationId, idempotencyKey, { ...body, bench_id: benchmark.bench_id }, () => {
      const run = evaluations.create(organizationId, {
        bench_id: benchmark.bench_id,
        display_name: body.display_name,
        base_model_slug: model,
        parent_checkpoint_id: null,
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
    wake();
    return result;
  };

  return {
    startEval: start,
    listEvalRuns: call => {
      const benchId = call.params['bench_id'] ?? '';
      if (!benchmarks.get(call.organizationId, benchId)) throw notFound('benchmark', benchId);
      return evaluations.list(call.organizationId, benchId).map(recordOf);
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
      wake();
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
      wake();
      return { bench_id, eval_run_id };
    },
  };
}
