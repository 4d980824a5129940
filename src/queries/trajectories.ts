/** What the screens ask about trajectories and datasets. */
import type { Dataset } from '../contract/datasets.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { hasEnded } from './evaluations.ts';
import type { ListSource } from './use-list.ts';
import type { LiveQuery } from './use-live.ts';

/** Which trajectories a list holds: those of a run or of a dataset, or all. */
export interface TrajectoryFilter {
  readonly eval_run_id?: string;
  readonly training_run_id?: string;
  readonly dataset_name?: string;
}

export const trajectoryKeys = {
  all: ['trajectories'],
  list: (filter: TrajectoryFilter) => ['trajectories', 'list', filter],
  one: (trajectoryId: string) => ['trajectories', 'one', trajectoryId],
  datasets: ['datasets'],
} as const;

export function trajectoryList(filter: TrajectoryFilter): ListSource<Trajectory> {
  return {
    key: trajectoryKeys.list(filter),
    id: row => row.trajectory_id,
    readPage: (service, query, signal) => service.trajectories.list({ ...query, ...filter }, { signal }),
    activity: rows => (rows.some(row => row.status === 'running') ? 'running' : 'open'),
  };
}

/** A trajectory with its steps and messages. */
export function trajectoryQuery(trajectoryId: string): LiveQuery<Trajectory> {
  return {
    key: trajectoryKeys.one(trajectoryId),
    activity: trajectory => (hasEnded(trajectory?.status) ? 'settled' : 'open'),
    read: (service, signal) => service.trajectories.get(trajectoryId, { include_steps: true }, { signal }),
  };
}

export const datasetList: ListSource<Dataset> = {
  key: trajectoryKeys.datasets,
  id: row => row.dataset_id,
  readPage: (service, query, signal) => service.datasets.list(query, { signal }),
};
