/** Fields that the document lists in sentences instead of tables, each list with its exact words. */

export interface FieldList {
  /** The sample that the fields belong to. */
  readonly of: string;
  /** Verbatim in the document. */
  readonly quote: string;
  /** Types by field. */
  readonly fields: Readonly<Record<string, string>>;
}

function all(type: string, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map(name => [name, type]));
}

export const fieldLists: readonly FieldList[] = [
  {
    of: 'eval start',
    quote:
      'Start result fields: `bench_id` (benchmark evaluated), `eval_run_id` (run created), `pipeline_run_id` (pipeline run executing it), `display_name`, `execution_id` (workflow execution launched), `pipeline_name` (pipeline configuration used), `experiment_name` (experiment assigned). All are strings.',
    fields: all(
      'string',
      'bench_id',
      'eval_run_id',
      'pipeline_run_id',
      'display_name',
      'execution_id',
      'pipeline_name',
      'experiment_name',
    ),
  },
  {
    of: 'rollout statistics',
    quote: 'Rollout statistics: `eval_run_id` plus `snapshots` (array).',
    fields: { eval_run_id: 'string', snapshots: 'array' },
  },
  {
    of: 'trajectory rewards',
    quote: 'Trajectory rewards of a run: `eval_run_id` plus `trajectory_rewards` (array of',
    fields: { eval_run_id: 'string', trajectory_rewards: 'array' },
  },
  {
    of: 'trajectory reward',
    quote: '(array of `reward` number, `trajectory_id` string, `task_id` string)',
    fields: { reward: 'number', trajectory_id: 'string', task_id: 'string' },
  },
  {
    of: 'step',
    quote: 'Step: `step_index` integer, `reward` number, `has_error` boolean (default false), `messages` array.',
    fields: { step_index: 'integer', reward: 'number', has_error: 'boolean', messages: 'array' },
  },
  {
    of: 'message',
    quote:
      'Message: `message_id` integer, `role` string, `content` string, `tool_calls` string, `tool_response` string, `reasoning` string, `finish_reason` string, `prompt_tokens` integer, `completion_tokens` integer.',
    fields: {
      ...all('string', 'role', 'content', 'tool_calls', 'tool_response', 'reasoning', 'finish_reason'),
      ...all('integer', 'message_id', 'prompt_tokens', 'completion_tokens'),
    },
  },
  {
    of: 'upload item',
    quote:
      'Item: `request_index` integer, `status` string (a sample value is `uploaded`), `conversation_id` string, `trace_id` string, `trajectory_id` string, `model_id` string, `model_association_source` string, `failure` (failure object).',
    fields: {
      request_index: 'integer',
      ...all(
        'string',
        'status',
        'conversation_id',
        'trace_id',
        'trajectory_id',
        'model_id',
        'model_association_source',
      ),
      failure: 'object',
    },
  },
  {
    of: 'upload failure',
    quote: 'Failure: `code` string, `message` string, `item_index` integer, `context` object.',
    fields: { code: 'string', message: 'string', item_index: 'integer', context: 'object' },
  },
  {
    of: 'reward log',
    quote: 'Result fields: `ok` boolean, `trajectory_id` string, `status` string.',
    fields: { ok: 'boolean', trajectory_id: 'string', status: 'string' },
  },
  {
    of: 'dataset',
    quote:
      '`dataset_id`, `organization_id`, `dataset_name`, `created_at`, `display_name`, `source`, `gcs_prefix`, `updated_at`: all strings.',
    fields: all(
      'string',
      'dataset_id',
      'organization_id',
      'dataset_name',
      'created_at',
      'display_name',
      'source',
      'gcs_prefix',
      'updated_at',
    ),
  },
  {
    of: 'secret',
    quote:
      '`secret_id` string, `name` string, `byte_length` integer, `description` string, `created_at` string, `updated_at` string.',
    fields: {
      ...all('string', 'secret_id', 'name', 'description', 'created_at', 'updated_at'),
      byte_length: 'integer',
    },
  },
  {
    of: 'model',
    quote:
      '`model_slug` string, `model_name` string, `pricing` object with `input`, `output`, `cached_input` (numbers;',
    fields: { model_slug: 'string', model_name: 'string', pricing: 'object' },
  },
  {
    of: 'pricing',
    quote: '`pricing` object with `input`, `output`, `cached_input` (numbers; units not shown)',
    fields: all('number', 'input', 'output', 'cached_input'),
  },
  {
    of: 'chat completion',
    quote:
      'Response: `id` string, `object` string, `created` integer, `model` string, `choices` array of (`index` integer, `message` with `role` and `content` strings, `finish_reason` string), `usage` with',
    fields: { ...all('string', 'id', 'object', 'model'), created: 'integer', choices: 'array', usage: 'object' },
  },
  {
    of: 'chat choice',
    quote: '(`index` integer, `message` with `role` and `content` strings, `finish_reason` string)',
    fields: { index: 'integer', message: 'object', finish_reason: 'string' },
  },
  {
    of: 'chat message',
    quote: '`message` with `role` and `content` strings',
    fields: all('string', 'role', 'content'),
  },
  {
    of: 'usage',
    quote: '`usage` with `prompt_tokens`, `completion_tokens`, `total_tokens` integers.',
    fields: all('integer', 'prompt_tokens', 'completion_tokens', 'total_tokens'),
  },
  {
    of: 'page',
    quote: '`items` (array), `has_more` (boolean, required), `next_cursor` (string or null).',
    fields: { items: 'array', has_more: 'boolean', next_cursor: 'string or null' },
  },
  {
    of: 'upload urls',
    quote: 'Response: `bench_id` string, `urls` array (path, url, headers), `expires_at` date-time.',
    fields: { bench_id: 'string', urls: 'array', expires_at: 'date-time' },
  },
  {
    of: 'image build',
    quote: 'Response: `bench_id` string and `images` array of Benchmark image.',
    fields: { bench_id: 'string', images: 'array' },
  },
  {
    of: 'eval delete',
    quote: 'Response: `bench_id`, `eval_run_id`.',
    fields: all('string', 'bench_id', 'eval_run_id'),
  },
  {
    of: 'undeploy',
    quote: 'Response: `deployment_id` string, `row_deleted` boolean.',
    fields: { deployment_id: 'string', row_deleted: 'boolean' },
  },
  {
    of: 'deployment failure',
    quote: 'present when status is FAILED: `type`, `code`, `message`, `context` (object)',
    fields: { ...all('string', 'type', 'code', 'message'), context: 'object' },
  },
  {
    of: 'training failure',
    quote: 'when the run failed: `type`, `code`, `message`, `context` (object)',
    fields: { ...all('string', 'type', 'code', 'message'), context: 'object' },
  },
  {
    of: 'inference error',
    quote: 'Chat completions return `{ error: { message, type, param, code } }`, all strings.',
    fields: all('string', 'message', 'type', 'param', 'code'),
  },
];

