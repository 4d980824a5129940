/** The states of the resources that are in alarm, for views that otherwise show only a status. */
import { useCallback } from 'react';
import { type LineState, stateOf } from '../../../resources/line-state.ts';
import type { ResourceRef } from '../../../store/store.ts';
import { usePaceTime } from '../../app/clock.tsx';
import { useLineFinder } from '../../data/use-watched.ts';

/** Returns a function that finds the state of a resource that is in alarm. */
export function useAlarmed(): (resource: Pick<ResourceRef, 'kind' | 'id'>) => LineState | undefined {
  const now = usePaceTime();
  const lineOf = useLineFinder(now);
  return useCallback(
    resource => {
      const line = lineOf(resource);
      return line && line.alarms.length > 0 ? stateOf(line, now) : undefined;
    },
    [lineOf, now],
  );
}
