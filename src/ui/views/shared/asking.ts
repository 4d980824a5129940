/** What is said in place of data that has not been read yet. */
import { useCallback, useSyncExternalStore } from 'react';
import { type GateState, useWorkbench } from '../../../queries/workbench.tsx';
import { age } from '../../../text/time.ts';
import { useTime } from '../../app/clock.tsx';

/** Why the service is not asked, and when it will be; undefined if it is. `now` is in epoch milliseconds. */
export function heldBackWords(gate: GateState, now: number): string | undefined {
  if (gate.kind === 'open' || gate.until <= now) return undefined;
  const why = gate.reason === 'rate_limit' ? 'Rate limited' : 'The service fails';
  return `${why}, again in ${age(gate.until - now)}`;
}

/** The same at this moment. */
export function useHeldBackWords(): string | undefined {
  const { gate } = useWorkbench();
  const state = useSyncExternalStore(gate.subscribe, gate.state);
  return useTime(useCallback(now => heldBackWords(state, now), [state]));
}

export const useAskingWords = (): string => useHeldBackWords() ?? 'Asking the service…';
