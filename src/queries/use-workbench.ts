/** What views read of the workbench besides the answers to queries: counts, exports, settings, pins, jobs. */

import { isDeepStrictEqual } from 'node:util';
import { hashKey } from '@tanstack/react-query';
import { useCallback, useEffect, useId, useState, useSyncExternalStore } from 'react';
import { count as shortCount } from '../text/numbers.ts';
import type { Export } from './exports.ts';
import type { ResourceRef } from './remembered/store.ts';
import type { TrajectoryRecord, TrajectoryUploadRef } from './remembered/trajectory-records.ts';
import type { UnfinishedUpload } from './remembered/upload-records.ts';
import type { Job, JobState } from './uploads/job.ts';
import { fingerprintAt } from './uploads/local-files.ts';
import type { LiveQuery } from './use-live.ts';
import { useWorkbench } from './workbench.tsx';

/** Returns a function that reads the last answer to a query, at the moment it is called. */
export function useLastAnswer(): <Data>(query: LiveQuery<Data>) => Data | undefined {
  const { cache } = useWorkbench();
  return useCallback(query => cache.getQueryData(query.key), [cache]);
}

/**
 * Rows of the list under `key`, with a `+` where the server has more; undefined until it has been read. Asks for it
 * only if something that the program did may have changed it while nothing shows it.
 */
export function useListCount(key: readonly unknown[] | undefined): string | undefined {
  const { cache, lists } = useWorkbench();
  useEffect(
    () =>
      cache.getQueryCache().subscribe(event => {
        if (!key || event.type !== 'updated' || event.action.type !== 'invalidate') return;
        if (event.query.queryHash !== hashKey(key) || event.query.isActive()) return;
        void cache.refetchQueries({ queryKey: key, exact: true, type: 'inactive' });
      }),
    [cache, key],
  );
  return useSyncExternalStore(lists.subscribe, () => {
    const count = key && lists.countOf(key);
    return count && `${count.rows < 10_000 ? count.rows : shortCount(count.rows)}${count.complete ? '' : '+'}`;
  });
}

/** The exports that are under way. */
export function useExports(): readonly Export[] {
  const { exports } = useWorkbench();
  return useSyncExternalStore(exports.subscribe, exports.list);
}

export function useSetting<Value>(name: string, usual: Value): readonly [Value, (value: Value) => void] {
  const { remembered } = useWorkbench();
  const [value, setValue] = useState<Value>(() => (remembered.setting(name) as Value | undefined) ?? usual);
  const keep = useCallback(
    (next: Value) => {
      setValue(next);
      remembered.setSetting(name, next);
    },
    [remembered, name],
  );
  return [value, keep];
}

/** Returns the function that pins a resource to Watch or takes it off; that gives what happened, in words. */
export function usePin(resource: ResourceRef | undefined): () => string {
  const { pins, remembered } = useWorkbench();
  return () => {
    const now = resource && pins.toggle(resource);
    if (now === undefined) return `Nothing was changed in Watch. ${remembered.problem ?? ''}`.trim();
    return now === 'pinned' ? 'Pinned to Watch' : 'No longer pinned';
  };
}

/** The job of that id, drawn again when it changes; undefined if there is none, or no longer. */
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
 * What `find` gives of the records of uploads, read again as they change. Nothing before the first frame has been
 * drawn, and nothing if it cannot be continued because nothing may be written.
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
    const stops = [records.subscribe(read), ...[...jobs.values()].map(job => job.subscribe(read))];
    return () => {
      for (const stop of stops) stop();
    };
  }, [jobs, records, readOnly, find]);
  return found;
}

/** Uploads of benchmarks that stopped before their end, here or in an earlier start of the program, the one begun last first. */
export function useUnfinishedUploads(): readonly UnfinishedUpload[] {
  const { jobs, remembered } = useWorkbench();
  const { uploads } = remembered;
  return useStopped(
    uploads,
    useCallback(() => uploads.unfinished().filter(({ folder }) => !jobs.get(folder)?.busy), [jobs, uploads]),
  );
}

/** The id of the job that uploads it: there is one at most. */
export const trajectoryJobId = ({ path, dataset, agent }: TrajectoryUploadRef): string =>
  JSON.stringify(['trajectories', path, dataset, agent ?? '']);

/** Uploads of trajectories that stopped before their end and whose file is as it was, the one begun last first. */
export function useUnfinishedTrajectories(): readonly TrajectoryRecord[] {
  const { jobs, remembered } = useWorkbench();
  const { trajectoryUploads } = remembered;
  return useStopped(
    trajectoryUploads,
    useCallback(
      () =>
        trajectoryUploads
          .unfinished()
          .filter(record => !jobs.get(trajectoryJobId(record))?.busy && fingerprintAt(record.path) === record.mark),
      [jobs, trajectoryUploads],
    ),
  );
}

/** Says what would be lost, in words, while the caller is on screen; undefined for nothing. */
export function useUnfinished(words: string | undefined): void {
  const { unfinished } = useWorkbench();
  const id = useId();
  useEffect(() => {
    if (words === undefined) return undefined;
    unfinished.set(id, { words });
    return () => void unfinished.delete(id);
  }, [unfinished, id, words]);
}
