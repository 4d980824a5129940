/** Trajectories with their steps and messages. */
import type { TrajectoryListQuery } from '../../contract/trajectories.ts';
import type { Database } from './database.ts';
import { readPage } from './list-page.ts';
import type { TrajectoryRow } from './records.ts';

const trajectoryList = {
  table: 'trajectories',
  id: 'trajectory_id',
  sorts: ['created_at', 'status', 'num_steps'],
  searches: ['trajectory_id', "coalesce(task_id, '')", "coalesce(model_id, '')", "coalesce(error, '')"],
} as const;

export class TrajectoryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A page without the steps. */
  list(organizationId: string, { eval_run_id, training_run_id, dataset_name, ...query }: TrajectoryListQuery) {
    const where = {
      organization_id: organizationId,
      ...(eval_run_id === undefined ? {} : { eval_run_id }),
      ...(training_run_id === undefined ? {} : { training_run_id }),
      ...(dataset_name === undefined ? {} : { dataset_name }),
    };
    const page = readPage<TrajectoryRow>(this.#database, trajectoryList, where, query);
    return { ...page, items: page.items.map(({ steps: _, ...row }) => row) };
  }

  get(organizationId: string, trajectoryId: string, withSteps: boolean) {
    const row = this.#database.get<TrajectoryRow>(
      'select * from trajectories where trajectory_id = ? and organization_id = ?',
      trajectoryId,
      organizationId,
    );
    if (!row) return undefined;
    const { steps, ...rest } = row;
    return withSteps ? { ...rest, steps: JSON.parse(steps) as unknown[] } : rest;
  }
}
