/** The reads each resource needs: its status, its record, its curves and the certainty of its mean. */
import { hashKey } from '@tanstack/react-query';
import { maxOf } from '../base/many.ts';
import { hasEnded, isOver, isRunning, statusMeaning } from '../contract/status.ts';
import { overdueIntervals } from '../queries/freshness.ts';
import { isFinalCurve, isRoundDue } from '../queries/held-out.ts';
import { type AnyQuery, cachedQuery, dueAt } from '../queries/live-query.ts';
import { paceOf } from '../queries/pace.ts';
import type { Attention } from '../queries/polling.ts';
import { isOwnMean, isSettled, lateRewardsDue } from '../queries/run-mean.ts';
import { finishedSteps, type KnownResource, keyOf, knownResource } from '../queries/statuses/known-resource.ts';
import { endInstant } from '../text/time.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { lacksFailed } from './alarms.ts';
import { resourceOfKind } from './catalogue.ts';
import { lacksEnds, rolloutEndsQuery } from './rollout-ends.ts';
import { type Round, type Turn, turnMs, windowMs } from './rotation-budget.ts';
import { offeredQueries, type RewardRead } from './watch-reads.ts';

/** The inputs of a round. */
export interface Purpose extends Round {
  readonly attention: Attention;
  /** Whether Watch or the inbox is on screen. */
  readonly watched: boolean;
  /** Whether a list with curves is on screen. */
  readonly isListed: boolean;
  /** The list rows that are on screen, by `keyOf`. */
  readonly shown: ReadonlySet<string>;
  readonly known: readonly KnownResource[];
  /** Reads for ended resources in lists: curves that may be incomplete, and progress that is unknown. */
  readonly unmeasured: readonly (Turn & { readonly known: KnownResource })[];
  /** Reads for the ended resources on screen whose certainty or difference is unknown. */
  readonly uncertain: readonly RewardRead[];
  /** The number of running resources. */
  readonly running: number;
  /** The kinds with so many resources that their list is read instead of each resource. */
  readonly listed: ReadonlySet<string>;
  readonly lastSent: LastSent;
}

/** When a round last sent each query, by hash; epoch milliseconds. Needed because the cache drops unused entries. */
export type LastSent = ReadonlyMap<string, number>;

/** When one of the queries last succeeded or failed; 0 if none has yet. */
export function lastAttempt(workbench: Workbench, queries: readonly Pick<AnyQuery, 'key'>[]): number {
  const states = queries.map(({ key }) => cachedQuery(workbench, key)?.state);
  return maxOf(
    states.flatMap(state => (state ? [state.dataUpdatedAt, state.errorUpdatedAt] : [])),
    0,
  );
}

const lastEver = (workbench: Workbench, query: AnyQuery, lastSent: LastSent): number =>
  Math.max(lastAttempt(workbench, [query]), lastSent.get(hashKey(query.key)) ?? 0);

/** Whether an earlier session recorded both its end and the time of the end. */
const isRecalled = ({ openedAt }: Workbench, { endedAt, endTime }: KnownResource): boolean =>
  endedAt !== undefined && endedAt < openedAt && endTime !== undefined;

export const isInFlight = (workbench: Workbench, { key }: Pick<AnyQuery, 'key'>): boolean =>
  cachedQuery(workbench, key)?.state.fetchStatus === 'fetching';

/**
 * Whether an ended resource must be read once more: a response that arrives just after the end may belong to a request
 * sent before it, and still report a running resource.
 */
function lacksEnd(workbench: Workbench, { endedAt = 0 }: KnownResource, query: AnyQuery, lastSent: LastSent): boolean {
  const data = workbench.cache.getQueryData(query.key);
  const last = lastEver(workbench, query, lastSent);
  return last === 0 || last < endedAt || (data !== undefined && isRunning(query.observes?.(data as never).status));
}

/** Whether a read fetches the last data of a resource that has just ended. Older ends must not delay other reads. */
export const isLastRead = (
  { dueAt, known: { endedAt = 0 } }: Turn & { readonly known: KnownResource },
  { now, poll }: Pick<Round, 'now' | 'poll'>,
): boolean => dueAt === 0 && endedAt > now - windowMs(poll);

/**
 * When a resource was last read, and its poll interval. If its progress matters, responses without progress (e.g.
 * lists) do not count.
 *
 * @param hasProgress whether any response reports progress
 */
