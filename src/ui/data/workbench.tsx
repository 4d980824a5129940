/** The workbench as screens use it, and hooks for its settings, pins and exports. */
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useState,
  useSyncExternalStore,
} from 'react';
import { neverChanges } from '../../base/listeners.ts';
import type { ResourceRef } from '../../store/store.ts';
import type { Export } from '../../workbench/exports.ts';
import type { Workbench } from '../../workbench/workbench.ts';

const WorkbenchContext = createContext<Workbench | undefined>(undefined);

export function WorkbenchProvider({ workbench, children }: { workbench: Workbench; children: ReactNode }) {
  return (
    <WorkbenchContext value={workbench}>
      <QueryClientProvider client={workbench.cache}>{children}</QueryClientProvider>
    </WorkbenchContext>
  );
}

export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (!workbench) throw new Error('useWorkbench needs a WorkbenchProvider above it');
  return workbench;
}

/** Whether the user has paused polling. */
export function usePaused(): boolean {
  const workbench = useWorkbench();
  return useSyncExternalStore(workbench.subscribe, () => workbench.paused);
}

/** A value from the file being read; undefined if no file is read. */
export function useFile(name: 'title' | 'problem'): string | undefined {
  const { file } = useWorkbench();
  return useSyncExternalStore(file?.subscribe ?? neverChanges, () => file?.[name]);
}

export function useExports(): readonly Export[] {
  const { exports } = useWorkbench();
  return useSyncExternalStore(exports.subscribe, exports.list);
}

export function useSetting<Value>(name: string, initial: Value): readonly [Value, (value: Value) => void] {
  const { remembered } = useWorkbench();
  const [value, setValue] = useState<Value>(() => (remembered.setting(name) as Value | undefined) ?? initial);
  const keep = useCallback(
    (next: Value) => {
      setValue(next);
      remembered.setSetting(name, next);
    },
    [remembered, name],
  );
  return [value, keep];
}

/** Returns a function that pins the resources, or unpins them if all are pinned, and returns a message. */
export function usePin(resources: readonly ResourceRef[]): () => string {
  const { pins, remembered } = useWorkbench();
  return () => {
    const others = resources.filter(({ kind, id }) => !pins.has(kind, id));
    const changed = (others.length > 0 ? others : resources).filter(each => pins.toggle(each) !== undefined);
    if (changed.length === 0) return `Watch is unchanged. ${remembered.file.problem ?? ''}`.trim();
    const words = others.length > 0 ? 'Pinned to Watch' : 'No longer pinned';
    return resources.length > 1 ? `${words}: ${changed.length}` : words;
  };
}

/** Registers a description of unfinished work while the caller is on screen, so that leaving asks first. */
export function useUnfinished(words: string | undefined): void {
  const { unfinished } = useWorkbench();
  const id = useId();
  useEffect(() => {
    if (words === undefined) return undefined;
    unfinished.set(id, { words });
    return () => void unfinished.delete(id);
  }, [unfinished, id, words]);
}
