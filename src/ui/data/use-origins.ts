/** Finds, in the background, the training runs of checkpoints that rows on screen refer to by id. */
import { useMemo } from 'react';
import { inParallel } from '../../base/in-parallel.ts';
import { type CheckpointUser, OriginSearch } from '../../queries/checkpoint-origins.ts';
import type { LiveQuery } from '../../queries/live-query.ts';
import type { Attention } from '../../queries/polling.ts';
import { isAbsent } from '../../service/errors.ts';
import { useLive } from './use-live.ts';

/**
 * Searches once for these checkpoints, and remembers their origins. The query's data is only the time at which the
 * search ended.
 */
function originsQuery(referred: readonly CheckpointUser[]): LiveQuery<number> {
  return {
    key: ['checkpoints', 'origins', ...new Set(referred.flatMap(({ checkpoint_id: id }) => id ?? []))],
    activity: () => 'settled',
    read: async context => {
      const search = new OriginSearch();
      await inParallel(referred, async each => {
        try {
          await search.find(each, context);
        } catch (error) {
          if (context.signal.aborted || !isAbsent(error)) throw error;
        }
        context.progressed?.();
      });
      return Date.now();
    },
  };
}

/** Searches for the checkpoints' origins; redraws the caller once that is done. */
export function useOrigins(referred: readonly CheckpointUser[], attention: Attention) {
  const query = useMemo(() => originsQuery(referred), [referred]);
  const isAny = referred.some(({ checkpoint_id: id }) => id != null);
  const { data, error, refresh } = useLive(query, isAny ? attention : 'hidden');
  return { searchedAt: data, isDone: data !== undefined || error !== undefined, refresh };
}
