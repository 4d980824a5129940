/** Trajectories: upload, detail with steps and messages, rewards, completion. */
import * as z from 'zod/mini';
import { isRecord } from '../base/own-property.ts';
import {
  decidingNumber,
  defineEndpoints,
  flag,
  freeForm,
  listQuery,
  number,
  openEnum,
  page,
  rows,
  text,
  textOrJson,
  withRenamedFields,
} from './common.ts';
import { failure } from './errors.ts';
import { trajectoryStatuses } from './status.ts';

export const terminationReasons = [
  'ENV_DONE',
  'TIMEOUT',
  'MAX_STEPS',
  'TRUNCATION',
  'LIMIT_REACHED',
  'STALE',
  'ERROR',
  'MISSING_SUBMIT',
  'GOLDEN_PATCH',
] as const;

export const message = z.looseObject({
  message_id: z.nullish(z.union([z.number(), z.string()])),
  role: text,
  /** Text or parts, unchanged. */
  content: z.optional(z.unknown()),
  /** JSON as text. */
  tool_calls: textOrJson,
  tool_response: textOrJson,
  reasoning: textOrJson,
  finish_reason: text,
  prompt_tokens: number,
  completion_tokens: number,
  // Not in the document. Chat clients record these fields, and other services send them.
  reasoning_content: textOrJson,
  refusal: text,
  name: text,
  tool_call_id: text,
  is_error: z.optional(z.unknown()),
  function_call: textOrJson,
  content_parts: z.optional(z.unknown()),
  uploaded_message_id: text,
});
export type TrajectoryMessage = z.output<typeof message>;

export const step = z.looseObject({
  step_index: decidingNumber,
  reward: decidingNumber,
  has_error: flag,
  messages: z.nullish(rows(message)),
});
export type TrajectoryStep = z.output<typeof step>;

/** How a trajectory's rollout went; sent by later generations. */
export const rollout = z.looseObject({
  status: text,
  termination_reason: text,
  harness_diagnostic: textOrJson,
});

export const trajectory = z.looseObject({
  trajectory_id: z.string(),
  organization_id: text,
  source: text,
  created_at: text,
  dataset_id: text,
  dataset_name: text,
  dataset_source: text,
  dataset_gcs_prefix: text,
  trace_id: text,
  model_id: text,
  model_association_source: text,
  model_association_metadata: freeForm,
  status: z.nullish(openEnum(trajectoryStatuses)),
  reward: decidingNumber,
  num_steps: number,
  gcs_blob_uri: text,
  error: text,
  steps: z.nullish(rows(step)),
  // Not in the document; some services name a trajectory's task and run.
  task_id: text,
  eval_run_id: text,
  training_run_id: text,
  rollout: z.nullish(rollout),
  policy_step: decidingNumber,
  // Accepts any form, so that unexpected rewards do not hide the steps.
  rewards: z.optional(z.unknown()),
  metrics: z.optional(z.unknown()),
  execution_metrics: z.optional(z.unknown()),
  conversation_id: text,
});
export type Trajectory = z.output<typeof trajectory>;

export const trajectoryQuery = z.strictObject({ include_steps: z.optional(z.boolean()) });

export const trajectoryListQuery = z.extend(listQuery, {
  eval_run_id: z.optional(z.string()),
  training_run_id: z.optional(z.string()),
  dataset_name: z.optional(z.string()),
});
export type TrajectoryListQuery = z.input<typeof trajectoryListQuery>;

export const uploadTrajectoriesBody = z.strictObject({
  dataset: z.string().check(z.minLength(1)),
  trajectories: z.array(z.record(z.string(), z.unknown())),
  // Later generations ask for the agent.
  agent_id: z.optional(z.string()),
  agent_name: z.optional(z.string()),
});

/**
 * An upload header that numbers a file's identical trajectories: `1,1,2`. The local service uses it to distinguish
 * a second sample from a repeated request. It is not in the document; other services ignore it.
 */
export const occurrencesHeader = 'benchtop-occurrences';

export const uploadedTrajectory = z.looseObject({
  request_index: decidingNumber,
  status: text,
  conversation_id: text,
  trace_id: text,
  trajectory_id: text,
  model_id: text,
  model_association_source: text,
  failure: z.nullish(failure),
});

export type UploadedTrajectory = z.output<typeof uploadedTrajectory>;

export const uploadTrajectoriesResult = z.looseObject({
  uploaded: number,
  skipped: number,
  failures: z.nullish(rows(failure)),
  message: text,
  partial_success: flag,
  trajectories: z.nullish(rows(uploadedTrajectory)),
});
export type UploadTrajectoriesResult = z.output<typeof uploadTrajectoriesResult>;

export const logRewardBody = z.strictObject({
  reward_id: z.string().check(z.minLength(1)),
  name: z.string().check(z.minLength(1)),
  value: z.number(),
  explanation: z.optional(z.string()),
  weight: z.optional(z.number()),
});
export type LogRewardBody = z.input<typeof logRewardBody>;

export const logRewardResult = z.looseObject({ ok: flag, trajectory_id: text, status: text });
export type LogRewardResult = z.output<typeof logRewardResult>;

export const completeTrajectoryBody = z.strictObject({ termination_reason: z.optional(z.enum(terminationReasons)) });
export type CompleteTrajectoryBody = z.input<typeof completeTrajectoryBody>;

export const hasTraceId = (item: unknown): boolean =>
  isRecord(item) && typeof item['trace_id'] === 'string' && item['trace_id'] !== '';

function everyOneHasTraceId(body: unknown): boolean {
  const { trajectories } = isRecord(body) ? body : {};
  return Array.isArray(trajectories) && trajectories.every(hasTraceId);
}

export const trajectoryEndpoints = defineEndpoints({
  uploadTrajectories: {
    method: 'POST',
    path: '/api/v1/trajectories/upload',
    body: uploadTrajectoriesBody,
    response: uploadTrajectoriesResult,
    idempotencyKey: true,
    repeatable: (body, { skipsStored }) => everyOneHasTraceId(body) && skipsStored(true),
    pace: 'bulk',
    agent: 'body',
  },
  getTrajectory: {
    method: 'GET',
    path: '/api/v1/trajectories/{trajectory_id}',
    auth: 'shownWithout',
    query: trajectoryQuery,
    response: trajectory,
    pace: 'bulk',
    longList: 'steps',
  },
  logReward: {
    method: 'POST',
    path: '/api/v1/trajectories/{trajectory_id}/rewards',
    auth: 'trajectoryToken',
    body: logRewardBody,
    response: logRewardResult,
    // The document does not state that a `reward_id` counts only once.
    idempotencyKey: true,
  },
  listTrajectories: {
    method: 'GET',
    path: '/api/v1/trajectories',
    query: trajectoryListQuery,
    response: page(trajectory),
    capability: true,
  },
  completeTrajectory: {
    method: 'POST',
    path: '/api/v1/trajectories/{trajectory_id}/complete',
    isIdempotent: true,
    auth: 'trajectoryToken',
    body: completeTrajectoryBody,
    response: logRewardResult,
    capability: true,
  },
  createTrajectory: {
    method: 'POST',
    path: '/api/v1/trajectories',
    body: z.record(z.string(), z.unknown()),
    response: withRenamedFields({ tid: ['trajectory_id'] }, z.looseObject({ tid: text })),
    capability: true,
    idempotencyKey: true,
  },
});
