/** Held-out rewards for the training runs on screen. For a run that has ended, they are read until they are final. */
import { heldOutRewardsQuery } from '../../queries/training-curves.ts';
import { hasFinalCurve } from '../../resources/rotation-turns.ts';
import { useWorkbench } from './workbench.tsx';

/** Returns a function that builds the query for a run. */
export function useHeldOutQuery(): (id: string, ended: boolean) => ReturnType<typeof heldOutRewardsQuery> {
  const workbench = useWorkbench();
  return (id, ended) => {
    const query = heldOutRewardsQuery(id, ended, () => {
      const known = workbench.statuses.get({ kind: 'training', id });
      const readAt = workbench.cache.getQueryState(query.key)?.dataUpdatedAt ?? 0;
      return !known || known.gone === true || hasFinalCurve(workbench, known, readAt);
    });
    return query;
  };
}
