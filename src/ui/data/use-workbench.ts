/** Hooks for what views read of the workbench besides queries: counts, exports, settings, pins, jobs. */

import { isDeepStrictEqual } from 'node:util';
import { hashKey } from '@tanstack/react-query';
import { useCallback, useEffect, useId, useState, useSyncExternalStore } from 'react';
import type { ListCount } from '../../queries/lists/lists.ts';
import type { LiveQuery } from '../../queries/live-query.ts';
import type { ResourceRef } from '../../store/store.ts';
import type { TrajectoryRecord, TrajectoryUploadRef } from '../../store/trajectory-records.ts';
import type { UnfinishedUpload } from '../../store/upload-records.ts';
import { count as shortCount } from '../../text/numbers.ts';
import { fingerprintAt } from '../../uploads/local-files.ts';
import type { Export } from '../../workbench/exports.ts';
import type { AnyJob, Job, JobState } from '../../workbench/jobs.ts';
import { useWorkbench } from './workbench.tsx';

/** Returns a function that reads the last answer to a query when called. */
export function useLastAnswer(): <Data>(query: LiveQuery<Data>) => Data | undefined {
  const { cache } = useWorkbench();
  return useCallback(query => cache.getQueryData(query.key), [cache]);
}

/**
 * The number of rows of a list, in `room` cells; four are always enough. A `+` follows if the server has more: the
 * number is then rounded down, because there may be no more than that.
 */
export function countText({ rows, complete }: Pick<ListCount, 'rows' | 'complete'>, room: number): string {
  if (complete) return rows < 10_000 ? `${rows}` : shortCount(rows);
  const inFull = `${rows}+`;
  if (rows < 10_000 && inFull.length <= room) return inFull;
  const text = rows < 1_000_000 ? `${Math.floor(rows / 1_000)}k+` : `${Math.floor(rows / 1_000_000)}M+`;
  return text.length <= room ? text : '99k+';
}

/**
 * The row count of the list under `key` in `room` cells; undefined before it has been read. It is refreshed off screen
 * only if this program may have changed it.
 */
export function useListCount(key: readonly unknown[] | undefined, room: number): string | undefined {
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
    return count && countText(count, room);
  });
}

/** The running exports. */
export function useExports(): readonly Export[] {
  const { exports } = useWorkbench();
  return useSyncExternalStore(exports.subscribe, exports.list);
}

/** A text about the uploads; the caller is redrawn only when it changes. */
export function useUploads(words: (jobs: readonly AnyJob[]) => string): string {
  const { jobs } = useWorkbench();
  return useSyncExternalStore(jobs.subscribe, () => words(jobs.list()));
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

/** Returns a function that pins or unpins a resource and returns a message. */
export function usePin(resource: ResourceRef | undefined): () => string {
  const { pins, remembered } = useWorkbench();
  return () => {
    const now = resource && pins.toggle(resource);
    if (now === undefined) return `Watch is unchanged. ${remembered.problem ?? ''}`.trim();
    return now === 'pinned' ? 'Pinned to Watch' : 'No longer pinned';
  };
}

/** The job with this id, redrawn when it changes; undefined if there is none. */
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
 * The upload records that `find` returns, read again when they change. Empty before the first frame has been drawn, and
 * in read-only mode, where they cannot be resumed.
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
    const stops = [records.subscribe(read), jobs.subscribe(read)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [jobs, records, readOnly, find]);
  return found;
}

/** Interrupted uploads of benchmarks, of this or an earlier start, latest first. */
export function useUnfinishedUploads(): readonly UnfinishedUpload[] {
  const { jobs, remembered } = useWorkbench();
  const { uploads } = remembered;
  return useStopped(
    uploads,
    useCallback(() => uploads.unfinished().filter(({ folder }) => !jobs.get(folder)?.busy), [jobs, uploads]),
  );
}

/** The id of the job that uploads it: there is at most one. */
export const trajectoryJobId = ({ path, dataset, agent }: TrajectoryUploadRef): string =>
  JSON.stringify(['trajectories', path, dataset, agent ?? '']);

/** Unfinished uploads of trajectories whose file still exists, latest first. */
export function useUnfinishedTrajectories(): readonly TrajectoryRecord[] {
  const { jobs, remembered } = useWorkbench();
  const { trajectoryUploads } = remembered;
  return useStopped(
    trajectoryUploads,
    useCallback(
      () =>
        trajectoryUploads
          .unfinished()
          .filter(record => !jobs.get(trajectoryJobId(record))?.busy && fingerprintAt(record.path) !== undefined),
      [jobs, trajectoryUploads],
    ),
  );
}

/** Registers what would be lost, in words, while the caller is on screen; undefined for nothing. */
export function useUnfinished(words: string | undefined): void {
  const { unfinished } = useWorkbench();
  const id = useId();
  useEffect(() => {
    if (words === undefined) return undefined;
    unfinished.set(id, { words });
    return () => void unfinished.delete(id);
  }, [unfinished, id, words]);
}
