/** The database of the local service: one file, one writer, write-ahead log, numbered migrations. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

const migrations: readonly string[] = [
  `
  create table organizations (organization_id text primary key, name text not null, created_at text not null) strict;
  create table api_keys (key_hash text primary key, organization_id text not null references organizations) strict;
  create table benchmarks (
    bench_id text primary key, organization_id text not null, label text not null, description text not null,
    family text not null, visibility text not null, created_at text not null, updated_at text not null
  ) strict;
  create index benchmarks_by_organization on benchmarks (organization_id, created_at);
  create table tasks (
    bench_id text not null references benchmarks on delete cascade, task_id text not null, split text not null,
    spec text not null, primary key (bench_id, task_id)
  ) strict, without rowid;
  create table images (
    bench_id text not null references benchmarks on delete cascade, task_id text not null, provider text not null,
    provider_ref text not null, dockerfile_uri text not null, build_status text not null, primary key (bench_id, task_id)
  ) strict, without rowid;
  create table runtimes (
    runtime_id text primary key, organization_id text not null, image_ref text, dockerfile_uri text,
    content_hash text not null, provider text not null, blueprint_id text, build_status text not null, created_at text not null
  ) strict;
  create table secrets (
    secret_id text primary key, organization_id text not null, name text not null, description text not null,
    byte_length integer not null, created_at text not null, updated_at text not null, unique (organization_id, name)
  ) strict;
  create table eval_runs (
    eval_run_id text primary key, organization_id text not null, bench_id text not null, pipeline_run_id text not null,
    execution_id text not null, display_name text not null, base_model_slug text not null, parent_checkpoint_id text,
    training_run_id text, step integer, split text not null, status text not null, reward_mean real,
    total_rollouts integer not null, failure text, created_at text not null, updated_at text not null
  ) strict;
  create index eval_runs_by_benchmark on eval_runs (organization_id, bench_id, created_at);
  create table trajectories (
    trajectory_id text primary key, organization_id text not null, eval_run_id text, training_run_id text,
    dataset_id text, dataset_name text, task_id text, source text not null, trace_id text, model_id text,
    status text not null, reward real, num_steps integer not null, error text, created_at text not null, steps text not null
  ) strict;
  create index trajectories_by_organization on trajectories (organization_id, created_at, trajectory_id);
  create index trajectories_by_run on trajectories (eval_run_id);
  create table snapshots (
    eval_run_id text not null, xid text primary key, stage text not null, knob_name text not null, unit text not null,
    created_at text not null, samples text not null
  ) strict;
  create index snapshots_by_run on snapshots (eval_run_id, created_at);
  create table idempotency_keys (
    organization_id text not null, key text not null, request_hash text not null, answer text not null,
    created_at text not null, primary key (organization_id, key)
  ) strict, without rowid;
  `,
];

export type Row = Record<string, SQLInputValue>;

export class Database {
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();

  /** Opens or makes the file and brings it to the newest form. `:memory:` keeps everything in memory. */
  constructor(path: string) {
    this.#sqlite = new DatabaseSync(path);
    this.#sqlite.exec(
      'pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on; pragma busy_timeout = 5000;',
    );
    this.#migrate();
  }

  #migrate(): void {
    const { user_version: done } = this.#sqlite.prepare('pragma user_version').get() as { user_version: number };
    if (done > migrations.length) {
      throw new Error(
        `The data is of a newer benchtop (form ${done}, this one knows ${migrations.length}). Use the newer program, or another data folder.`,
      );
    }
    for (const [index, migration] of migrations.entries()) {
      if (index < done) continue;
      this.transaction(() => this.#sqlite.exec(`${migration}; pragma user_version = ${index + 1};`));
    }
  }

  #prepare(sql: string): ReturnType<DatabaseSync['prepare']> {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  all<Result>(sql: string, ...values: SQLInputValue[]): Result[] {
    return this.#prepare(sql).all(...values) as Result[];
  }

  get<Result>(sql: string, ...values: SQLInputValue[]): Result | undefined {
    return this.#prepare(sql).get(...values) as Result | undefined;
  }

  /** Runs a statement; gives the number of rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /** Inserts a row, or puts it in place of the one with the same primary key. */
  put(table: string, row: Row): void {
    const names = Object.keys(row);
    const sql = `insert or replace into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`;
    this.run(sql, ...Object.values(row));
  }

  /** All of the work, or none of it. */
  transaction<Result>(work: () => Result): Result {
    this.#sqlite.exec('begin immediate');
    try {
      const result = work();
      this.#sqlite.exec('commit');
      return result;
    } catch (error) {
      this.#sqlite.exec('rollback');
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#sqlite.close();
  }
}
