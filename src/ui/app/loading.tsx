/** Placeholders for data that has not been read yet. */
import { Text } from 'ink';
import Spinner from 'ink-spinner';
import { useCallback, useSyncExternalStore } from 'react';
import type { GateState } from '../../workbench/workbench.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { useTime } from './clock.tsx';
import { describeRequestedWait, formatRetryTime } from './frame-lines.ts';

/** Why requests are delayed, and until when; undefined if they are not. `now` is in epoch milliseconds. */
export function describeDelay(gate: GateState, now: number): string | undefined {
  if (gate.kind === 'open' || gate.until <= now) return undefined;
  const why = gate.reason === 'rate_limit' ? 'Rate limited' : 'The service is failing';
  const requested = describeRequestedWait(gate.requestedUntil, now);
  return [why, requested, formatRetryTime(gate.until, now)].filter(Boolean).join(', ');
}

export function useDelayText(): string | undefined {
  const { gate } = useWorkbench();
  const state = useSyncExternalStore(gate.subscribe, gate.state);
  return useTime(useCallback(now => describeDelay(state, now), [state]));
}

export const useLoadingText = (): string => useDelayText() ?? 'Loading…';

/** Shown while there is no data yet. `words` name the data. */
export function Loading({ words }: { words?: string | undefined }) {
  const heldBack = useDelayText();
  if (words === undefined && heldBack !== undefined) return <Text>{` ${heldBack}`}</Text>;
  return (
    <Text>
      {' '}
      {words ?? 'Loading'}
      {/* Animated at a few frames per second, in its own cells. */}
      <Spinner type="simpleDots" />
    </Text>
  );
}
