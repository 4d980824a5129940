/** Evaluation runs: start, progress, rollout statistics, rewards, delete. */
import * as z from 'zod/mini';
import {
  decidingNumber,
  defineEndpoints,
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
import { evalRunStatuses } from './status.ts';

export const startEvalBody = z.strictObject({
  display_name: z.string().check(z.minLength(displayNameLength.minimum), z.maxLength(displayNameLength.maximum)),
  model_slug: z.optional(z.string()),
  checkpoint_id: z.optional(z.string()),
  options: z.optional(z.record(z.string(), z.unknown())),
});

/** Later generations list run options by benchmark. */
export const runOptionsQuery = z.strictObject({
  bench_id: z.optional(z.string()),
  base_model_slug: z.optional(z.string()),
});

export const startEvalResult = z.looseObject({
  bench_id: text,
  eval_run_id: z.string(),
  pipeline_run_id: text,
  display_name: text,
  execution_id: text,
  pipeline_name: text,
  experiment_name: text,
  // Sent by the local service.
  ignored_options: sentences,
});

export const evalRun = withInferredStatus(
  withRenamedFields(
    { base_model_slug: ['model_slug'], parent_checkpoint_id: ['checkpoint_id'] },
    z.looseObject({
      eval_run_id: z.string(),
      bench_id: text,
      display_name: text,
      base_model_slug: text,
      status: z.nullish(openEnum(evalRunStatuses)),
      parent_checkpoint_id: text,
      training_run_id: text,
      step: decidingNumber,
      reward_mean: decidingNumber,
      created_at: text,
      failure: z.nullish(runFailure),
      // Sent by later generations. Old runs have a null status there.
      options: freeForm,
      agent_id: text,
      updated_at: text,
      completed_at: text,
      // Sent by the local service; otherwise benchtop counts the rewards.
      reward_count: decidingNumber,
      total_rollouts: decidingNumber,
      // Sent by the local service: the split of the tasks, ignored options, and warnings about the tasks.
      split: text,
      ignored_options: sentences,
      warnings: sentences,
      // Sent by the local service: why the run is waiting, e.g. for disk space.
      waits_because: text,
    }),
  ),
);
export type EvalRun = z.output<typeof evalRun>;

export const evalLiveCounts = z.looseObject({
  waiting_rollouts: number,
  running_rollouts: number,
  awaiting_result_rollouts: number,
  scored_rollouts: number,
  failed_rollouts: number,
  cancelled_rollouts: number,
  provisional_reward_mean: number,
  final_reward_mean: number,
});

export const evalProgress = z.looseObject({
  eval_run_id: text,
  status: z.nullish(openEnum(evalRunStatuses)),
  failure: z.nullish(runFailure),
  terminal_rollouts: number,
  total_rollouts: number,
  live: z.nullish(evalLiveCounts),
  // Sent by the local service, as in the run's record.
  waits_because: text,
});
export type EvalProgress = z.output<typeof evalProgress>;

/** Drops nulls, which stand for values that were not measured. */
const measuredValues = z.pipe(
  z.array(z.nullable(z.number())),
  z.transform((values: (number | null)[]) => values.filter(value => value !== null)),
);

/** One snapshot of a distribution: `samples` in `unit`, for the knob `knob_name` at `stage`. */
export const rolloutSnapshot = z.looseObject({
  eval_run_id: text,
  xid: text,
  stage: text,
  knob_name: text,
  unit: text,
  sample_count: decidingNumber,
  created_at: text,
  samples: z.nullish(measuredValues),
});
export type RolloutSnapshot = z.output<typeof rolloutSnapshot>;

export const rolloutStatistics = wrappedList(
  'snapshots',
  z.looseObject({ eval_run_id: text, snapshots: rows(rolloutSnapshot) }),
);

/**
 * `reward` is null if the trajectory has no reward, which is not a reward of 0. A reward without a trajectory or a task
 * still counts.
 */
export const trajectoryReward = z.looseObject({
  reward: decidingNumber,
  trajectory_id: text,
  task_id: text,
  // Sent by the local service for the rollouts of a training step.
  prompt_tokens: number,
  completion_tokens: number,
});
export type TrajectoryReward = z.output<typeof trajectoryReward>;

export const trajectoryRewards = wrappedList(
  'trajectory_rewards',
  z.looseObject({ eval_run_id: text, trajectory_rewards: rows(trajectoryReward) }),
);

export const deleteEvalResult = z.looseObject({ bench_id: text, eval_run_id: text });

export const evaluationEndpoints = defineEndpoints({
  startEval: {
    method: 'POST',
    path: '/api/v1/eval/{bench_id}/start',
    body: startEvalBody,
    response: startEvalResult,
    idempotencyKey: true,
    newest: {
      path: '/api/v1/eval',
      names: { model_slug: 'base_model_slug', checkpoint_id: 'parent_checkpoint_id', options: 'options' },
    },
  },
  getRolloutStatistics: {
    method: 'GET',
    path: '/api/v1/eval/{eval_run_id}/rollout-statistics',
    response: rolloutStatistics,
  },
  getTrajectoryRewards: {
    method: 'GET',
    path: '/api/v1/eval/{eval_run_id}/trajectory-rewards',
    response: trajectoryRewards,
  },
  deleteEvalRun: {
    method: 'DELETE',
    path: '/api/v1/eval/{bench_id}/runs/{eval_run_id}',
    response: deleteEvalResult,
    newest: { path: '/api/v1/eval/{eval_run_id}' },
  },
  listEvalRuns: {
    method: 'GET',
    path: '/api/v1/eval/{bench_id}/runs',
    query: listQuery,
    response: rows(evalRun),
    capability: true,
  },
  getEvalRun: {
    method: 'GET',
    path: '/api/v1/eval/{eval_run_id}',
    response: evalRun,
    capability: true,
  },
  getEvalProgress: {
    method: 'GET',
    path: '/api/v1/eval/{eval_run_id}/progress',
    response: evalProgress,
    capability: true,
  },
  cancelEval: {
    method: 'POST',
    path: '/api/v1/eval/{eval_run_id}/cancel',
    isIdempotent: true,
    response: z.looseObject({ eval_run_id: text, status: text }),
    capability: true,
  },
  getEvalOptions: {
    method: 'GET',
    path: '/api/v1/eval/options',
    query: runOptionsQuery,
    response: z.record(z.string(), z.unknown()),
    capability: true,
  },
});
