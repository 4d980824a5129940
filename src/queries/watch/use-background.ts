/** What goes on whatever is on screen: what runs is watched, and what shows an end is read once more when it comes. */
import type { Query, QueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { deploymentKeys } from '../deployments.ts';
import { evaluationKeys } from '../evaluations.ts';
import type { ThingKind } from '../remembered/store.ts';
import type { Known } from '../statuses/store.ts';
import { trainingKeys } from '../training.ts';
import { trajectoryKeys } from '../trajectories.ts';
import { useLive } from '../use-live.ts';
import { useWorkbench } from '../workbench.tsx';
import { backgroundWatch } from './watch.ts';

type Keys = readonly (readonly unknown[])[];

/** Under which keys something of a resource is shown that its end changes. */
const keysByKind: Partial<Readonly<Record<ThingKind, (id: string) => Keys>>> = {
  run: id => [
    evaluationKeys.everyRun,
    evaluationKeys.one(id),
    evaluationKeys.progress(id),
    evaluationKeys.results(id),
    trajectoryKeys.list({ eval_run_id: id }),
  ],
  training: id => [
    trainingKeys.everyRun,
    trainingKeys.one(id),
    trainingKeys.progress(id),
    trainingKeys.trainerRewards(id),
    trainingKeys.heldOutRewards(id),
    trainingKeys.checkpoints(id),
    trajectoryKeys.list({ training_run_id: id }),
  ],
  deployment: id => [deploymentKeys.list, deploymentKeys.one(id), deploymentKeys.summary],
};

/** Reads again what is on screen and was read before the end. What is not on screen is read when it is shown. */
function refreshAfterEnd(cache: QueryClient, { kind, id, endedAt = 0 }: Known): void {
  for (const queryKey of keysByKind[kind]?.(id) ?? []) {
    const isOld = (query: Query): boolean => query.state.dataUpdatedAt < endedAt;
    void cache.invalidateQueries({ queryKey, type: 'active', predicate: isOld });
  }
}

/** How long after the start the store of what was seen is tidied up: long after the first frame. */
const pruneAfterMs = 10_000;

/** Mounted once, by the frame. */
export function useBackground(): void {
  const workbench = useWorkbench();
  const { cache, statuses } = workbench;
  useLive(
    useMemo(() => backgroundWatch(workbench), [workbench]),
    'visible',
  );
  useEffect(
    () =>
      statuses.onTransitions(transitions => {
        for (const { thing, ended } of transitions) if (ended && !thing.gone) refreshAfterEnd(cache, thing);
      }),
    [cache, statuses],
  );
  useEffect(() => {
    const timer = setTimeout(() => workbench.remembered.prune(), pruneAfterMs).unref();
    return () => clearTimeout(timer);
  }, [workbench]);
}
