/** Shows the connection state below the panes, unless it is normal. */
import { useCallback, useEffect } from 'react';
import { clean } from '../../text/sanitise.ts';
import { age } from '../../text/time.ts';
import type { ConnectionState } from '../../workbench/workbench.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { recordCommands } from '../keys/general.ts';
import { type KeyOf, useKeyOf } from '../keys/router.tsx';
import { useTime } from './clock.tsx';
import type { Toast, ToastKind } from './shell-context.tsx';
import type { ToastLine } from './toasts.ts';

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

/** The connection state in words; undefined if it is normal. */
function describeState(state: ConnectionState, keyOf: KeyOf): string | undefined {
  switch (state.kind) {
    case 'connected':
      return undefined;
    case 'starting':
      return 'Starting the local service';
    case 'restarting':
      return 'The local service has stopped; restarting it';
    case 'silent':
      return 'The local service is busy; waiting for it to respond';
    case 'stopped':
      return 'The local service was stopped elsewhere. The next request will start it again.';
    case 'failed':
      return clean`${state.message} ${keyOf(recordCommands.refresh)} tries again.`;
  }
}

/** The message about a connection state, with its duration. `now` is in epoch milliseconds. Pure. */
function describeShown(state: ConnectionState, now: number, keyOf: KeyOf): string | undefined {
  const words = describeState(state, keyOf);
  if (words === undefined || !('since' in state)) return words;
  const forMs = now - state.since;
  return state.kind !== 'silent' && forMs < patienceMs ? undefined : `${words}… ${age(forMs)}`;
}

/** Whether this is a state whose end is not worth announcing. */
const isWaiting = ({ kind }: ConnectionState): boolean => kind === 'starting' || kind === 'silent';

/**
 * The current message about the connection. `say` shows short news; `keep` adds each warning to the log. The caller is
 * redrawn only when the message changes: most sessions have none.
 */
export function useConnectionNotice({ say, keep }: Pick<ToastLine, 'say' | 'keep'>): Toast | undefined {
  const { connection } = useWorkbench();
  const keyOf = useKeyOf();
  useEffect(() => {
    let last = connection.state;
    const announce = (): void => {
      const [before, state] = [last, connection.state];
      last = state;
      if (state.kind !== 'connected') return;
      if (state.note !== undefined) say({ kind: 'warning', text: state.note, news: true });
      else if (!isWaiting(before) && describeShown(before, Date.now(), keyOf) !== undefined) {
        say({ kind: 'success', text: 'The local service is responding again.', news: true });
      }
    };
    announce();
    return connection.subscribe(announce);
  }, [connection, say, keyOf]);
  const words = useCallback((now: number) => describeShown(connection.state, now, keyOf), [connection, keyOf]);
  const text = useTime(words, connection.subscribe);
  const { state } = connection;
  const kind = kinds[state.kind];
  // The log leaves out the duration, which would go out of date.
  const logged = text === undefined ? undefined : describeState(state, keyOf);
  useEffect(() => {
    if (logged !== undefined) keep({ kind, text: logged });
  }, [logged, kind, keep]);
  return text === undefined ? undefined : { kind, text };
}
