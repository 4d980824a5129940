/** Provides the workbench to the screens. */
import { QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
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