/** Fields without a value at times, even if the document does not say that they may be null. */
export const withoutValue: Readonly<Record<string, readonly string[]>> = {
  'Trajectory (detail)': [
    'dataset_id',
    'dataset_name',
    'dataset_source',
    'dataset_gcs_prefix',
    'gcs_blob_uri',
    'model_id',
    'reward',
    'error',
    // In lists, and if they are not requested.
    'steps',
  ],
  step: ['reward'],
  message: [
    'content',
    'tool_calls',
    'tool_response',
    'reasoning',
    'finish_reason',
    'prompt_tokens',
    'completion_tokens',
  ],
  'upload item': ['conversation_id', 'trace_id', 'trajectory_id', 'model_id', 'model_association_source', 'failure'],
  Deployment: ['completed_at', 'failure'],
  'Training run progress': ['failure'],
  'inference error': ['param'],
};

/** Values that the document allows, with its exact words. */
export const allowedValues = {
  deployment: {
    quote: 'Allowed values: `PENDING`, `MERGING`, `DEPLOYING`, `DEPLOYED`, `FAILED`.',
    values: ['PENDING', 'MERGING', 'DEPLOYING', 'DEPLOYED', 'FAILED'],
  },
  training: {
    quote: 'Allowed values: `pending`, `running`, `cancel_signaled`, `cancelling`, `succeeded`, `failed`, `cancelled`.',
    values: ['pending', 'running', 'cancel_signaled', 'cancelling', 'succeeded', 'failed', 'cancelled'],
  },
  errorType: {
    quote:
      'Error `type` values: `invalid_request_error`, `authentication_error`, `permission_error`, `conflict_error`, `rate_limit_error`, `dependency_error`, `api_error`.',
    values: [
      'invalid_request_error',
      'authentication_error',
      'permission_error',
      'conflict_error',
      'rate_limit_error',
      'dependency_error',
      'api_error',
    ],
  },
  commonCodes: {
    quote:
      'Common codes on listing endpoints: `authentication_required`, `permission_denied`, `validation_error`, `rate_limited`, `internal_error`, `service_unavailable`.',
    values: [
      'authentication_required',
      'permission_denied',
      'validation_error',
      'rate_limited',
      'internal_error',
      'service_unavailable',
    ],
  },
} as const;
