/** The rows of the database as they are stored. */

export interface BenchmarkRow extends Record<string, unknown> {
  bench_id: string;
  organization_id: string;
  label: string;
  description: string;
  family: string;
  visibility: string;
  created_at: string;
  updated_at: string;
}

export interface EvalRunRow extends Record<string, unknown> {
  eval_run_id: string;
  organization_id: string;
  bench_id: string;
  pipeline_run_id: string;
  execution_id: string;
  display_name: string;
  base_model_slug: string;
  parent_checkpoint_id: string | null;
  training_run_id: string | null;
  step: number | null;
  split: string;
  status: string;
  reward_mean: number | null;
  total_rollouts: number;
  failure: string | null;
  created_at: string;
  updated_at: string;
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
  /** Steps with their messages, as JSON. */
  steps: string;
}
