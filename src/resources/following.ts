/**
 * Which watched resources are read one by one, and when, so that many of them do not make many requests: a few at the
 * pace of the screen, more of them in turn, each as often as the others.
 */
import { hasEnded } from '../contract/status.ts';
import type { PollIntervals } from '../queries/polling.ts';
import type { KnownResource } from '../queries/statuses/store.ts';
import { listQuery } from '../queries/use-list.ts';
import type { Workbench } from '../queries/workbench.tsx';
import { resources } from './catalogue.ts';
import { isDue, type Outcome, readOf } from './watching.ts';

export type Named = Pick<KnownResource, 'kind' | 'id'>;

/** How many resources of a kind are read one by one before their list is read with the pages that hold them. */
const mostSingle = 10;
/** How many resources that were never read are read in a round. */
const mostUnread = 10;

/**
 * The time between two reads of one of `count` resources, as a share of the interval of what has the focus: 40 of them
 * take 40 requests a minute, which leaves 20 of the 60 that one host is to get for lists and curves.
 */
const turnShare = 0.75;

/** Milliseconds between two reads of one of `count` resources. */
export function turnMs(count: number, roundMs: number, { focusedMs }: PollIntervals): number {
  return Math.max(roundMs, count * turnShare * focusedMs);
}

export interface Turn {
  /** When a resource was last read as its turn demands, in epoch milliseconds; 0 for never. */
  readonly readAt: (ref: Named) => number;
  /** Whether it will hardly change any more. */
  readonly isOver?: (ref: Named) => boolean;
  /** Milliseconds between two rounds. */
  readonly roundMs: number;
  readonly poll: PollIntervals;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * The resources to read one by one in this round: those whose turn it is, the one read longest ago first. A few are read
 * in each round; of many, each as often as the others, and no more at once than follow each other evenly.
 */
export function inTurn<Ref extends Named>(refs: readonly Ref[], { readAt, isOver, roundMs, poll, now }: Turn): Ref[] {
  const every = turnMs(refs.length, roundMs, poll);
  const unread = refs.filter(ref => readAt(ref) === 0);
  const read = refs.filter(ref => readAt(ref) !== 0);
  // A slightly early round counts as on time.
  const due = read.filter(
    ref => readAt(ref) + (isOver?.(ref) ? Math.max(every, poll.visibleMs) : every) <= now + roundMs / 2,
  );
  const inOrder = due.toSorted((left, right) => readAt(left) - readAt(right));
  const share = every <= roundMs ? inOrder.length : Math.ceil((refs.length * roundMs) / every);
  return [...unread.slice(0, mostUnread), ...inOrder.slice(0, share)];
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
      const isMany = isManyOf(kind, refs);
      const isUnfinished = (row: object): boolean => !hasEnded(source.observes?.(row).status);
      reader.see(background, isMany ? reader.data.rows.filter(isUnfinished) : undefined);
      const list = readOf(listQuery(workbench, source));
      if (isMany && isDue(workbench, list, 'visible')) await outcome.of(list.fetch(workbench));
    }),
  );
}

/** Whether so many resources of a kind are followed that their list is read for them. */
export const isManyOf = (kind: string | undefined, refs: readonly Named[]): boolean =>
  refs.filter(ref => ref.kind === kind).length > mostSingle;
