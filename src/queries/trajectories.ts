/** What the screens ask about trajectories. */

import { hasEnded } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import type { ListSource } from './list.ts';
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
} as const;

export function trajectoryList(filter: TrajectoryFilter): ListSource<Trajectory> {
  return {
    key: trajectoryKeys.list(filter),
    id: row => row.trajectory_id,
    readPage: ({ service, query, signal }) => service.trajectories.list({ ...query, ...filter }, { signal }),
    activity: rows => (rows.some(row => row.status === 'running') ? 'running' : 'open'),
  };
}

/** A trajectory with its steps and messages. */
export function trajectoryQuery(trajectoryId: string): LiveQuery<Trajectory> {
  return {
    key: trajectoryKeys.one(trajectoryId),
    activity: trajectory => (hasEnded(trajectory?.status) ? 'settled' : 'open'),
    read: ({ service, signal }) => service.trajectories.get(trajectoryId, { include_steps: true }, { signal }),
  };
}

/**
 * The trajectories of an evaluation run. Where the service does not list trajectories, the rewards of the run stand in for
 * them: those leave out the rollouts that failed.
 */
export function trajectoriesOfRun(runId: string, ended: boolean): ListSource<Trajectory> {
  const filter = { eval_run_id: runId };
  return {
    key: trajectoryKeys.list(filter),
    id: row => row.trajectory_id,
    readPage: async ({ service, query, signal }) => {
      if (service.capabilities.has('listTrajectories')) {
        try {
          return await service.trajectories.list({ ...query, ...filter }, { signal });
        } catch (error) {
          if (service.capabilities.has('listTrajectories')) throw error;
        }
      }
      const { trajectory_rewards: rewards } = await service.evaluations.rewards(runId, { signal });
      const items = rewards.flatMap(({ trajectory_id, ...row }) => (trajectory_id ? [{ ...row, trajectory_id }] : []));
      const nameless = rewards.length - items.length;
      const note = nameless === 0 ? undefined : `${nameless} more, counted above, have no id to be opened by`;
      return { items, has_more: false, next_cursor: null, dropped: 0, note };
    },
    activity: () => (ended ? 'settled' : 'running'),
  };
}
