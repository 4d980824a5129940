/** Hooks for this program's uploads, and for interrupted ones. */

import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { endAll } from '../../base/listeners.ts';
import type { TrajectoryUploadRef } from '../../store/sent-record.ts';
import type { TrajectoryRecord } from '../../store/trajectory-records.ts';
import type { UnfinishedUpload } from '../../store/upload-records.ts';
import type { AnyJob, Job, JobState } from '../../workbench/jobs.ts';
import { useWorkbench } from './workbench.tsx';

/** Text about the uploads; the caller is redrawn only when it changes. */
export function useUploads(words: (jobs: readonly AnyJob[]) => string): string {
  const { jobs } = useWorkbench();
  return useSyncExternalStore(jobs.subscribe, () => words(jobs.list()));
}

/** The job with this id; undefined if there is none. The caller is redrawn when it changes. */
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

/**
 * The upload records that `find` returns, read again when they change. Empty before the first frame, and in read-only
 * mode, where uploads cannot be resumed.
 */
function useStopped<Upload>(
  records: { readonly subscribe: (listener: () => void) => () => void },
  find: () => readonly Upload[],
): readonly Upload[] {
  const { jobs, readOnly } = useWorkbench();
  const [found, setFound] = useState<readonly Upload[]>([]);
  useEffect(() => {
    if (readOnly) return;
    const read = (): void => {
      const stopped = find();
      setFound(before => (isDeepStrictEqual(before, stopped) ? before : stopped));
    };
    read();
    return endAll([records.subscribe(read), jobs.subscribe(read)]);
  }, [jobs, records, readOnly, find]);
  return found;
}

/** Interrupted benchmark uploads from this or an earlier session, latest first. */
export function useUnfinishedUploads(): readonly UnfinishedUpload[] {
  const { jobs, remembered } = useWorkbench();
  const { uploads } = remembered;
  return useStopped(
    uploads,
    useCallback(() => uploads.unfinished().filter(({ folder }) => !jobs.get(folder)?.busy), [jobs, uploads]),
  );
}

/** The id of the only job that may upload this file. */
export const trajectoryJobId = ({ path, dataset, agent }: TrajectoryUploadRef): string =>
  JSON.stringify(['trajectories', path, dataset, agent ?? '']);

/** Unfinished trajectory uploads from files that still exist, latest first. */
export function useUnfinishedTrajectories(): readonly TrajectoryRecord[] {
  const { jobs, remembered } = useWorkbench();
  const { trajectoryUploads } = remembered;
  return useStopped(
    trajectoryUploads,
    useCallback(
      () =>
        trajectoryUploads
          .unfinished()
          .filter(record => !jobs.list().some(job => job.busy && job.isOf(record)) && existsSync(record.path)),
      [jobs, trajectoryUploads],
    ),
  );
}