function lastRead({ cache, statuses, poll }: Workbench, known: KnownResource, purpose: Purpose, hasProgress: boolean) {
  const { countsDone, recordsProgress } = resourceOfKind(known.kind)?.watch ?? {};
  const { at, by } = statuses.lastRead(known) ?? {};
  const needsDone = hasProgress && (purpose.watched || purpose.shown.has(keyOf(known)) ? countsDone : recordsProgress);
  const readAt = needsDone ? statuses.doneReadAt(known) : by === undefined ? undefined : at;
  const isPolled = by !== undefined && (purpose.listed.has(known.kind) || cache.getQueryCache().get(by)?.isActive());
  const isSettled = isOver(known, purpose.now);
  const everyMs = turnMs(purpose.running, isSettled ? poll.visibleMs : purpose.roundMs, poll, purpose.watched);
  const overdueMs = overdueIntervals * Math.max(everyMs, poll.visibleMs);
  return { readAt: readAt ?? 0, everyMs: isPolled && !needsDone ? overdueMs : everyMs };
}

/** The status read for a resource; undefined if none is needed. */
export function statusTurn(workbench: Workbench, known: KnownResource, purpose: Purpose): Turn | undefined {
  const { status, countsDone } = resourceOfKind(known.kind)?.watch ?? {};
  const all = status?.(known.id) ?? [];
  const queries = offeredQueries(workbench, all);
  const [query] = queries;
  if (!query || isInFlight(workbench, query)) return undefined;
  const attemptedAt = lastAttempt(workbench, queries);
  if (hasEnded(known.status)) {
    // A list may have reported the end without the progress.
    const lacksCounts = purpose.watched && countsDone && (known.done === undefined || lacksFailed(known));
    const isWanted = lacksCounts || !isRecalled(workbench, known);
    const isDue = isWanted && lacksEnd(workbench, known, query, purpose.lastSent);
    return isDue ? { queries, dueAt: 0 } : undefined;
  }
  if (purpose.byHand) return { queries, dueAt: attemptedAt };
  const due = dueAt(workbench, query, purpose.attention);
  if (due === undefined) return undefined;
  const hasProgress = known.done !== undefined || query === all[0];
  const { readAt, everyMs } = lastRead(workbench, known, purpose, hasProgress);
  return { queries, dueAt: Math.max(due, readAt && readAt + everyMs, attemptedAt && attemptedAt + everyMs) };
}

/**
 * The curves to draw on a line: the held-out curve, and the much longer trainer curve only if there is no held-out
 * curve or an alarm needs it.
 */
function curvesOf(workbench: Workbench, known: KnownResource): readonly AnyQuery[] {
  const [first, ...others] = offeredQueries(workbench, resourceOfKind(known.kind)?.watch?.measures?.(known.id));
  if (!first) return [];
  const lacks = !known.measured && (known.done ?? 0) > 0 && workbench.cache.getQueryData(first.key) !== undefined;
  const { trainer } = workbench.alarmsFor(known.parent);
  return [first, ...(lacks || trainer ? others : [])];
}

/** Whether an alarm needs a resource's curves, even while it is off screen. */
function feedsAlarm(workbench: Workbench, { status, parent }: KnownResource): boolean {
  const { belowBest, heldOut, trainer } = workbench.alarmsFor(parent);
  return isRunning(status) && (belowBest !== undefined || heldOut !== undefined || trainer !== undefined);
}

/** Whether the curve has probably grown since the last request, or a round may be complete. */
function hasGrown({ statuses }: Workbench, known: KnownResource, attemptedAt: number, now: number): boolean {
  if (lacksRound(known)) return true;
  return (statuses.movedAt(known) ?? now) > attemptedAt && isRoundDue(known) === undefined;
}

/** Whether the curve lacks a round or the end of one, which may show a collapse. */
const lacksRound = (known: KnownResource): boolean => Boolean(known.measured?.isUnfinished || isRoundDue(known));

/** A run with steps at least this often needs no step times from the service; in milliseconds. */
const stillMs = 90_000;

/** Whether only the service knows when the last step happened, because no step has arrived for two rounds. */
function lacksTimes({ remembered }: Workbench, known: KnownResource): boolean {
  const { id, status, done = 0, checkpoints } = known;
  if (!isRunning(status) || done === 0 || checkpoints !== undefined) return false;
  const points = remembered.progress.of(id);
  return !paceOf(points).isSeen && Date.now() - (points.at(-1)?.at ?? Date.now()) > stillMs;
}

