/** The trajectories of the organization, or of a dataset. */
import { useMemo } from 'react';
import { trajectoryList } from '../../../queries/trajectories.ts';
import { trajectoryColumns, trajectoryFacts } from '../../../resources/trajectories.ts';
import type { ViewProps } from '../../app/view-definition.ts';
import { trajectoryPlace } from '../shared/places.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { useTrajectoryActions } from './use-trajectory-actions.tsx';

export function TrajectoriesView({ location }: ViewProps) {
  const { dataset_name: dataset, training_run_id: training } = location.params;
  const source = useMemo(
    () =>
      trajectoryList({
        ...(dataset ? { dataset_name: dataset } : {}),
        ...(training ? { training_run_id: training } : {}),
      }),
    [dataset, training],
  );
  const actions = useTrajectoryActions();
  return (
    <ResourceList
      source={source}
      columns={trajectoryColumns}
      emptyWords="No trajectories yet: evaluations record them"
      open={trajectoryPlace}
      facts={trajectoryFacts}
      pin={row => ({ kind: 'trajectory', id: row.trajectory_id, label: row.task_id ?? row.trajectory_id })}
      actions={actions}
    />
  );
}
