/** Shared by evaluation and training runs: starting, lookup, status changes and rollouts. */
import { hasEnded } from '../../contract/status.ts';
import type { Database } from './database.ts';
import { type DatasetStore, rolloutDataset } from './datasets.ts';
import { newId, now } from './ids.ts';
import type { Failure } from './records.ts';
import type { NewTrajectory, TrajectoryStore } from './trajectories.ts';

interface RunTable {
  readonly name: string;
  /** The name of the id column in this table and in the trajectories. */
  readonly id: string;
  /** The `source` of its trajectories. */
  readonly source: 'evaluation' | 'training';
  readonly statuses: readonly string[];
}

export interface RunStart {
  readonly options: Readonly<Record<string, number | undefined>>;
  readonly ignored_options: readonly string[];
  readonly warnings: readonly string[];
}

interface RunRow {
  readonly organization_id: string;
  readonly bench_id: string;
  readonly status: string;
}

/**
 * The outcome of a rollout: a reward, or an error. A failed rollout has no reward, which differs from a reward of 0.
 */
export interface Rollout {
  readonly task_id: string;
  /** Counts the rollouts of a task, from 0. */
  readonly sample: number;
  readonly reward: number | null;
  readonly error: string | null;
  /** Steps with their messages, in the contract's form. */
  readonly steps: readonly unknown[];
  /** How the rollout ended, if it did not fail; by default, with an answer. */
  readonly termination_reason?: string;
  /** The trajectory's other fields, as JSON. */
  readonly details?: string | null;
}

/** The columns of a new run, of either kind. */
export function newRun<Run extends RunStart>(
  organizationId: string,
  { options, ignored_options, warnings, ...run }: Run,
) {
  const created_at = now();
  return {
    organization_id: organizationId,
    pipeline_run_id: newId('pipelineRun'),
    status: 'pending' as const,
    failure: null,
    created_at,
    updated_at: created_at,
    completed_at: null,
    ...run,
    options: JSON.stringify(options),
    ignored_options: JSON.stringify(ignored_options),
    warnings: JSON.stringify(warnings),
  };
}

/** An SQL condition for runs that have not ended. */
export function unendedCondition(statuses: readonly string[]): string {
  const running = statuses.filter(status => !hasEnded(status));
  return `status in (${running.map(status => `'${status}'`).join(', ')})`;
}

export abstract class RunStore<Row extends RunRow> {
  protected readonly database: Database;
  readonly #table: RunTable;
  readonly #datasets: DatasetStore;
  readonly #trajectories: TrajectoryStore;

  constructor(table: RunTable, database: Database, datasets: DatasetStore, trajectories: TrajectoryStore) {
    this.#table = table;
    this.database = database;
    this.#datasets = datasets;
    this.#trajectories = trajectories;
  }

  get(organizationId: string, runId: string): Row | undefined {
    const { name, id } = this.#table;
    return this.database.get<Row>(
      `select * from ${name} where ${id} = ? and organization_id = ?`,
      runId,
      organizationId,
    );
  }

  list(organizationId: string, benchId: string): Row[] {
    const { name, id } = this.#table;
    return this.database.all<Row>(
      `select * from ${name} where organization_id = ? and bench_id = ? order by created_at desc, ${id}`,
      organizationId,
      benchId,
    );
  }

  /** Unfinished runs, oldest first, including a killed process's runs. */
  unfinished(): Row[] {
    const { name, id, statuses } = this.#table;
    return this.database.all<Row>(
      `select * from ${name} where ${unendedCondition(statuses)} order by created_at, ${id}`,
    );
  }

  /** Changes a run's status if it is one of `from`. Returns whether it changed. */
  move(runId: string, from: readonly Row['status'][], to: Row['status'], failure?: Failure): boolean {
    const { name, id } = this.#table;
    const at = now();
    return (
      this.database.run(
        `update ${name} set status = ?, failure = ?, updated_at = ?, completed_at = ?
         where ${id} = ? and status in (${from.map(() => '?').join(', ')})`,
        to,
        failure ? JSON.stringify(failure) : null,
        at,
        hasEnded(to) ? at : null,
        runId,
        ...from,
      ) > 0
    );
  }

  /** Records rollouts in the benchmark's dataset, with the fields in `shared`. */
  protected addRollouts(
    { organization_id, bench_id }: Row,
    rollouts: readonly Rollout[],
    shared: Partial<NewTrajectory> & { readonly created_at: string },
  ): void {
    const { source } = this.#table;
    const benchmark = this.database.get<{ label: string }>('select label from benchmarks where bench_id = ?', bench_id);
    const name = rolloutDataset(source, bench_id, benchmark?.label ?? bench_id);
    const { dataset_id, dataset_name } = this.#datasets.touch(organization_id, name);
    for (const { task_id, sample, reward, error, steps, termination_reason, details } of rollouts) {
      this.#trajectories.add({
        ...shared,
        organization_id,
        dataset_id,
        dataset_name,
        task_id,
        sample,
        source,
        model_association_source: source,
        status: error === null ? 'completed' : 'failed',
        termination_reason: error === null ? (termination_reason ?? 'ENV_DONE') : 'ERROR',
        reward,
        error,
        steps,
        details: details ?? null,
      });
    }
  }
}
