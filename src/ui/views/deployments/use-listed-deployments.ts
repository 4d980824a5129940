/** The deployments named in windows about production, with their origins. */
import { useMemo } from 'react';
import type { Deployment } from '../../../contract/deployments.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { surelyInProduction } from '../../../resources/deployments.ts';
import { traced } from '../../../resources/origins.ts';
import { useList } from '../../data/use-list.ts';
import { useOrigins } from '../../data/use-origins.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** The listed deployments. Searches for the origins of those in production. @param also another one to search for */
export function useListedDeployments(also?: Deployment) {
  const { remembered } = useWorkbench();
  const listed = useList(deploymentList, 'visible');
  const named = useMemo(
    () => [...(also ? [also] : []), ...listed.rows.filter(row => surelyInProduction(row) === true)],
    [also, listed.rows],
  );
  const { searchedAt } = useOrigins(named, 'visible');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the search adds to what is remembered
  const rows = useMemo(() => traced(listed.rows, remembered), [listed.rows, remembered, searchedAt]);
  return { ...listed, rows };
}
