/** A write that the user starts: sent once, reported once, never repeated by itself. */
import { useCallback, useEffect, useReducer, useRef } from 'react';
import type { Service } from '../service/index.ts';
import { type Fault, faultOf } from './fault.ts';
import { orStopped } from './stopped.ts';
import { useWorkbench } from './workbench.tsx';

export type ActionState<Result> =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly stopping: boolean }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly fault: Fault };

/** Every request of the work gets the signal, so that the user can stop it. */
export type ActionWork<Result> = (service: Service, signal: AbortSignal) => Promise<Result>;

export interface Action<Result> {
  readonly state: ActionState<Result>;
  /**
   * Runs the work, then refreshes every query whose key begins with one of `touches`. Gives undefined where it failed,
   * where an earlier start is still running, and where the component has unmounted meanwhile. Never rejects.
   */
  readonly start: (work: ActionWork<Result>, touches: readonly (readonly unknown[])[]) => Promise<Result | undefined>;
  /** Aborts what is running. It ends as failed, and the fault says whether it may have happened. */
  readonly stop: () => void;
}

export function useAction<Result>(): Action<Result> {
  const workbench = useWorkbench();
  const [state, setState] = useReducer(
    (_: ActionState<Result>, next: ActionState<Result>): ActionState<Result> => next,
    { kind: 'idle' },
  );
  // A ref and not the state: two presses may come before the next drawing.
  const running = useRef<AbortController>(undefined);
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
    };
  }, []);
  const start = useCallback<Action<Result>['start']>(
    async (work, touches) => {
      if (running.current) return undefined;
      const controller = new AbortController();
      running.current = controller;
      setState({ kind: 'running', stopping: false });
      try {
        const result = await work(await orStopped(workbench.service(), controller.signal), controller.signal);
        setState({ kind: 'done', result });
        return mounted.current ? result : undefined;
      } catch (error) {
        setState({ kind: 'failed', fault: faultOf(error) });
        return undefined;
      } finally {
        running.current = undefined;
        // Also after a failure: a write whose answer was lost may have happened.
        for (const key of touches) void workbench.cache.invalidateQueries({ queryKey: key });
      }
    },
    [workbench],
  );
  const stop = useCallback(() => {
    if (!running.current || running.current.signal.aborted) return;
    setState({ kind: 'running', stopping: true });
    running.current.abort();
  }, []);
  return { state, start, stop };
}

/**
 * A key that makes repeating a start harmless: the same for the same content, so that trying again after a lost answer
 * cannot start it twice, also where something else was tried or looked at in between.
 */
export function useIdempotencyKey(): (content: string) => string {
  const keys = useRef(new Map<string, string>());
  return useCallback(content => {
    const key = keys.current.get(content) ?? crypto.randomUUID();
    keys.current.set(content, key);
    return key;
  }, []);
}
