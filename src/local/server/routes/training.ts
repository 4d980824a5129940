/** Training runs: start, read, curves, checkpoints, cancel, delete. */

import { existsSync } from 'node:fs';
import { hasEnded, waitBeforeDelete } from '../../../contract/status.ts';
import { isBaseModel } from '../../engine/catalog.ts';
import { listOptions } from '../../engine/options.ts';
import { longestAnswerOf, readTrainingOptions, trainingOptionSpecs } from '../../engine/training-options.ts';
import { baseModels } from '../../model/base-models.ts';
import { warningsOf } from '../../samples/manifest.ts';
import { type CheckpointRow, storedFailure, storedStart, type TrainingRunRow } from '../../store/records.ts';
import { alreadyEnded, conflict, invalid, notFound } from '../errors.ts';
import type { Area, Call, ServiceContext } from '../handlers.ts';
import type { BodyOf } from '../requests.ts';
import { findBenchmark, namedBenchmark, requireReady, tasksToRun, withOptions } from './launch.ts';

/** A run in the contract's form, with every generation's names. */
function trainingRunRecord({ engine }: ServiceContext, row: TrainingRunRow) {
  const { organization_id: _, total_steps: __, ...run } = row;
  return {
    ...run,
    model_slug: run.base_model_slug,
    agent_id: null,
    ...storedStart(row),
    waits_because: engine.problemOf('training', row.training_run_id),
    resolved_trajectory_options: null,
    failure: storedFailure(row),
    has_training_execution: run.status !== 'pending',
  };
}

