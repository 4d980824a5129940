/** The rows of the database. */
import type { deploymentRoles } from '../../contract/deployments.ts';
import type { ErrorType } from '../../contract/errors.ts';
import type { deploymentStatuses, TrainingStatus } from '../../contract/status.ts';

export interface BenchmarkRow extends Record<string, unknown> {
  bench_id: string;
  organization_id: string;
  label: string;
  description: string;
  family: string;
  visibility: string;
  /** Other fields from the manifest (tags, spec and so on), as JSON. */
  details: string;
  created_at: string;
  updated_at: string;
}

export interface RuntimeRow extends Record<string, unknown> {
  runtime_id: string;
  organization_id: string;
  image_ref: string | null;
  dockerfile_uri: string | null;
  content_hash: string;
  provider: string;
  blueprint_id: string | null;
  build_status: string;
  created_at: string;
}

/** An image, without the benchmark it belongs to. */
export interface ImageRow extends Record<string, unknown> {
  task_id: string;
  provider: string;
  provider_ref: string;
  dockerfile_uri: string;
  build_status: string;
  failure_message: string | null;
}

/** How a run was started, each as JSON. */
interface StartRecord {
  /** The options from the request; for training, including the defaults. */
  options: string;
  ignored_options: string;
  /** Warnings about its tasks, as sentences. */
  warnings: string;
}

/** What evaluations and training runs have in common. */
interface RunRow extends Record<string, unknown>, StartRecord {
  organization_id: string;
  bench_id: string;
  pipeline_run_id: string;
  display_name: string;
  base_model_slug: string;
  parent_checkpoint_id: string | null;
  failure: string | null;
  created_at: string;
  updated_at: string;
  completed_at: string | null;
}

export interface EvalRunRow extends RunRow {
  eval_run_id: string;
  execution_id: string;
  training_run_id: string | null;
  step: number | null;
  split: string;
  status: string;
  reward_mean: number | null;
  total_rollouts: number;
}

export interface TrajectoryRow extends Record<string, unknown> {
  trajectory_id: string;
  organization_id: string;
  eval_run_id: string | null;
  training_run_id: string | null;
  dataset_id: string | null;
  dataset_name: string | null;
  task_id: string | null;
  source: string;
  trace_id: string | null;
  model_id: string | null;
  status: string;
  reward: number | null;
  num_steps: number;
  error: string | null;
  created_at: string;
  /** The training step that this rollout belongs to. */
  step: number | null;
  /** Counts the rollouts of a task in an evaluation, or in a training step, from 0. */
  sample: number | null;
  conversation_id: string | null;
  /** An uploaded trajectory's hash, so that it is not stored twice. */
  content_hash: string | null;
  /** Numbers identical trajectories in a dataset from 1, because each is a separate sample. */
  occurrence: number;
  termination_reason: string | null;
  model_association_source: string | null;
  /** The last finish reason in its messages. Lists need it, because they contain no steps. */
  finish_reason: string | null;
  /** The text of the last failed tool call in its messages, for lists. */
  tool_error: string | null;
  /** Other uploaded fields (metrics and so on), as JSON. */
  details: string | null;
}

export interface DatasetRow extends Record<string, unknown> {
  dataset_id: string;
  organization_id: string;
  dataset_name: string;
  display_name: string;
  source: string;
  gcs_prefix: string;
  created_at: string;
  updated_at: string;
}

export interface SecretRow extends Record<string, string | number> {
  secret_id: string;
  name: string;
  byte_length: number;
  description: string;
  created_at: string;
  updated_at: string;
}

export interface TrainingRunRow extends RunRow {
  training_run_id: string;
  status: TrainingStatus;
  total_steps: number | null;
  created_by: string;
}

export interface CheckpointRow extends Record<string, unknown> {
  checkpoint_id: string;
  organization_id: string;
  training_run_id: string;
  step_index: number;
  base_model_slug: string;
  /** SHA-256 of the files with the weights and the optimizer state. */
  weights_hash: string;
  state_hash: string;
  created_at: string;
}

export interface DeploymentRow extends Record<string, unknown> {
  deployment_id: string;
  organization_id: string;
  model_slug: string;
  model_slug_id: string;
  status: (typeof deploymentStatuses)[number];
  role: (typeof deploymentRoles)[number];
  is_active: number;
  checkpoint_id: string;
  model_id: string | null;
  base_model_slug: string | null;
  checkpoint_step: number | null;
  output_speed: string;
  expected_concurrency: string;
  merge_xid: string;
  deploy_xid: string;
  created_by: string;
  weights_hash: string | null;
  failure: string | null;
  /** 1 once undeploying has begun. The next start completes it. */
  leaving: number;
  created_at: string;
  updated_at: string | null;
  completed_at: string | null;
}

/** Why a run or deployment failed, in the contract's form. */
export interface Failure extends Record<string, unknown> {
  readonly type: ErrorType;
  readonly code: string;
  readonly message: string;
  readonly context: Record<string, unknown>;
}

/** A row's failure; null if it has none. */
export function storedFailure({ failure }: { readonly failure: string | null }): Failure | null {
  return failure === null ? null : (JSON.parse(failure) as Failure);
}

/** How a run was started. */
export function storedStart({ options, ignored_options, warnings }: StartRecord) {
  return {
    options: JSON.parse(options) as Record<string, unknown>,
    ignored_options: JSON.parse(ignored_options) as string[],
    warnings: JSON.parse(warnings) as string[],
  };
}
