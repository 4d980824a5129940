/**
 * The version of data without migrations. Unreleased builds counted higher; the first migration has all their changes.
 */
export const initialVersion = 8;

/** The database's migrations. Never change a released migration. */
export const migrations: readonly string[] = [
  `
  create table organizations (organization_id text primary key, name text not null, created_at text not null) strict;
  create table api_keys (key_hash text primary key, organization_id text not null references organizations) strict;

  create table benchmarks (
    bench_id text primary key, organization_id text not null, label text not null, description text not null,
    family text not null, visibility text not null, created_at text not null, updated_at text not null,
    details text not null default '{}'
  ) strict;
  create index benchmarks_by_organization on benchmarks (organization_id, created_at);
  create table benchmark_files (
    bench_id text not null references benchmarks on delete cascade, path text not null, content_type text not null,
    size_bytes integer not null, sha256 text not null, primary key (bench_id, path)
  ) strict, without rowid;
  create table tasks (
    bench_id text not null references benchmarks on delete cascade, task_id text not null, split text not null,
    spec text not null, primary key (bench_id, task_id)
  ) strict, without rowid;
  create table images (
    bench_id text not null references benchmarks on delete cascade, task_id text not null, provider text not null,
    provider_ref text not null, dockerfile_uri text not null, build_status text not null, failure text,
    primary key (bench_id, task_id)
  ) strict, without rowid;
  create table runtimes (
    runtime_id text primary key, organization_id text not null, image_ref text, dockerfile_uri text,
    content_hash text not null, provider text not null, blueprint_id text, build_status text not null, created_at text not null
  ) strict;
  create table secrets (
    secret_id text primary key, organization_id text not null, name text not null, description text not null,
    byte_length integer not null, sealed blob not null, created_at text not null, updated_at text not null,
    unique (organization_id, name)
  ) strict;

  create table eval_runs (
    eval_run_id text primary key, organization_id text not null, bench_id text not null, pipeline_run_id text not null,
    execution_id text not null, display_name text not null, base_model_slug text not null, parent_checkpoint_id text,
    training_run_id text, step integer, split text not null, status text not null, reward_mean real,
    total_rollouts integer not null, failure text, created_at text not null, updated_at text not null,
    options text not null default '{}', ignored_options text not null default '[]', warnings text not null default '[]',
    completed_at text
  ) strict;
  create index eval_runs_by_benchmark on eval_runs (organization_id, bench_id, created_at);
  create table snapshots (
    eval_run_id text not null, xid text primary key, stage text not null, knob_name text not null, unit text not null,
    created_at text not null, samples text not null
  ) strict;
  create index snapshots_by_run on snapshots (eval_run_id, created_at);

  create table training_runs (
    training_run_id text primary key, organization_id text not null, bench_id text not null, pipeline_run_id text not null,
    display_name text not null, base_model_slug text not null, parent_checkpoint_id text, options text not null,
    status text not null, total_steps integer, created_by text not null, failure text, created_at text not null,
    updated_at text not null, ignored_options text not null default '[]', warnings text not null default '[]',
    completed_at text
  ) strict;
  create index training_runs_by_benchmark on training_runs (organization_id, bench_id, created_at);
  create table training_steps (
    training_run_id text not null references training_runs on delete cascade, step integer not null,
    trainer_reward real, created_at text not null, diagnostics text, primary key (training_run_id, step)
  ) strict, without rowid;
  create table held_out_rewards (
    training_run_id text not null references training_runs on delete cascade, step integer not null,
    held_out_reward real, expected_samples integer not null, completed_samples integer not null,
    failed_samples integer not null, created_at text not null, split text not null default 'test',
    primary key (training_run_id, step)
  ) strict, without rowid;
  create table checkpoints (
    checkpoint_id text primary key, organization_id text not null,
    training_run_id text not null references training_runs on delete cascade, step_index integer not null,
    base_model_slug text not null, weights_hash text not null, state_hash text not null, created_at text not null,
    unique (training_run_id, step_index)
  ) strict;

  create table deployments (
    deployment_id text primary key, organization_id text not null, model_slug text not null, model_slug_id text not null,
    status text not null, role text not null, is_active integer not null, checkpoint_id text not null, model_id text,
    base_model_slug text, checkpoint_step integer, output_speed text not null, expected_concurrency text not null,
    merge_xid text not null, deploy_xid text not null, created_by text not null, weights_hash text, failure text,
    leaving integer not null default 0, created_at text not null, updated_at text, completed_at text, promoted_at text
  ) strict;
  create index deployments_by_organization on deployments (organization_id, created_at);
  create unique index one_active_deployment on deployments (organization_id, model_slug) where is_active = 1;

  create table datasets (
    dataset_id text primary key, organization_id text not null, dataset_name text not null, display_name text not null,
    source text not null, gcs_prefix text not null, created_at text not null, updated_at text not null,
    unique (organization_id, dataset_name)
  ) strict;
  create table trajectories (
    trajectory_id text primary key, organization_id text not null, eval_run_id text, training_run_id text,
    dataset_id text, dataset_name text, task_id text, source text not null, trace_id text, model_id text,
    status text not null, reward real, num_steps integer not null, error text, created_at text not null, step integer,
    conversation_id text, content_hash text, termination_reason text, model_association_source text, details text,
    occurrence integer not null default 1, sample integer, finish_reason text
  ) strict;
  create index trajectories_by_organization on trajectories (organization_id, created_at, trajectory_id);
  create index trajectories_by_run on trajectories (eval_run_id);
  create index trajectories_by_training_step on trajectories (training_run_id, step);
  create unique index trajectories_by_trace on trajectories (dataset_id, trace_id) where dataset_id is not null;
  create index trajectories_by_content on trajectories (dataset_id, content_hash) where content_hash is not null;
  -- One row per step: a trajectory can be tens of megabytes, and is read and written step by step.
  create table trajectory_steps (
    trajectory_id text not null references trajectories on delete cascade, step_index integer not null,
    content text not null, primary key (trajectory_id, step_index)
  ) strict;
  create table reward_logs (
    trajectory_id text not null references trajectories on delete cascade, reward_id text not null, name text not null,
    value real not null, weight real not null, explanation text not null, created_at text not null, place integer,
    details text not null default '{}', primary key (trajectory_id, reward_id)
  ) strict, without rowid;

  create table idempotency_keys (
    organization_id text not null, key text not null, request_hash text not null, answer text not null,
    created_at text not null, primary key (organization_id, key)
  ) strict, without rowid;
  `,
  'alter table trajectories add column tool_error text',
  'alter table deployments drop column promoted_at',
];
