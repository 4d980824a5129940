/** What is said in place of data that has not been read yet. */
import { Text } from 'ink';
import Spinner from 'ink-spinner';
import { useCallback, useSyncExternalStore } from 'react';
import type { GateState } from '../../queries/workbench.ts';
import { age } from '../../text/time.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { useTime } from './clock.tsx';

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

/** Shown while there is no data yet: what is being loaded, by default the service. */
export function Waiting({ words }: { words?: string | undefined }) {
  const heldBack = useHeldBackWords();
  if (words === undefined && heldBack !== undefined) return <Text>{` ${heldBack}`}</Text>;
  return (
    <Text>
      {' '}
      {words ?? 'Asking the service'}
      {/* Animated at a few frames per second, in its own cells. */}
      <Spinner type="simpleDots" />
    </Text>
  );
}
