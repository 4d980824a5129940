/** Training runs: start, read, curves, checkpoints, cancel, delete. */

import { hasEnded } from '../../../contract/status.ts';
import type { StartTrainingBody } from '../../../contract/training.ts';
import { isBaseModel } from '../../engine/catalog.ts';
import { readTrainingOptions, TrainingOptionError, trainingOptionSpecs } from '../../engine/training-options.ts';
import { once } from '../../store/idempotency.ts';
import type { CheckpointRow, TrainingRunRow } from '../../store/records.ts';
import type { Call, ServiceContext } from '../context.ts';
import { ApiError, apiError, notFound } from '../errors.ts';
import type { Handlers } from '../handlers.ts';
import { findBenchmark, requireReady } from './launch.ts';

function recordOf(row: TrainingRunRow) {
  const { organization_id: _, total_steps: __, failure, options, ...run } = row;
  return {
    ...run,
    options: JSON.parse(options) as unknown,
    failure: failure === null ? null : (JSON.parse(failure) as unknown),
    has_training_execution: run.status !== 'pending',
  };
}

function checkpointOf({ checkpoint_id, step_index, created_at, training_run_id, base_model_slug }: CheckpointRow) {
  return { checkpoint_id, step_index, created_at, training_run_id, base_model_slug };
}

export function trainingRoutes(service: ServiceContext): Handlers {
  const { training, database, weights, engine, benchmarks, user } = service;
  const find = ({ organizationId, params }: Call): TrainingRunRow => {
    const runId = params['training_run_id'] ?? '';
    const run = training.get(organizationId, runId);
    if (!run) throw notFound('training run', runId);
    return run;
  };

  /** What training begins with: a base model, or a checkpoint, which knows its own. */
  const startingPoint = (organizationId: string, body: StartTrainingBody) => {
    const { base_model_slug: slug, parent_checkpoint_id: parentId } = body;
    const parent = parentId === undefined ? undefined : training.checkpoint(organizationId, parentId);
    if (parentId !== undefined && !parent) throw notFound('checkpoint', parentId);
    if (parent && slug !== undefined && slug !== parent.base_model_slug) {
      throw apiError('validation_error', `base_model_slug: the checkpoint is of ${parent.base_model_slug}.`, {
        param: 'base_model_slug',
      });
    }
    const model = parent?.base_model_slug ?? slug;
    if (model === undefined) {
      throw apiError('validation_error', 'base_model_slug: name the model to train.', { param: 'base_model_slug' });
    }
    if (!isBaseModel(model)) {
      throw apiError('validation_error', `base_model_slug: there is no model ${model} that can be trained here.`, {
        param: 'base_model_slug',
      });
    }
    return { base_model_slug: model, parent_checkpoint_id: parent?.checkpoint_id ?? null };
  };

  const start = (call: Call): unknown => {
    const { organizationId, idempotencyKey } = call;
    const body = call.body as StartTrainingBody;
    const run = once(database, organizationId, idempotencyKey, body, () => {
      const benchmark = findBenchmark(service, organizationId, body.bench_id);
      const from = startingPoint(organizationId, body);
      requireReady(service, organizationId, benchmark.bench_id);
      const tasks = benchmarks.tasks(benchmark.bench_id, 'train');
      if (tasks.length === 0) {
        throw apiError('validation_error', 'bench_id: the benchmark has no tasks in its train split.', {
          param: 'bench_id',
        });
      }
      const options = readOptions(body, { base_model_slug: from.base_model_slug, tasks });
      const created = training.create(organizationId, {
        bench_id: benchmark.bench_id,
        display_name: body.display_name ?? `${benchmark.label} with ${from.base_model_slug}`,
        ...from,
        options,
        total_steps: options.num_steps,
        created_by: user,
      });
      return recordOf(created);
    });
    engine.wake();
    return run;
  };

  return {
    startTraining: start,
    listTrainingRuns: call => {
      const { bench_id } = findBenchmark(service, call.organizationId, call.params['bench_id'] ?? '');
      return training.list(call.organizationId, bench_id).map(recordOf);
    },
    getTrainingRun: call => recordOf(find(call)),
    getTrainingProgress: call => {
      const run = find(call);
      return {
        training_run_id: run.training_run_id,
        status: run.status,
        completed_steps: training.completedSteps(run.training_run_id),
        total_steps: run.total_steps,
        ...(run.failure === null ? {} : { failure: JSON.parse(run.failure) as unknown }),
      };
    },
    cancelTraining: call => {
      const { training_run_id } = find(call);
      training.move(training_run_id, ['pending', 'running'], 'cancel_signaled');
      const { status } = find(call);
      if (hasEnded(status)) {
        throw new ApiError(409, 'conflict_error', 'run_already_terminal', `The run has already ended as ${status}.`);
      }
      engine.wake();
      return { training_run_id, status };
    },
    deleteTrainingRun: call => {
      const { training_run_id, status } = find(call);
      if (!hasEnded(status)) {
        throw new ApiError(409, 'conflict_error', 'run_not_terminal', `The run is ${status}; cancel it first.`);
      }
      const users = training.usersOf(training_run_id);
      if (users.length > 0) {
        throw new ApiError(409, 'conflict_error', 'run_in_use', `A checkpoint of the run is needed by ${users[0]}.`, {
          context: { used_by: users },
        });
      }
      training.delete(training_run_id);
      weights.removeRun(training_run_id);
      return { training_run_id };
    },
    listCheckpoints: call => training.checkpoints(find(call).training_run_id).map(checkpointOf),
    getCheckpoint: call => {
      const { training_run_id } = find(call);
      const step = Number(call.params['step_index']);
      const checkpoint = training.checkpoints(training_run_id).find(({ step_index }) => step_index === step);
      if (!checkpoint) throw notFound('checkpoint of step', call.params['step_index'] ?? '');
      return checkpointOf(checkpoint);
    },
    getTrainerRewards: call => ({ trainer_rewards: training.trainerRewards(find(call).training_run_id) }),
    getHeldOutRewards: call => ({ held_out_rewards: training.heldOutRewards(find(call).training_run_id) }),
    getStepTrajectoryRewards: call => {
      const { training_run_id } = find(call);
      const step = Number(call.params['step']);
      const trajectory_rewards = training.stepRewards(training_run_id, step);
      if (!trajectory_rewards) throw notFound('step', call.params['step'] ?? '');
      return { training_run_id, step, trajectory_rewards };
    },
    getTrainingOptions: () => ({ options: trainingOptionSpecs }),
  };
}

function readOptions(body: StartTrainingBody, run: Parameters<typeof readTrainingOptions>[1]) {
  try {
    return readTrainingOptions(body.options ?? {}, run);
  } catch (error) {
    if (!(error instanceof TrainingOptionError)) throw error;
    const param = `options.${error.option}`;
    throw apiError('validation_error', `${param}: ${error.message}`, { param });
  }
}
