/** The program's notices: one at a time in the line below the panes, and a log of the important ones. */
import { createContext, useEffect, useMemo, useReducer, useRef } from 'react';
import { sanitiseLine } from '../../text/sanitise.ts';
import { useRouter } from '../keys/router.tsx';
import type { Toast } from './shell-context.tsx';

/** A notice with its time, in epoch milliseconds. */
interface TimedToast extends Toast {
  readonly at: number;
}

interface Toasts {
  readonly shown: TimedToast | undefined;
  /** The log, newest first. */
  readonly log: readonly TimedToast[];
}

type ToastAction =
  | { readonly kind: 'say'; readonly toast: TimedToast }
  /** Adds a notice that is shown by other means to the log; a repeated one only updates its time. */
  | { readonly kind: 'keep'; readonly toast: TimedToast }
  /** Ends a notice, unless another one has replaced it. */
  | { readonly kind: 'end'; readonly toast: TimedToast };

/** The log as a context, so that an open window gets new notices. */
export const NoticeLogContext = createContext<readonly TimedToast[]>([]);

const maxLogged = 100;

const noToasts: Toasts = { shown: undefined, log: [] };

/** Whether a notice goes to the log: a mere response to a key does not. */
export const isKept = ({ kind, news = false }: Toast): boolean => news || kind !== 'info';

function toastReducer(toasts: Toasts, action: ToastAction): Toasts {
  if (action.kind === 'end') return toasts.shown === action.toast ? { ...toasts, shown: undefined } : toasts;
  const { toast } = action;
  const shown = action.kind === 'say' ? toast : toasts.shown;
  if (!isKept(toast)) return { ...toasts, shown };
  const others = action.kind === 'say' ? toasts.log : toasts.log.filter(({ text }) => text !== toast.text);
  return { shown, log: [toast, ...others].slice(0, maxLogged) };
}

/** Maximum time for which a notice is shown, in milliseconds. A key or navigation ends it sooner. */
const longestMs = { info: 4_000, success: 4_000, warning: 8_000, danger: 12_000 } as const;
/** Minimum time, in milliseconds, so that a user who is typing sees it. */
const shortestMs = 1_500;

/** The notices, and the only functions that create one: they sanitise the text. */
export interface ToastLine extends Toasts {
  readonly say: (toast: Toast) => void;
  /** Adds a notice that is shown by other means to the log, if it is important. */
  readonly keep: (toast: Toast) => void;
}

function timed({ text, tail, ...rest }: Toast): TimedToast {
  const safe = { text: sanitiseLine(text), tail: tail === undefined ? undefined : sanitiseLine(tail) };
  return { ...rest, ...safe, at: Date.now() };
}

/**
 * The notices. A notice ends when its time is up, on a key press once the user has seen it, or on leaving the view that
 * it is about. `place` identifies the current view, and `windows` is the number of windows above it.
 *
 * @param first shown in the first frame
 * @param mostMs overrides the maximum time, so that a test sees a notice however slow its machine is
 */
export function useToasts(place: string, windows: number, first?: Toast, mostMs?: number): ToastLine {
  const [toasts, dispatch] = useReducer(toastReducer, noToasts, none =>
    first ? toastReducer(none, { kind: 'say', toast: timed(first) }) : none,
  );
  const { shown } = toasts;
  const { say, keep } = useMemo(() => {
    const give =
      (kind: 'say' | 'keep') =>
      (toast: Toast): void =>
        dispatch({ kind, toast: timed(toast) });
    return { say: give('say'), keep: give('keep') };
  }, []);

  const { onPress } = useRouter();
  useEffect(() => {
    if (!shown) return undefined;
    const end = (): void => dispatch({ kind: 'end', toast: shown });
    let timer = setTimeout(end, mostMs ?? longestMs[shown.kind]);
    const stop = onPress(() => {
      clearTimeout(timer);
      timer = setTimeout(end, Math.max(0, shown.at + shortestMs - Date.now()));
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [shown, onPress, mostMs]);

  const drawn = useRef({ toast: shown, place, windows });
  useEffect(() => {
    const before = drawn.current;
    drawn.current = { toast: shown, place, windows };
    if (!shown || shown.news || before.toast !== shown) return;
    if (place !== before.place || windows > before.windows) dispatch({ kind: 'end', toast: shown });
  }, [shown, place, windows]);
  return { ...toasts, say, keep };
}
