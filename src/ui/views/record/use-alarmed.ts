/** The states of the resources that are in alarm, for views that otherwise show only a status. */
import { useMemo } from 'react';
import { keyOf } from '../../../queries/statuses/known-resource.ts';
import { alarmedState, type LineState, stateOf } from '../../../resources/watch.ts';
import type { ResourceRef } from '../../../store/store.ts';
import { usePaceTime } from '../../app/clock.tsx';
import { useWatched } from '../../data/use-watched.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** Returns a function that finds the state of a resource that is in alarm. */
export function useAlarmed(): (resource: Pick<ResourceRef, 'kind' | 'id'>) => LineState | undefined {
  const workbench = useWorkbench();
  const now = usePaceTime();
  const lines = useWatched(now);
  return useMemo(() => {
    const alarmed = lines.filter(({ alarms }) => alarms.length > 0);
    const states = new Map(alarmed.map(line => [keyOf(line), stateOf(line, now)]));
    return resource => states.get(keyOf(resource)) ?? alarmedState(resource, workbench, now);
  }, [lines, now, workbench]);
}
