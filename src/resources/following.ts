/**
 * Which watched resources are read one by one, so that many of them do not make many requests: those that are pinned and
 * the newest few. The others are followed by their list, and what no list reads is read in turn.
 */
import { hasEnded, isOver } from '../contract/status.ts';
import type { KnownResource } from '../queries/statuses/store.ts';
import { listQuery } from '../queries/use-list.ts';
import type { Workbench } from '../queries/workbench.tsx';
import { resources } from './catalogue.ts';
import { isDue, type Outcome, readOf } from './watching.ts';

export type Named = Pick<KnownResource, 'kind' | 'id'>;

/** How many are read one by one, and how many of the others in a round. */
const mostSingle = 10;
/** A slightly early round counts as on time. */
const dueShare = 0.7;

/**
 * The resources to read one by one in this round: the first few, and of the others those that were read longest ago.
 * What has an end time and a status that is not known is none of the first.
 *
 * @param refs without a pin, the most important first
 */
export function inTurn<Ref extends Named>(
  { statuses, poll }: Pick<Workbench, 'statuses' | 'poll'>,
  refs: readonly Ref[],
  now: number,
): Ref[] {
  const readAt = (ref: Named): number => statuses.lastRead(ref)?.at ?? 0;
  const mayChange = refs.filter(ref => {
    const { status, endTime } = statuses.get(ref) ?? {};
    return !isOver(status, endTime, now);
  });
  const first = mayChange.slice(0, mostSingle);
  const late = refs.filter(ref => !first.includes(ref)).filter(ref => now - readAt(ref) >= poll.visibleMs * dueShare);
  const inOrder = late.toSorted((left, right) => readAt(left) - readAt(right));
  return [...first, ...inOrder.slice(0, mostSingle)];
}

/** Identifies the background among the viewers of a list. */
const background = {};

/**
 * Reads the lists of the kinds of which many resources are followed, at list intervals, with the pages that hold them.
 * A list whose pages take many requests is left to its views.
 */
export async function readListsOf(workbench: Workbench, refs: readonly Named[], outcome: Outcome): Promise<void> {
  await Promise.all(
    resources.map(async ({ kind, watch }) => {
      const source = watch?.running;
      if (!source || source.costly) return;
      const reader = workbench.lists.of(source);
      const isMany = refs.filter(ref => ref.kind === kind).length > mostSingle;
      const isUnfinished = (row: object): boolean => !hasEnded(source.observes?.(row).status);
      reader.see(background, isMany ? reader.data.rows.filter(isUnfinished) : undefined);
      const list = readOf(listQuery(workbench, source));
      if (isMany && isDue(workbench, list, 'visible')) await outcome.of(list.fetch(workbench));
    }),
  );
}
