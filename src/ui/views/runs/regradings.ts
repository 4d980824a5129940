/** This session's regradings, which a form starts and a view shows. */
import { randomUUID } from 'node:crypto';
import { perObject } from '../../../base/memo.ts';
import type { Regrading } from '../../../rollouts/regrading.ts';
import { clean } from '../../../text/sanitise.ts';
import type { Workbench } from '../../../workbench/workbench.ts';

/** If there are more, the oldest finished ones are forgotten. */
const maxKept = 20;

const regradingsOf = perObject((_: Workbench) => new Map<string, Regrading>());

export const regradingWith = (workbench: Workbench, id: string): Regrading | undefined =>
  regradingsOf(workbench).get(id);

/** Starts a regrading, and returns its id. It continues when the user leaves its view. */
export function startRegrading(workbench: Workbench, regrading: Regrading): string {
  const id = randomUUID();
  const all = regradingsOf(workbench);
  all.set(id, regrading);
  for (const [oldest, { isRunning }] of all) {
    if (all.size <= maxKept) break;
    if (!isRunning) all.delete(oldest);
  }
  const { label = () => regrading.owner.id } = regrading.owner.resource;
  workbench.unfinished.set(id, {
    words: clean`The regrading of ${label(regrading.owner.row) ?? regrading.owner.id}. Its grades will not be kept`,
    stop: regrading.stop,
  });
  const connect = async (signal: AbortSignal) => workbench.contextFor((await workbench.service()).background, signal);
  void regrading.run(connect).finally(() => workbench.unfinished.delete(id));
  return id;
}
