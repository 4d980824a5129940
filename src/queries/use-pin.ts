/** Pins a resource to Watch, or unpins it. */
import type { ResourceRef } from './remembered/store.ts';
import { useWorkbench } from './workbench.tsx';

/** `toggle` gives whether it is pinned now. */
export function usePin(thing: ResourceRef | undefined): { readonly toggle: () => boolean } {
  const { pins } = useWorkbench();
  return { toggle: () => thing !== undefined && pins.toggle(thing) };
}