/** Whether an alarm needs the number of failed rollouts. */
const countsFailed = (workbench: Workbench, known: KnownResource): boolean =>
  lacksEnds(known) &&
  !isRecalled(workbench, known) &&
  known.done !== undefined &&
  workbench.alarmsFor(known.parent).failedShare !== undefined;

/** Whether the end is known but its time, which the record contains, is not. */
const lacksEndTime = ({ endedAt, endTime, gone }: KnownResource): boolean =>
  endedAt !== undefined && endTime === undefined && !gone;

/** A curve is read only every fourth turn, because curves are large, unless it lacks a round. */
const curveTurns = 4;

/**
 * Whether an ended resource's held-out curve is final, see `isFinalCurve`.
 *
 * @param readAt when it was last read, in epoch milliseconds
 */
export function hasFinalCurve({ openedAt }: Workbench, known: KnownResource, readAt: number): boolean {
  const { measured, endedAt } = known;
  return isFinalCurve(measured, {
    done: finishedSteps(known),
    endedAt: endInstant(known) ?? endedAt ?? openedAt,
    readAt,
  });
}

/** When an ended resource's curve is due, in epoch milliseconds; undefined if the curve is final. */
function endedCurveDue(workbench: Workbench, known: KnownResource, curve: AnyQuery, lastSent: LastSent) {
  const last = lastEver(workbench, curve, lastSent);
  if (hasFinalCurve(workbench, known, last)) return undefined;
  if (last === 0 || last < (known.endedAt ?? 0)) return 0;
  const due = dueAt(workbench, curve, 'visible');
  return due === undefined ? undefined : Math.max(due, last + curveTurns * workbench.poll.visibleMs);
}

/** The other reads for a line of Watch: the record, if no response has contained it, and the growing curves. */
export function detailTurns(workbench: Workbench, known: KnownResource, { now, running, ...purpose }: Purpose): Turn[] {
  const { poll } = workbench;
  const isShown = purpose.watched || purpose.isListed || feedsAlarm(workbench, known);
  if (!isShown && !lacksEndTime(known)) return [];
  const { details, times } = resourceOfKind(known.kind)?.watch ?? {};
  const curves = isShown ? curvesOf(workbench, known) : [];
  const records = isRecalled(workbench, known) ? [] : offeredQueries(workbench, details?.(known.id));
  const saved = times && lacksTimes(workbench, known) ? offeredQueries(workbench, [times(known.id)]) : [];
  const ends: readonly AnyQuery[] =
    isShown && countsFailed(workbench, known) ? offeredQueries(workbench, [rolloutEndsQuery(known)]) : [];
  return [...records, ...curves, ...saved, ...ends].flatMap(query => {
    const attemptedAt = lastAttempt(workbench, [query]);
    const turn = { queries: [query], dueAt: 0, isDetail: true };
    if (isInFlight(workbench, query)) return [];
    if (ends.includes(query)) return [{ ...turn, dueAt: attemptedAt && attemptedAt + curveTurns * poll.visibleMs }];
    // The inbox and the notice need the end's time and reason.
    if (hasEnded(known.status)) {
      const isDetail = curves.includes(query);
      if (lacksEnd(workbench, known, query, purpose.lastSent)) return [{ ...turn, isDetail }];
      const due = query === curves[0] ? endedCurveDue(workbench, known, query, purpose.lastSent) : undefined;
      return due === undefined ? [] : [{ ...turn, dueAt: due }];
    }
    if (attemptedAt === 0) return records.includes(query) && known.startedAt !== undefined ? [] : [turn];
    if (!curves.includes(query) || !hasGrown(workbench, known, attemptedAt, now)) return [];
    const due = dueAt(workbench, query, 'focused');
    const everyMs = (lacksRound(known) ? 1 : curveTurns) * turnMs(running, poll.focusedMs, poll);
    return due === undefined ? [] : [{ ...turn, dueAt: Math.max(due, attemptedAt + everyMs) }];
  });
}

