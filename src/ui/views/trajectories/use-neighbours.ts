/** Prefetches the trajectories next to the one on screen. */
import { useEffect } from 'react';
import { cachedQuery, optionsOf } from '../../../queries/live-query.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { previewKeptMs } from '../../data/use-preview-data.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useSiblings } from '../../navigation/memory.tsx';

/** A trajectory that stays on screen for this long is being read; in milliseconds. */
const restMs = 120;
/** If a trajectory has more characters, its neighbours are probably too large to prefetch. */
const maxTextLength = 8_000_000;

interface NeighbourOptions {
  /** Which of the trajectory and its twin is in the list. */
  readonly listedId: string;
  /** The trajectory for the same task in another run. */
  readonly twin: string | undefined;
  /** Whether to prefetch the neighbours' twins, too. */
  readonly withTwins?: true;
}

/**
 * Marks a trajectory as read and prefetches its neighbours once it stays on screen.
 * @param length how many characters its text has; undefined until it has been read
 */
export function useNeighbours(id: string, length: number | undefined, options: NeighbourOptions): void {
  const { listedId, twin, withTwins = false } = options;
  const workbench = useWorkbench();
  const siblings = useSiblings();
  const isRead = length !== undefined;
  const isSmall = isRead && length <= maxTextLength;
  useEffect(() => {
    if (isRead) siblings.read.add(id);
  }, [siblings, id, isRead]);
  useEffect(() => {
    if (!isSmall) return undefined;
    let isGone = false;
    const fetch = async (next: string): Promise<void> => {
      if (isGone || workbench.paused) return;
      const query = trajectoryQuery(next);
      if (cachedQuery(workbench, query.key)?.state.data !== undefined) return;
      await workbench.cache.prefetchQuery({ ...optionsOf(workbench, query), gcTime: previewKeptMs });
    };
    const fetchNext = async (by: 1 | -1): Promise<void> => {
      const { place } = siblings.step('trajectories', listedId, by);
      if (place?.view !== 'record') return;
      await fetch(place.id);
      if (withTwins && place.twin?.id !== undefined) await fetch(place.twin.id);
    };
    const fetchBoth = async (): Promise<void> => {
      if (twin !== undefined) await fetch(twin);
      const isLast = siblings.step('trajectories', listedId, 1).place === undefined;
      if (isLast && !workbench.paused) await siblings.readMore('trajectories');
      await fetchNext(1);
      await fetchNext(-1);
    };
    const timer = setTimeout(() => void fetchBoth(), restMs);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [workbench, siblings, listedId, isSmall, twin, withTwins]);
}
