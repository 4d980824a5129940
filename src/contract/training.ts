/** Training runs: progress, and the optional operations: start, records, curves, checkpoints. */
import * as z from 'zod/mini';
import {
  decidingFlag,
  decidingNumber,
  defineEndpoints,
  flag,
  freeForm,
  listQuery,
  number,
  openEnum,
  rows,
  runFailure,
  sentences,
  text,
  withInferredStatus,
  withRenamedFields,
  wrappedList,
} from './common.ts';
import { displayNameLength } from './display-name.ts';
import { runOptionsQuery, trajectoryReward } from './evaluations.ts';
import { trainingStatuses } from './status.ts';

export const trainingProgress = z.looseObject({
  training_run_id: text,
  status: z.nullish(openEnum(trainingStatuses)),
  completed_steps: number,
  failure: z.nullish(runFailure),
  total_steps: number,
  // Sent by the local service, as in the run's record.
  waits_because: text,
});
export type TrainingProgress = z.output<typeof trainingProgress>;

/** Diagnostics for the latest step. Only the local service sends them, here and in each trainer reward. */
export const stepDiagnostics = z.looseObject({
  step: number,
  /** KL divergence to the base model, and entropy of the policy: means over the tokens, in nats. */
  kl: number,
  entropy: number,
  /** Norm before clipping. */
  gradient_norm: number,
  /** Share of the tasks whose answers all have the same reward and so contribute no gradient. */
  equal_groups: number,
  /** Share of the answers that were cut off at the token limit. */
  truncated: number,
});
export type StepDiagnostics = z.output<typeof stepDiagnostics>;

export const trainingRun = withInferredStatus(
  withRenamedFields(
    { base_model_slug: ['model_slug'] },
    z.looseObject({
      training_run_id: z.string(),
      pipeline_run_id: text,
      display_name: text,
      status: z.nullish(openEnum(trainingStatuses)),
      bench_id: text,
      base_model_slug: text,
      options: freeForm,
      created_by: text,
      created_at: text,
      failure: z.nullish(runFailure),
      has_training_execution: flag,
      // Sent by later generations.
      parent_checkpoint_id: text,
      agent_id: text,
      updated_at: text,
      completed_at: text,
      // Sent by the local service: ignored options, and warnings about the tasks.
      ignored_options: sentences,
      warnings: sentences,
      // Sent by the local service: why the run is waiting, e.g. for disk space.
      waits_because: text,
      diagnostics: z.nullish(stepDiagnostics),
    }),
  ),
);
export type TrainingRun = z.output<typeof trainingRun>;

export const startTrainingBody = z.strictObject({
  base_model_slug: z.optional(z.string()),
  bench_id: z.string().check(z.minLength(1)),
  options: z.optional(z.record(z.string(), z.unknown())),
  parent_checkpoint_id: z.optional(z.string()),
  display_name: z.optional(
    z.string().check(z.minLength(displayNameLength.minimum), z.maxLength(displayNameLength.maximum)),
  ),
});

/** `is_deployable` is false if the service would refuse to deploy it; missing means unknown. */
export const checkpoint = z.looseObject({
  checkpoint_id: z.string(),
  step_index: decidingNumber,
  created_at: text,
  is_deployable: flag,
  base_model_slug: text,
});
export type Checkpoint = z.output<typeof checkpoint>;

export const trainerReward = z.looseObject({ step: z.number(), trainer_reward: decidingNumber });
export type TrainerReward = z.output<typeof trainerReward>;

/**
 * The sample counts show whether the mean covers fewer samples than expected. `loaded_trajectories` is the actual
 * number of samples, if the service sends it.
 */
export const heldOutReward = z.looseObject({
  step: z.number(),
  /** The evaluated tasks, sent by the local service: `validation` (a part of the train split) or `test`. */
  split: text,
  held_out_reward: decidingNumber,
  expected_samples: decidingNumber,
  completed_samples: decidingNumber,
  failed_samples: decidingNumber,
  cancelled_samples: decidingNumber,
  loaded_trajectories: decidingNumber,
  /** False while samples are outstanding; missing means unknown. */
  round_completed: decidingFlag,
});
export type HeldOutReward = z.output<typeof heldOutReward>;

export const trainingEndpoints = defineEndpoints({
  getTrainingProgress: {
    method: 'GET',
    path: '/api/v1/train/{training_run_id}/progress',
    response: trainingProgress,
  },
  startTraining: {
    method: 'POST',
    path: '/api/v1/train',
    body: startTrainingBody,
    response: trainingRun,
    capability: true,
    idempotencyKey: true,
  },
  listTrainingRuns: {
    method: 'GET',
    path: '/api/v1/train/{bench_id}/runs',
    query: listQuery,
    response: rows(trainingRun),
    capability: true,
  },
  getTrainingRun: {
    method: 'GET',
    path: '/api/v1/train/{training_run_id}',
    response: trainingRun,
    capability: true,
  },
  cancelTraining: {
    method: 'POST',
    path: '/api/v1/train/{training_run_id}/cancel',
    isIdempotent: true,
    response: z.looseObject({ training_run_id: text, status: text }),
    capability: true,
  },
  deleteTrainingRun: {
    method: 'DELETE',
    path: '/api/v1/train/{training_run_id}',
    response: z.looseObject({ training_run_id: text }),
    capability: true,
  },
  listCheckpoints: {
    method: 'GET',
    path: '/api/v1/train/{training_run_id}/checkpoints',
    query: listQuery,
    response: rows(checkpoint),
    capability: true,
  },
  getCheckpoint: {
    method: 'GET',
    path: '/api/v1/train/{training_run_id}/checkpoints/{step_index}',
    response: checkpoint,
    capability: true,
  },
  getTrainerRewards: {
    method: 'GET',
    path: '/api/v1/train/{training_run_id}/step/trainer-reward-by-step',
    response: wrappedList('trainer_rewards', z.looseObject({ trainer_rewards: rows(trainerReward) })),
    capability: true,
  },
  getHeldOutRewards: {
    method: 'GET',
    path: '/api/v1/train/{training_run_id}/step/held-out-reward-by-step',
    response: wrappedList('held_out_rewards', z.looseObject({ held_out_rewards: rows(heldOutReward) })),
    capability: true,
  },
  getStepTrajectoryRewards: {
    method: 'GET',
    path: '/api/v1/train/{training_run_id}/steps/{step}/trajectory-rewards',
    response: wrappedList('trajectory_rewards', z.looseObject({ trajectory_rewards: rows(trajectoryReward) })),
    capability: true,
  },
  getTrainingOptions: {
    method: 'GET',
    path: '/api/v1/train/options',
    query: runOptionsQuery,
    response: z.record(z.string(), z.unknown()),
    capability: true,
  },
});
