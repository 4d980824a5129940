/** Shows the state of the connection below the panes, unless it is normal. */
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { type ConnectionState, useWorkbench } from '../../queries/workbench.tsx';
import { sanitiseLine } from '../../text/sanitise.ts';
import { age } from '../../text/time.ts';
import { useTime } from './clock.tsx';
import type { Toast, ToastKind } from './shell-context.tsx';

/** Shorter interruptions are not reported. */
const patienceMs = 700;

const kinds = {
  connected: 'success',
  starting: 'info',
  restarting: 'warning',
  silent: 'warning',
  stopped: 'warning',
  failed: 'danger',
} as const satisfies Record<ConnectionState['kind'], ToastKind>;

/** The state of the connection in words; undefined if it is normal. `now` is in epoch milliseconds. Pure. */
export function connectionWords(state: ConnectionState, now: number): string | undefined {
  switch (state.kind) {
    case 'connected':
      return undefined;
    case 'starting':
      return whileWaiting('Starting the local service', now - state.since);
    case 'restarting':
      return whileWaiting('The local service has stopped; starting it again', now - state.since);
    case 'silent':
      return `The local service is busy; waiting for its answer… ${age(now - state.since)}`;
    case 'stopped':
      return 'The local service was stopped elsewhere. The next request starts it again.';
    case 'failed':
      return sanitiseLine(`${state.message} r tries again.`);
  }
}

/** Nothing was lost: what has started, or was busy, is no news. */
const isWaiting = ({ kind }: ConnectionState): boolean => kind === 'starting' || kind === 'silent';

function whileWaiting(words: string, forMs: number): string | undefined {
  return forMs < patienceMs ? undefined : `${words}… ${age(forMs)}`;
}

/** The current message about the connection. Temporary news are shown by `toast`. */
export function useConnectionNotice(toast: (toast: Toast) => void): Toast | undefined {
  const { connection } = useWorkbench();
  const state = useSyncExternalStore(connection.subscribe, () => connection.state);
  const before = useRef(state);
  useEffect(() => {
    const last = before.current;
    before.current = state;
    if (state.kind !== 'connected') return;
    if (state.note !== undefined) toast({ kind: 'warning', text: state.note, news: true });
    else if (!isWaiting(last) && connectionWords(last, Date.now()) !== undefined) {
      toast({ kind: 'success', text: 'The local service answers again.', news: true });
    }
  }, [state, toast]);
  const text = useTime(useCallback(now => connectionWords(state, now), [state]));
  return text === undefined ? undefined : { kind: kinds[state.kind], text };
}
