/** Work that continues whatever is on screen, as a view shows it. */
import { useCallback, useSyncExternalStore } from 'react';
import type { Job, JobState } from './uploads/job.ts';
import { useWorkbench } from './workbench.tsx';

/** The job of that id, drawn again when it changes; undefined where there is none, or no longer. */
export function useJob<Kind extends Job<JobState>>(
  id: string,
  kind: abstract new (...parameters: never[]) => Kind,
): Kind | undefined {
  const { jobs } = useWorkbench();
  const found = jobs.get(id);
  const job = found instanceof kind ? found : undefined;
  const subscribe = useCallback((listener: () => void) => job?.subscribe(listener) ?? (() => {}), [job]);
  useSyncExternalStore(subscribe, () => job?.state);
  return job;
}