/** The model to train: a base model, or a checkpoint, whose base model is recorded. */
function startingPoint({ training }: ServiceContext, organizationId: string, body: BodyOf<'startTraining'>) {
  const { base_model_slug: slug, parent_checkpoint_id: parentId } = body;
  const parent = parentId === undefined ? undefined : training.checkpoint(organizationId, parentId);
  if (parentId !== undefined && !parent) throw notFound('checkpoint', parentId);
  if (parent && slug !== undefined && slug !== parent.base_model_slug) {
    throw invalid('base_model_slug', `the checkpoint belongs to ${parent.base_model_slug}.`);
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

function startTraining(
  service: ServiceContext,
  { organizationId, idempotencyKey, ignored, body }: Call<'startTraining'>,
) {
  const { training, idempotency, engine, benchmarks, user } = service;
  const run = idempotency.once({ organizationId, operation: 'startTraining', key: idempotencyKey, body }, () => {
    const benchmark = namedBenchmark(service, organizationId, body);
    const from = startingPoint(service, organizationId, body);
    requireReady(service, organizationId, benchmark.bench_id);
    const tasks = tasksToRun(service, benchmark.bench_id, 'train');
    if (tasks.every(({ grader }) => grader.kind === 'none')) {
      throw invalid('bench_id', `there is nothing to learn from. ${warningsOf(tasks).join(' ')}`);
    }
    const all = benchmarks.tasks(benchmark.bench_id);
    const on = { base_model_slug: from.base_model_slug, tasks, longestAnswer: longestAnswerOf(all) };
    const read = withOptions(() => readTrainingOptions(body.options ?? {}, on));
    const created = training.create(organizationId, {
      bench_id: benchmark.bench_id,
      display_name: body.display_name ?? `${benchmark.label} with ${from.base_model_slug}`,
      ...from,
      options: read.options,
      ignored_options: [...ignored, ...read.ignored],
      warnings: warningsOf(all),
      total_steps: read.options.num_steps,
      created_by: user,
    });
    return trainingRunRecord(service, created);
  });
  engine.wake();
  return run;
}

function findTrainingRun({ training }: ServiceContext, { organizationId, params }: Call): TrainingRunRow {
  const runId = params['training_run_id'] ?? '';
  const run = training.get(organizationId, runId);
  if (!run) throw notFound('training run', runId);
  return run;
}

function cancelTraining(service: ServiceContext, call: Call<'cancelTraining'>) {
  const { training_run_id } = findTrainingRun(service, call);
  service.training.move(training_run_id, ['pending', 'running'], 'cancel_signaled');
  const { status } = findTrainingRun(service, call);
  if (hasEnded(status)) throw alreadyEnded(status);
  service.engine.wake();
  return { training_run_id, status };
}

function deleteTrainingRun(service: ServiceContext, call: Call<'deleteTrainingRun'>) {
  const { training_run_id, status } = findTrainingRun(service, call);
  if (!hasEnded(status)) {
    throw conflict('run_not_terminal', `The run is ${status}: ${waitBeforeDelete(status)}.`);
  }
  const users = service.training.usersOf(training_run_id);
  if (users.length > 0) {
    throw conflict('run_in_use', `${users[0]} uses one of the run's checkpoints.`, { context: { used_by: users } });
  }
  service.training.delete(training_run_id);
  service.weights.removeRun(training_run_id);
  return { training_run_id };
}

function checkpointRecord({ weights }: ServiceContext, row: CheckpointRow) {
  const { checkpoint_id, step_index, created_at, training_run_id, base_model_slug } = row;
  const is_deployable = existsSync(weights.checkpoint(training_run_id, step_index));
  return { checkpoint_id, step_index, created_at, training_run_id, base_model_slug, is_deployable };
}

function getCheckpoint(service: ServiceContext, call: Call<'getCheckpoint'>) {
  const { training_run_id } = findTrainingRun(service, call);
  const step = call.params['step_index'] ?? '';
  const checkpoint = service.training.checkpoints(training_run_id).find(row => row.step_index === Number(step));
  if (!checkpoint) throw notFound('checkpoint of step', step);
  return checkpointRecord(service, checkpoint);
}

function getHeldOutRewards(service: ServiceContext, call: Call<'getHeldOutRewards'>) {
  const { training_run_id } = findTrainingRun(service, call);
  const held_out_rewards = service.training.heldOutRewards(training_run_id).map(point => ({
    ...point,
    cancelled_samples: 0,
    loaded_trajectories: point.completed_samples,
    round_completed: true,
  }));
  return { training_run_id, held_out_rewards };
}

function getStepTrajectoryRewards(service: ServiceContext, call: Call<'getStepTrajectoryRewards'>) {
  const { training_run_id } = findTrainingRun(service, call);
  const step = call.params['step'] ?? '';
  const trajectory_rewards = service.training.stepRewards(training_run_id, Number(step));
  if (!trajectory_rewards) throw notFound('step', step);
  return { training_run_id, step: Number(step), trajectory_rewards };
}

function getTrainingOptions(service: ServiceContext, { organizationId, query }: Call<'getTrainingOptions'>) {
  const { bench_id = null, base_model_slug: slug } = query;
  const benchmark = bench_id === null ? undefined : findBenchmark(service, organizationId, bench_id);
  const all = benchmark ? service.benchmarks.tasks(benchmark.bench_id) : [];
  const tasks = all.filter(({ split }) => split === 'train');
  const longestAnswer = longestAnswerOf(all);
  const models = baseModels.filter(model => slug === undefined || model.slug === slug);
  return {
    bench_id,
    models: models.map(({ slug: base_model_slug }) => {
      const defaults =
        tasks.length === 0 ? {} : readTrainingOptions({}, { base_model_slug, tasks, longestAnswer }).options;
      return { base_model_slug, options: listOptions(trainingOptionSpecs, defaults) };
    }),
  };
}

export const trainingArea: Area = {
  name: 'training',
  routes: {
    startTraining,
    listTrainingRuns: (service, { organizationId, params }) => {
      const { bench_id } = findBenchmark(service, organizationId, params['bench_id'] ?? '');
      return service.training.list(organizationId, bench_id).map(run => trainingRunRecord(service, run));
    },
    getTrainingRun: (service, call) => {
      const run = findTrainingRun(service, call);
      return { ...trainingRunRecord(service, run), diagnostics: service.training.diagnostics(run.training_run_id) };
    },
    getTrainingProgress: (service, call) => {
      const run = findTrainingRun(service, call);
      const { training_run_id, status, total_steps } = run;
      const completed_steps = service.training.completedSteps(training_run_id);
      const waits_because = service.engine.problemOf('training', training_run_id);
      return { training_run_id, status, completed_steps, total_steps, failure: storedFailure(run), waits_because };
    },
    cancelTraining,
    deleteTrainingRun,
    listCheckpoints: (service, call) => {
      const checkpoints = service.training.checkpoints(findTrainingRun(service, call).training_run_id);
      return { items: checkpoints.map(row => checkpointRecord(service, row)) };
    },
    getCheckpoint,
    getTrainerRewards: (service, call) => {
      const { training_run_id } = findTrainingRun(service, call);
      return { training_run_id, trainer_rewards: service.training.trainerRewards(training_run_id) };
    },
    getHeldOutRewards,
    getStepTrajectoryRewards,
    getTrainingOptions,
  },
};
