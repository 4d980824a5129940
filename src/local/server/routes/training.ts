/** Training runs: start, read, curves, checkpoints, cancel, delete. */

import { existsSync } from 'node:fs';
import { hasEnded } from '../../../contract/status.ts';
import { isBaseModel } from '../../engine/catalog.ts';
import { listOptions } from '../../engine/options.ts';
import { readTrainingOptions, trainingOptionSpecs } from '../../engine/training-options.ts';
import { baseModels } from '../../model/base-models.ts';
import { warningsOf } from '../../samples/manifest.ts';
import { type CheckpointRow, storedFailure, storedStart, type TrainingRunRow } from '../../store/records.ts';
import { ApiError, alreadyEnded, invalid, notFound } from '../errors.ts';
import type { Area, Call, Handlers, ServiceContext } from '../handlers.ts';
import type { BodyOf } from '../requests.ts';
import { findBenchmark, namedBenchmark, requireReady, tasksToRun, withOptions } from './launch.ts';

/** A run in the contract's form, with the names of every generation. */
function recordOf(row: TrainingRunRow) {
  const { organization_id: _, total_steps: __, ...run } = row;
  return {
    ...run,
    model_slug: run.base_model_slug,
    agent_id: null,
    ...storedStart(row),
    resolved_trajectory_options: null,
    failure: storedFailure(row),
    has_training_execution: run.status !== 'pending',
  };
}

/** The start of training: a base model, or a checkpoint, which knows its base model. */
function startingPoint({ training }: ServiceContext, organizationId: string, body: BodyOf<'startTraining'>) {
  const { base_model_slug: slug, parent_checkpoint_id: parentId } = body;
  const parent = parentId === undefined ? undefined : training.checkpoint(organizationId, parentId);
  if (parentId !== undefined && !parent) throw notFound('checkpoint', parentId);
  if (parent && slug !== undefined && slug !== parent.base_model_slug) {
    throw invalid('base_model_slug', `the checkpoint is of ${parent.base_model_slug}.`);
  }
  const model = parent?.base_model_slug ?? slug;
  if (model === undefined) {
    throw invalid('base_model_slug', 'name the model to train.');
  }
  if (!isBaseModel(model)) {
    throw invalid('base_model_slug', `there is no model ${model} that can be trained here.`);
  }
  return { base_model_slug: model, parent_checkpoint_id: parent?.checkpoint_id ?? null };
}

function start(service: ServiceContext, { organizationId, idempotencyKey, ignored, body }: Call<'startTraining'>) {
  const { training, idempotency, engine, benchmarks, user } = service;
  const run = idempotency.once({ organizationId, operation: 'startTraining', key: idempotencyKey, body }, () => {
    const benchmark = namedBenchmark(service, organizationId, body);
    const from = startingPoint(service, organizationId, body);
    requireReady(service, organizationId, benchmark.bench_id);
    const tasks = tasksToRun(service, benchmark.bench_id, 'train');
    if (tasks.every(({ grader }) => grader.kind === 'none')) {
      throw invalid('bench_id', `there is nothing to learn from. ${warningsOf(tasks).join(' ')}`);
    }
    const on = { base_model_slug: from.base_model_slug, tasks };
    const read = withOptions(() => readTrainingOptions(body.options ?? {}, on));
    const created = training.create(organizationId, {
      bench_id: benchmark.bench_id,
      display_name: body.display_name ?? `${benchmark.label} with ${from.base_model_slug}`,
      ...from,
      options: read.options,
      ignored_options: [...ignored, ...read.ignored],
      warnings: warningsOf(benchmarks.tasks(benchmark.bench_id)),
      total_steps: read.options.num_steps,
      created_by: user,
    });
    return recordOf(created);
  });
  engine.wake();
  return run;
}

function trainingRoutes(service: ServiceContext): Handlers {
  const { training, weights, engine, benchmarks } = service;
  const checkpointOf = (row: CheckpointRow) => {
    const { checkpoint_id, step_index, created_at, training_run_id, base_model_slug } = row;
    const is_deployable = existsSync(weights.checkpoint(training_run_id, step_index));
    return { checkpoint_id, step_index, created_at, training_run_id, base_model_slug, is_deployable };
  };
  const find = ({ organizationId, params }: Call): TrainingRunRow => {
    const runId = params['training_run_id'] ?? '';
    const run = training.get(organizationId, runId);
    if (!run) throw notFound('training run', runId);
    return run;
  };

  return {
    startTraining: call => start(service, call),
    listTrainingRuns: call => {
      const { bench_id } = findBenchmark(service, call.organizationId, call.params['bench_id'] ?? '');
      return training.list(call.organizationId, bench_id).map(recordOf);
    },
    getTrainingRun: call => {
      const run = find(call);
      return { ...recordOf(run), diagnostics: training.diagnostics(run.training_run_id) };
    },
    getTrainingProgress: call => {
      const run = find(call);
      return {
        training_run_id: run.training_run_id,
        status: run.status,
        completed_steps: training.completedSteps(run.training_run_id),
        total_steps: run.total_steps,
        failure: storedFailure(run),
      };
    },
    cancelTraining: call => {
      const { training_run_id } = find(call);
      training.move(training_run_id, ['pending', 'running'], 'cancel_signaled');
      const { status } = find(call);
      if (hasEnded(status)) {
        throw alreadyEnded(status);
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
    listCheckpoints: call => ({ items: training.checkpoints(find(call).training_run_id).map(checkpointOf) }),
    getCheckpoint: call => {
      const { training_run_id } = find(call);
      const step = Number(call.params['step_index']);
      const checkpoint = training.checkpoints(training_run_id).find(({ step_index }) => step_index === step);
      if (!checkpoint) throw notFound('checkpoint of step', call.params['step_index'] ?? '');
      return checkpointOf(checkpoint);
    },
    getTrainerRewards: call => {
      const { training_run_id } = find(call);
      return { training_run_id, trainer_rewards: training.trainerRewards(training_run_id) };
    },
    getHeldOutRewards: call => {
      const { training_run_id } = find(call);
      const held_out_rewards = training.heldOutRewards(training_run_id).map(point => ({
        ...point,
        cancelled_samples: 0,
        loaded_trajectories: point.completed_samples,
        round_completed: true,
      }));
      return { training_run_id, held_out_rewards };
    },
    getStepTrajectoryRewards: call => {
      const { training_run_id } = find(call);
      const step = Number(call.params['step']);
      const trajectory_rewards = training.stepRewards(training_run_id, step);
      if (!trajectory_rewards) throw notFound('step', call.params['step'] ?? '');
      return { training_run_id, step, trajectory_rewards };
    },
    getTrainingOptions: call => {
      const { bench_id = null, base_model_slug: slug } = call.query;
      const benchmark = bench_id === null ? undefined : findBenchmark(service, call.organizationId, bench_id);
      const tasks = benchmark ? benchmarks.tasks(benchmark.bench_id, 'train') : [];
      const models = baseModels.filter(model => slug === undefined || model.slug === slug);
      return {
        bench_id,
        models: models.map(({ slug: base_model_slug }) => {
          const known = tasks.length === 0 ? {} : readTrainingOptions({}, { base_model_slug, tasks }).options;
          return { base_model_slug, options: listOptions(trainingOptionSpecs, known) };
        }),
      };
    },
  };
}

export const trainingArea: Area = { name: 'training', routes: trainingRoutes };
