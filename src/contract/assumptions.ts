/**
 * Assumptions: names and values that the document leaves open, each observed on a live service with the same contract.
 * A profile can override them under the names used here, and the path of any operation as `path.OPERATION`. The newest
 * generation's changes are declared with their endpoints. This file imports nothing, so that help prints fast;
 * config/reference.ts describes each assumption.
 */
export const defaultAssumptions = {
  'query.cursor': 'cursor',
  'query.limit': 'limit',
  'query.sort': 'sort',
  'query.order': 'order',
  'query.search': 'search',
  'query.include_steps': 'include_steps',
  'startEval.model_slug': 'model_slug',
  'startEval.checkpoint_id': 'checkpoint_id',
  'startEval.options': 'eval_options',
  'startTraining.base_model_slug': 'base_model_slug',
  'startTraining.parent_checkpoint_id': 'parent_checkpoint_id',
  idempotencyHeader: 'Idempotency-Key',
  // Detected at run time when a response is marked as replayed.
  honoursIdempotencyKey: 'no',
  // Disabled for a model once the service refuses to stream it.
  streamChat: 'yes',
  // Disabled once a service refuses it.
  streamUsage: 'yes',
  rewardsWithApiKey: 'yes',
} as const;

/** Operations that the document mentions without their path; `path.OPERATION` sets it. */
export const assumedPaths: readonly string[] = ['ingestBenchmark', 'listBenchmarkImages'];

export type AssumptionName = keyof typeof defaultAssumptions;

/** The assumptions that are `yes` or `no`. */
export const switchAssumptions = [
  'streamChat',
  'streamUsage',
  'rewardsWithApiKey',
  'honoursIdempotencyKey',
] as const satisfies readonly AssumptionName[];
