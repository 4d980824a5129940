/** The notices of the program: one at a time in the line below the panes, and those worth it again in a window. */
import { createContext, useEffect, useMemo, useReducer, useRef } from 'react';
import { sanitiseLine } from '../../text/sanitise.ts';
import { useRouter } from '../keys/router.tsx';
import type { Toast } from './shell-context.tsx';

/** A notice, and when it was given, in epoch milliseconds. */
export interface Said extends Toast {
  readonly at: number;
}

export interface Toasts {
  /** The one to show now. */
  readonly shown: Said | undefined;
  /** Those that can be read again, the newest first. */
  readonly said: readonly Said[];
}

export type ToastAction =
  | { readonly kind: 'say'; readonly toast: Said }
  /** Makes a notice that is shown by other means readable again; the same one only once, with its last time. */
  | { readonly kind: 'keep'; readonly toast: Said }
  /** Ends a notice; without effect if another one is shown by now. */
  | { readonly kind: 'end'; readonly toast: Said };

/** The notices that can be read again: a window that shows them gets new ones while it is open. */
export const SaidContext = createContext<readonly Said[]>([]);

const mostSaid = 100;

const noToasts: Toasts = { shown: undefined, said: [] };

/** Whether it can be read again: what only answers a key is not worth it. */
export const isKept = ({ kind, news = false }: Toast): boolean => news || kind !== 'info';

function toastReducer(toasts: Toasts, action: ToastAction): Toasts {
  if (action.kind === 'end') return toasts.shown === action.toast ? { ...toasts, shown: undefined } : toasts;
  const { toast } = action;
  const shown = action.kind === 'say' ? toast : toasts.shown;
  if (!isKept(toast)) return { ...toasts, shown };
  const others = action.kind === 'say' ? toasts.said : toasts.said.filter(({ text }) => text !== toast.text);
  return { shown, said: [toast, ...others].slice(0, mostSaid) };
}

/** How long a notice is shown at most. It ends sooner with a key, or where its place is left. */
const longestMs = { info: 4_000, success: 4_000, warning: 8_000, danger: 12_000 } as const;
/** A key does not remove it before this time, so that a user who is typing sees it. */
const shortestMs = 1_500;

/** The notices, and the only ways to give one: whatever they get is made safe for a terminal. */
export interface ToastLine extends Toasts {
  readonly say: (toast: Toast) => void;
  /** Adds what is shown by other means to those that can be read again, if it is worth it. */
  readonly keep: (toast: Toast) => void;
}

/**
 * The notices. One ends after its time, with a key after it was seen, and at once where what is shown changes while it is
 * about that. `place` names what is shown, and `windows` is the number of windows above it.
 */
export function useToasts(place: string, windows: number): ToastLine {
  const [toasts, dispatch] = useReducer(toastReducer, noToasts);
  const { shown } = toasts;
  const { say, keep } = useMemo(() => {
    const give =
      (kind: 'say' | 'keep') =>
      ({ text, tail, ...rest }: Toast): void => {
        const safe = { text: sanitiseLine(text), tail: tail === undefined ? undefined : sanitiseLine(tail) };
        dispatch({ kind, toast: { ...rest, ...safe, at: Date.now() } });
      };
    return { say: give('say'), keep: give('keep') };
  }, []);

  const { onPress } = useRouter();
  useEffect(() => {
    if (!shown) return undefined;
    const end = (): void => dispatch({ kind: 'end', toast: shown });
    let timer = setTimeout(end, longestMs[shown.kind]);
    const stop = onPress(() => {
      clearTimeout(timer);
      timer = setTimeout(end, Math.max(0, shown.at + shortestMs - Date.now()));
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [shown, onPress]);

  const given = useRef({ toast: shown, place, windows });
  useEffect(() => {
    const before = given.current;
    given.current = { toast: shown, place, windows };
    if (!shown || shown.news || before.toast !== shown) return;
    if (place !== before.place || windows > before.windows) dispatch({ kind: 'end', toast: shown });
  }, [shown, place, windows]);
  return { ...toasts, say, keep };
}
