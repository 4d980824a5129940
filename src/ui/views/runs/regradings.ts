/** This session's regradings, which a form starts and views show. */
import { randomUUID } from 'node:crypto';
import { useSyncExternalStore } from 'react';
import { neverChanges } from '../../../base/listeners.ts';
import { perObject } from '../../../base/memo.ts';
import { type Regrading, regradableLabel } from '../../../rollouts/regrading.ts';
import { clean } from '../../../text/sanitise.ts';
import type { Workbench } from '../../../workbench/workbench.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import { regradeCommands } from '../commands.ts';

/** If there are more, the oldest finished ones are forgotten. */
const maxKept = 20;

const regradingsOf = perObject((_: Workbench) => new Map<string, Regrading>());

/** All that are kept, the oldest first. */
export const keptRegradings = (workbench: Workbench): readonly Regrading[] => [...regradingsOf(workbench).values()];

/** The regrading with this id and its state; neither if it is no longer kept. */
export function useRegrading(id: string | undefined) {
  const regrading = regradingsOf(useWorkbench()).get(id ?? '');
  const state = useSyncExternalStore(regrading?.subscribe ?? neverChanges, () => regrading?.state());
  const stop: Binding = {
    command: regradeCommands.stop,
    enabled: regrading?.isRunning ?? false,
    run: () => regrading?.stop(),
  };
  return { regrading, state, stop };
}

/** Starts a regrading, and returns its id. It continues when the user leaves its view. */
export function startRegrading(workbench: Workbench, regrading: Regrading): string {
  const id = randomUUID();
  const all = regradingsOf(workbench);
  const earlier = keptRegradings(workbench);
  all.set(id, regrading);
  for (const [oldest, { isRunning }] of all) {
    if (all.size <= maxKept) break;
    if (!isRunning) all.delete(oldest);
  }
  workbench.unfinished.set(id, {
    words: clean`The regrading of ${regradableLabel(regrading.of)}. Its grades will not be kept`,
    stop: regrading.stop,
  });
  const connect = async (signal: AbortSignal) => workbench.contextFor((await workbench.service()).background, signal);
  void regrading.run(connect, earlier).finally(() => workbench.unfinished.delete(id));
  return id;
}
