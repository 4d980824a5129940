/** Whether a thing is pinned to Watch, and the change of that. */
import { useCallback, useSyncExternalStore } from 'react';
import type { PinnedThing } from './remembered/store.ts';
import { useWorkbench, type Workbench } from './workbench.tsx';

/** Tells those who show pins that they have changed; by workbench, as each has its own. */
const listeners = new WeakMap<Workbench, Set<() => void>>();
/** The pins as they were last read; the same list until they change. */
const known = new WeakMap<Workbench, readonly PinnedThing[]>();

function subscribe(workbench: Workbench, listener: () => void): () => void {
  const set = listeners.get(workbench) ?? new Set();
  listeners.set(workbench, set);
  set.add(listener);
  return () => set.delete(listener);
}

function pinsOf(workbench: Workbench): readonly PinnedThing[] {
  const pins = known.get(workbench) ?? workbench.remembered.pinned();
  known.set(workbench, pins);
  return pins;
}

function changed(workbench: Workbench): void {
  known.set(workbench, workbench.remembered.pinned());
  for (const listener of listeners.get(workbench) ?? []) listener();
}

/** Everything that is pinned. */
export function usePins(): readonly PinnedThing[] {
  const workbench = useWorkbench();
  const listen = useCallback((listener: () => void) => subscribe(workbench, listener), [workbench]);
  return useSyncExternalStore(listen, () => pinsOf(workbench));
}

/** Pins, or unpins; `toggle` gives whether it is pinned now. */
export function usePin(thing: PinnedThing | undefined): { readonly toggle: () => boolean } {
  const workbench = useWorkbench();
  const toggle = (): boolean => {
    if (!thing) return false;
    const is = workbench.remembered.pinned().some(({ kind, id }) => kind === thing.kind && id === thing.id);
    if (is) workbench.remembered.unpin(thing.kind, thing.id);
    else workbench.remembered.pin(thing);
    changed(workbench);
    return !is;
  };
  return { toggle };
}
