/** The rotation's request budget, and the order of the due reads. */
import type { AnyQuery } from '../queries/live-query.ts';
import type { PollIntervals } from '../queries/polling.ts';

/** The request budget: `maxInWindow` requests per `windowIntervals` focused poll intervals, one minute by default. */
const windowIntervals = 30;
const maxInWindow = 60;
/** The budget while there is a resource that has never been read. */
const firstInWindow = 120;
/** The part of `firstInWindow` reserved for resources that have just ended. */
const endsInWindow = 20;
/**
 * The requests reserved for the list and the preview on screen, which poll independently, and for lists across
 * benchmarks.
 */
export const elsewhereInWindow = 10;
/** Maximum number of first reads per round. */
const firstAtOnce = 10;
/**
 * The poll interval per resource, as a share of the focused interval: 40 resources take 41 requests a minute. This
 * leaves 19 of the budgeted 60 for lists and curves.
 */
const turnShare = 0.74;
/**
 * The same share for Watch, where no list takes requests: a minute is enough for all resources, even if each is read a
 * round late.
 */
const watchedTurnShare = 0.705;
/**
 * A read that would fall due shortly after a round joins it, because it would otherwise be almost a whole round late.
 */
const earlyShare = 0.5;

/** Whether a read belongs to this round. @param dueAt epoch milliseconds */
export const isDueIn = ({ now, roundMs }: Pick<Round, 'now' | 'roundMs'>, dueAt: number): boolean =>
  dueAt <= now + earlyShare * roundMs;

export const windowMs = ({ focusedMs }: PollIntervals): number => windowIntervals * focusedMs;

/** Milliseconds between two reads of the same resource, out of `count`. */
export function turnMs(count: number, roundMs: number, { focusedMs }: PollIntervals, isWatched = false): number {
  return Math.max(roundMs, count * (isWatched ? watchedTurnShare : turnShare) * focusedMs);
}

/** A read that a round may make. */
export interface Turn {
  /** Each query is a fallback for the previous one. */
  readonly queries: readonly AnyQuery[];
  /** Epoch milliseconds; 0 before the first read. */
  readonly dueAt: number;
  /** Whether it reads details, which come after all statuses. */
  readonly isDetail?: boolean;
  /** Whether it is the last read of a resource that has just ended, which precedes all others. */
  readonly isLast?: boolean;
  /** The number of requests; 1 by default. */
  readonly requests?: number;
}

export interface Round {
  /** Epoch milliseconds. */
  readonly now: number;
  /** The interval between rounds, in milliseconds. */
  readonly roundMs: number;
  readonly poll: PollIntervals;
  /** Requests in the current window, not counting first reads. */
  readonly spent: number;
  /** First reads in the current window. */
  readonly spentFirst?: number;
  /** Requests per window that the view on screen sends on its own; details leave room for them. */
  readonly elsewhere?: number;
  /** Whether this is a manual refresh while polling is paused. */
  readonly byHand?: boolean;
}

/**
 * Chooses this round's reads within the budget: last reads first, then the longest overdue. Spreads repeated reads
 * evenly over the rounds.
 */
export function inTurn<Each extends Turn>(turns: readonly Each[], round: Round): Each[] {
  const { roundMs, poll, spent, spentFirst = 0, elsewhere = 0, byHand } = round;
  const isUnread = ({ dueAt }: Turn): boolean => dueAt === 0;
  const due = turns
    .filter(turn => isDueIn(round, turn.dueAt))
    .toSorted(
      (left, right) =>
        Number(!!right.isLast) - Number(!!left.isLast) ||
        Number(!!left.isDetail) - Number(!!right.isDetail) ||
        left.dueAt - right.dueAt,
    );
  const evenly = byHand ? maxInWindow : Math.max(1, Math.floor((roundMs / windowMs(poll)) * maxInWindow));
  const left = Math.max(0, maxInWindow - spent);
  const again = due.filter(turn => !isUnread(turn)).slice(0, Math.min(evenly, left));
  const room = Math.max(0, left - elsewhere);
  const unspent = firstInWindow - spent - spentFirst;
  const last = due.filter(({ isLast }) => isLast).length;
  const first = due.filter(isUnread).slice(0, Math.max(0, unspent - endsInWindow, Math.min(last, unspent)));
  const chosen = new Set([...again.filter(({ isDetail }, index) => !isDetail || index < room), ...first]);
  return due.filter(turn => chosen.has(turn)).slice(0, Math.max(evenly, firstAtOnce));
}
