/** The states of the resources that are in alarm, for views that otherwise show only a status. */
import { useMemo } from 'react';
import { keyOf } from '../../../queries/statuses/known-resource.ts';
import { type LineState, stateOf } from '../../../resources/watch.ts';
import type { ResourceRef } from '../../../store/store.ts';
import { usePaceTime } from '../../app/clock.tsx';
import { useWatched } from '../../data/use-watched.ts';

/** Returns a function that finds a resource's state in Watch, if it is in alarm there. */
export function useAlarmed(): (resource: Pick<ResourceRef, 'kind' | 'id'>) => LineState | undefined {
  const now = usePaceTime();
  const lines = useWatched(now);
  return useMemo(() => {
    const alarmed = lines.filter(({ alarms }) => alarms.length > 0);
    const states = new Map(alarmed.map(line => [keyOf(line), stateOf(line, now)]));
    return resource => states.get(keyOf(resource));
  }, [lines, now]);
}
