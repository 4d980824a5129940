/** Something the user does to the service: started once, reported once, never repeated by itself. */
import { useCallback, useReducer, useRef } from 'react';
import type { Service } from '../service/index.ts';
import { type Fault, faultOf } from './fault.ts';
import { useWorkbench } from './workbench.tsx';

export type ActionState<Result> =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly fault: Fault };

export interface Action<Result> {
  readonly state: ActionState<Result>;
  /** Runs the work unless it is running; then asks anew for everything whose key begins with one of `touches`. */
  readonly start: (
    work: (service: Service) => Promise<Result>,
    touches: readonly (readonly unknown[])[],
  ) => Promise<Result | undefined>;
  readonly reset: () => void;
}

export function useAction<Result>(): Action<Result> {
  const workbench = useWorkbench();
  const [state, setState] = useReducer(
    (_: ActionState<Result>, next: ActionState<Result>): ActionState<Result> => next,
    { kind: 'idle' },
  );
  const start = useCallback<Action<Result>['start']>(
    async (work, touches) => {
      setState({ kind: 'running' });
      try {
        const result = await work(await workbench.service());
        setState({ kind: 'done', result });
        return result;
      } catch (error) {
        setState({ kind: 'failed', fault: faultOf(error) });
        return undefined;
      } finally {
        // Also after a failure: a write whose answer was lost may have happened.
        for (const key of touches) void workbench.cache.invalidateQueries({ queryKey: key });
      }
    },
    [workbench],
  );
  const reset = useCallback(() => setState({ kind: 'idle' }), []);
  return { state, start, reset };
}

/**
 * A key that makes repeating a start harmless: the same as long as what is sent stays the same, so that trying again after
 * a lost answer cannot start it twice.
 */
export function useIdempotencyKey(): (content: string) => string {
  const last = useRef<{ content: string; key: string }>(undefined);
  return useCallback(content => {
    if (last.current?.content !== content) last.current = { content, key: crypto.randomUUID() };
    return last.current.key;
  }, []);
}
