/** The trajectories of the organization, or of a dataset. */
import { useMemo } from 'react';
import { trajectoryList } from '../../../queries/trajectories.ts';
import type { ViewProps } from '../../app/view-definition.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { trajectoryColumns } from './columns.ts';
import { trajectoryFacts, trajectoryPlace } from './facts.ts';

export function TrajectoriesView({ location }: ViewProps) {
  const dataset = location.params['dataset_name'];
  const source = useMemo(() => trajectoryList(dataset ? { dataset_name: dataset } : {}), [dataset]);
  return (
    <ResourceList
      source={source}
      columns={trajectoryColumns}
      emptyWords="No trajectories yet: evaluations record them"
      open={trajectoryPlace}
      facts={trajectoryFacts}
    />
  );
}