/** Whether to follow a resource while Watch is off screen: until its end, if the service reports its status. */
export function mayEnd({ statuses }: Workbench, known: KnownResource): boolean {
  if (hasEnded(known.status)) return lacksEndTime(known);
  return known.status !== undefined || known.isNew || statuses.lastRead(known)?.by === undefined;
}

/** The read of an ended resource's curve, until the curve is final. */
export function curveTurn(workbench: Workbench, known: KnownResource, lastSent: LastSent): Turn | undefined {
  if (known.gone || !hasEnded(known.status)) return undefined;
  const [curve] = curvesOf(workbench, known);
  if (!curve || isInFlight(workbench, curve)) return undefined;
  const due = endedCurveDue(workbench, known, curve, lastSent);
  return due === undefined ? undefined : { queries: [curve], dueAt: due, isDetail: true };
}

/** For lists, the read of the progress of a resource that ended early. */
export function stepsTurn(workbench: Workbench, known: KnownResource, lastSent: LastSent): Turn | undefined {
  const { status, recordsProgress } = resourceOfKind(known.kind)?.watch ?? {};
  const isEarly = hasEnded(known.status) && statusMeaning(known.status ?? '') !== 'success';
  if (!recordsProgress || known.gone || !isEarly || known.done !== undefined) return undefined;
  const [query] = offeredQueries(workbench, status?.(known.id));
  const isWanted = query && !isInFlight(workbench, query) && lacksEnd(workbench, known, query, lastSent);
  return isWanted ? { queries: [query], dueAt: 0, isDetail: true } : undefined;
}

/** The read of a running resource's rewards so far, if the service does not report their mean. */
function soFarRead(workbench: Workbench, known: KnownResource, lastSent: LastSent, running: number): RewardRead[] {
  const { statuses, poll } = workbench;
  const { kind, certainty, mean, done } = known;
  const query = resourceOfKind(kind)?.watch?.soFar?.(known);
  if (!query || !done || isInFlight(workbench, query) || (mean !== undefined && !isOwnMean(certainty, known)))
    return [];
  const sentAt = lastEver(workbench, query, lastSent);
  if (sentAt > 0 && (statuses.movedAt(known) ?? 0) <= sentAt) return [];
  const due = sentAt && sentAt + curveTurns * turnMs(running, poll.focusedMs, poll);
  return due <= Date.now() ? [{ known, query, dueAt: due }] : [];
}

/**
 * Reads rewards for resources on screen: for running ones if the service does not report their mean so far, and for
 * ended ones to find the certainty of the mean and, in lists, the difference from the baseline. Each read is sent once
 * per mean; the read for the certainty is repeated while rewards may still arrive late.
 */
export function uncertainOn(
  workbench: Workbench,
  lines: readonly KnownResource[],
  lastSent: LastSent,
  running: number,
): RewardRead[] {
  const { statuses, lists, compare } = workbench;
  const rows = lists.shown().map(row => statuses.get(row) ?? knownResource({ ...row, label: row.id }, [row]));
  const shown = new Map([...lines, ...rows].map(known => [keyOf(known), known]));
  const listed = new Set(rows.map(keyOf));
  const isUnsent = ({ query }: RewardRead): boolean =>
    lastEver(workbench, query, lastSent) === 0 && !isInFlight(workbench, query);
  const reads = [...shown.values()].flatMap(known => {
    const { kind, status, mean, certainty, gone } = known;
    if (!gone && isRunning(status)) return soFarRead(workbench, known, lastSent, running);
    if (gone || !hasEnded(status) || (mean === undefined && statusMeaning(status ?? '') !== 'success')) return [];
    const { watch } = resourceOfKind(kind) ?? {};
    const differences = listed.has(keyOf(known)) ? (watch?.difference?.(known, workbench) ?? []) : [];
    const unsent = differences.filter(isUnsent);
    if (unsent.length > 0 || differences.some(({ query }) => isInFlight(workbench, query))) return unsent;
    const query = isSettled(certainty, known, compare.rewardRange) ? undefined : watch?.certainty?.(known);
    if (!query || isInFlight(workbench, query)) return [];
    const sentAt = lastEver(workbench, query, lastSent);
    const due = sentAt === 0 ? 0 : lateRewardsDue(certainty?.readAfterEnd, sentAt);
    return due !== undefined && due <= Date.now() ? [{ known, query, dueAt: due }] : [];
  });
  return [...new Map(reads.map(read => [hashKey(read.query.key), read])).values()];
}
