/**
 * Polls what no view polls: lists with a section count or with running rows, and each running or pinned resource. The
 * frame polls in rounds, more often while Watch is on screen. A round reads only resources that are due, in rotation,
 * so the request rate stays bounded for any number of resources.
 */

import { hashKey } from '@tanstack/react-query';
import { inParallel } from '../base/in-parallel.ts';
import { hasEnded, isOver, isRunning } from '../contract/status.ts';
import { benchmarksAPage } from '../queries/every-benchmark.ts';
import { overdueIntervals } from '../queries/freshness.ts';
import { listQuery } from '../queries/lists/list-query.ts';
import { type ListSource, wholePage } from '../queries/lists/list-source.ts';
import { type AnyQuery, cachedQuery, dueAt, fetchOnce, type LiveQuery } from '../queries/live-query.ts';
import type { Attention, PollIntervals } from '../queries/polling.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { isSettled } from '../queries/run-mean.ts';
import { type KnownResource, keyOf, knownResource } from '../queries/statuses/store.ts';
import { isGone, isLastingRefusal, isNotOffered, ServerError } from '../service/errors.ts';
import { type InboxEvent, nameOf } from '../workbench/inbox.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { benchmarks } from './benchmarks.ts';
import { resourceOfKind } from './catalogue.ts';
import { type CountedList, countedLists, countIntervals, intervalsOf, isOpening, mostRows } from './section-counts.ts';
import { noteAlarms, type WatchedResource, watchedKnown } from './watch.ts';
import { offered, type RewardRead } from './watch-reads.ts';

const followingKey = ['following'];
const watchKey = ['watch'];
const inboxKey = ['inbox'];
const progressKey = ['progress'];

/** The request budget: `mostInWindow` requests per `windowIntervals` focused poll intervals, by default a minute. */
const windowIntervals = 30;
const mostInWindow = 60;
/** The budget while some resource has never been read, and the maximum number of first reads per round. */
const firstInWindow = 120;
const firstAtOnce = 10;
/**
 * Poll interval per resource, as a share of the focused interval: 40 resources take 48 requests a minute, which leaves
 * 12 of the budget of 60 for lists and curves.
 */
const turnShare = 0.63;
/** Curves are large, so they are read only every so many turns. */
const curveTurns = 4;
/** A read due shortly after a round joins it; otherwise it would be a whole round late. */
const earlyShare = 0.3;

const windowMs = ({ focusedMs }: PollIntervals): number => windowIntervals * focusedMs;

/** Milliseconds between two reads of one of `count` resources. */
export function turnMs(count: number, roundMs: number, { focusedMs }: PollIntervals): number {
  return Math.max(roundMs, count * turnShare * focusedMs);
}

/** A read that a round may make. */
export interface Turn {
  /** Each query is a fallback for the previous one. */
  readonly queries: readonly AnyQuery[];
  /** Epoch milliseconds; 0 if it was never read. */
  readonly dueAt: number;
  /** Details come after all statuses. */
  readonly isDetail?: boolean;
  /** How many requests it takes; 1 by default. */
  readonly requests?: number;
}

export interface Round {
  /** Epoch milliseconds. */
  readonly now: number;
  /** The interval between rounds in milliseconds. */
  readonly roundMs: number;
  readonly poll: PollIntervals;
  /** Requests in the current window, without first reads. */
  readonly spent: number;
  /** First reads in the current window. */
  readonly spentFirst?: number;
  /** Polling is paused: this is a manual refresh. */
  readonly byHand?: boolean;
}

/**
 * Chooses the reads of this round, longest due first. Repeated reads are spread evenly over the rounds, and the total
 * stays within the budget.
 */
export function inTurn<Each extends Turn>(
  turns: readonly Each[],
  { now, roundMs, poll, spent, spentFirst = 0, byHand }: Round,
): Each[] {
  const isUnread = ({ dueAt }: Turn): boolean => dueAt === 0;
  const due = turns
    .filter(turn => turn.dueAt <= now + earlyShare * roundMs)
    .toSorted((left, right) => Number(!!left.isDetail) - Number(!!right.isDetail) || left.dueAt - right.dueAt);
  const evenly = byHand ? mostInWindow : Math.max(1, Math.floor((roundMs / windowMs(poll)) * mostInWindow));
  const again = new Set(due.filter(turn => !isUnread(turn)).slice(0, evenly));
  const left = due.some(isUnread) ? firstInWindow - spent - spentFirst : mostInWindow - spent;
  const room = Math.max(0, Math.min(Math.max(evenly, firstAtOnce), left));
  return due.filter(turn => isUnread(turn) || again.has(turn)).slice(0, room);
}

/** The input of a round. */
interface Purpose extends Round {
  readonly attention: Attention;
  /** Watch or the inbox is on screen. */
  readonly watched: boolean;
  /** A list with curves is on screen. */
  readonly isListed: boolean;
  readonly known: readonly KnownResource[];
  /** Ended resources on a list whose curve was never read. */
  readonly unmeasured: readonly KnownResource[];
  /** Reads for the ended resources on screen whose certainty or difference is unknown. */
  readonly uncertain: readonly RewardRead[];
  /** The number of running ones. */
  readonly running: number;
  /** The kinds whose list is read instead of each resource, because there are many of them. */
  readonly listed: ReadonlySet<string>;
  readonly lastSent: LastSent;
}

/** When rounds sent each query, by hash; epoch milliseconds. Kept here, because the cache drops unused entries. */
type LastSent = ReadonlyMap<string, number>;

/** When one of the queries last succeeded or failed; 0 for never. */
function lastAttempt({ cache }: Workbench, queries: readonly Pick<AnyQuery, 'key'>[]): number {
  const states = queries.map(({ key }) => cache.getQueryState(key));
  return Math.max(0, ...states.flatMap(state => (state ? [state.dataUpdatedAt, state.errorUpdatedAt] : [])));
}

const lastEver = (workbench: Workbench, query: AnyQuery, lastSent: LastSent): number =>
  Math.max(lastAttempt(workbench, [query]), lastSent.get(hashKey(query.key)) ?? 0);

/** Whether an earlier session saw its end, with the time. */
const isRecalled = ({ openedAt }: Workbench, { endedAt, endTime }: KnownResource): boolean =>
  endedAt !== undefined && endedAt < openedAt && endTime !== undefined;

const isInFlight = ({ cache }: Workbench, { key }: Pick<AnyQuery, 'key'>): boolean =>
  cache.getQueryState(key)?.fetchStatus === 'fetching';

/**
 * Whether an ended resource must be read once more: an answer that arrives just after the end may have been requested
 * before it, and still say running.
 */
function lacksEnd(workbench: Workbench, { endedAt = 0 }: KnownResource, query: AnyQuery, lastSent: LastSent): boolean {
  const data = workbench.cache.getQueryData(query.key);
  const last = lastEver(workbench, query, lastSent);
  return last === 0 || last < endedAt || (data !== undefined && isRunning(query.observes?.(data as never).status));
}

/**
 * When a resource was last read, and its poll interval. If its progress matters, answers without progress, such as
 * lists, do not count.
 */
function lastRead({ cache, statuses, poll }: Workbench, known: KnownResource, purpose: Purpose) {
  const { countsDone, recordsProgress } = resourceOfKind(known.kind)?.watch ?? {};
  const { at, by } = statuses.lastRead(known) ?? {};
  const needsDone = purpose.watched ? countsDone : recordsProgress;
  const readAt = needsDone ? statuses.doneReadAt(known) : by === undefined ? undefined : at;
  const isPolled = by !== undefined && (purpose.listed.has(known.kind) || cache.getQueryCache().get(by)?.isActive());
  const isSettled = isOver(known.status, known.endTime, purpose.now);
  const everyMs = turnMs(purpose.running, isSettled ? poll.visibleMs : purpose.roundMs, poll);
  const overdueMs = overdueIntervals * Math.max(everyMs, poll.visibleMs);
  return { readAt: readAt ?? 0, everyMs: isPolled && !needsDone ? overdueMs : everyMs };
}

/** The status read of a resource; undefined if none is needed. */
function statusTurn(workbench: Workbench, known: KnownResource, purpose: Purpose): Turn | undefined {
  const queries = offered(workbench, resourceOfKind(known.kind)?.watch?.status?.(known.id));
  const [query] = queries;
  if (!query || isInFlight(workbench, query)) return undefined;
  const attemptedAt = lastAttempt(workbench, queries);
  if (hasEnded(known.status)) {
    const isDue = !isRecalled(workbench, known) && lacksEnd(workbench, known, query, purpose.lastSent);
    return isDue ? { queries, dueAt: 0 } : undefined;
  }
  if (purpose.byHand) return { queries, dueAt: attemptedAt };
  const due = dueAt(workbench, query, purpose.attention);
  if (due === undefined) return undefined;
  const { readAt, everyMs } = lastRead(workbench, known, purpose);
  return { queries, dueAt: Math.max(due, readAt && readAt + everyMs, attemptedAt && attemptedAt + everyMs) };
}

/**
 * The curves for a line: the held-out one, and the much longer trainer curve if there is no held-out one or an alarm
 * needs it.
 */
function curvesOf(workbench: Workbench, known: KnownResource): readonly AnyQuery[] {
  const [first, ...others] = offered(workbench, resourceOfKind(known.kind)?.watch?.measures?.(known.id));
  if (!first) return [];
  const lacks =
    known.measured === undefined && (known.done ?? 0) > 0 && workbench.cache.getQueryData(first.key) !== undefined;
  const { trainer } = workbench.alarmsFor(known.parent);
  return [first, ...(lacks || trainer ? others : [])];
}

/** Whether an alarm needs its curves, whatever is on screen. */
function feedsAlarm(workbench: Workbench, { status, parent }: KnownResource): boolean {
  const { belowBest, heldOut, trainer } = workbench.alarmsFor(parent);
  return isRunning(status) && (belowBest !== undefined || heldOut !== undefined || trainer !== undefined);
}

/** Whether the curve has probably grown since it was requested, by the usual distance of its points. */
function hasGrown({ statuses }: Workbench, known: KnownResource, attemptedAt: number, now: number): boolean {
  const { measured, done } = known;
  if ((statuses.movedAt(known) ?? now) <= attemptedAt) return false;
  if (measured?.everySteps === undefined || done === undefined) return true;
  return done >= measured.upTo + measured.everySteps;
}

/** Whether the end was seen without its time, which the record has. */
const lacksEndTime = ({ endedAt, endTime, gone }: KnownResource): boolean =>
  endedAt !== undefined && endTime === undefined && !gone;

/** The other reads for a line of Watch: the record, if no answer had it, and the growing curves. */
function detailTurns(workbench: Workbench, known: KnownResource, { now, running, ...purpose }: Purpose): Turn[] {
  const { poll } = workbench;
  const isShown = purpose.watched || purpose.isListed || feedsAlarm(workbench, known);
  if (!isShown && !lacksEndTime(known)) return [];
  const { details } = resourceOfKind(known.kind)?.watch ?? {};
  const curves = isShown ? curvesOf(workbench, known) : [];
  const records = isRecalled(workbench, known) ? [] : offered(workbench, details?.(known.id));
  return [...records, ...curves].flatMap(query => {
    const attemptedAt = lastAttempt(workbench, [query]);
    const turn = { queries: [query], dueAt: 0, isDetail: true };
    if (isInFlight(workbench, query)) return [];
    // The inbox and its notice wait for the time and the reason.
    if (hasEnded(known.status))
      return lacksEnd(workbench, known, query, purpose.lastSent) ? [{ ...turn, isDetail: curves.includes(query) }] : [];
    if (attemptedAt === 0) return curves.includes(query) || known.startedAt === undefined ? [turn] : [];
    if (!curves.includes(query) || !hasGrown(workbench, known, attemptedAt, now)) return [];
    const due = dueAt(workbench, query, 'focused');
    const everyMs = curveTurns * turnMs(running, poll.focusedMs, poll);
    return due === undefined ? [] : [{ ...turn, dueAt: Math.max(due, attemptedAt + everyMs) }];
  });
}

/** Whether to follow it while Watch is off screen: not after its end, nor if its status is never reported. */
function mayEnd({ statuses }: Workbench, known: KnownResource): boolean {
  if (hasEnded(known.status)) return lacksEndTime(known);
  return known.status !== undefined || known.isNew || statuses.lastRead(known)?.by === undefined;
}

/** Up to this many resources of a kind are read one by one; with more, the pages of their list are read instead. */
const mostSingle = 10;

const benchmarkList = benchmarks.list({});

/** The lists that may have running rows, if a page takes one request. */
const runningLists = countedLists.filter(({ source, runs }) => runs && !source.costly);

function listedKinds(known: readonly KnownResource[]): ReadonlySet<string> {
  const many = (kind: string): boolean =>
    known.filter(each => each.kind === kind && !hasEnded(each.status)).length > mostSingle;
  return new Set(runningLists.flatMap(({ resource: { kind = '' } }) => (many(kind) ? [kind] : [])));
}

/** Identifies the rounds among the viewers of a list. */
const viewer = {};

/** Makes polls of these lists include all pages with unfinished rows. */
function seeListed({ lists }: Workbench, listed: ReadonlySet<string>): void {
  for (const { resource, source } of runningLists) {
    const reader = lists.of(source);
    const isUnfinished = (row: object): boolean => !hasEnded(source.observes?.(row).status);
    reader.see(viewer, listed.has(resource.kind ?? '') ? reader.data.rows.filter(isUnfinished) : undefined);
  }
}

/** The requests of a read: a list across benchmarks takes one for each benchmark of its first page. */
function requestsOf({ lists }: Workbench, { source }: CountedList): number {
  return source.costly ? 1 + Math.min(benchmarksAPage, lists.find(benchmarkList.key)?.extent.rows ?? 0) : 1;
}

/** Visible intervals between two reads of a list per request: longer while many resources are read one by one. */
const intervalsPerRequest = { many: 2, few: 0.25 } as const;

/**
 * The poll interval of a list, in visible intervals. A list that replaces single reads is polled as often as in a view,
 * and so is every list while Watch follows few resources.
 */
function listIntervals(workbench: Workbench, list: CountedList, { watched, listed, running }: Purpose): number {
  // Lines that have ended take no requests.
  const isMany = watched && running > mostSingle;
  const isOften = listed.has(list.resource.kind ?? '') || (watched && !isMany);
  if (list.runs && isOften) return 1;
  const perRequest = isMany ? intervalsPerRequest.many : intervalsPerRequest.few;
  return Math.max(isMany ? countIntervals : intervalsOf(list), perRequest * requestsOf(workbench, list));
}

/** Maximum concurrent reads of lists that are only counted. */
const countsAtOnce = 2;

/** Whether a list is due in this round. @param counted whether the section counts are on screen */
function isListDue(workbench: Workbench, list: CountedList, purpose: Purpose, counted: boolean): boolean {
  const { lists, poll } = workbench;
  const { watched, byHand, now, roundMs } = purpose;
  const { source, runs } = list;
  const isForWatch = watched && runs;
  const query = cachedQuery(workbench, source.key);
  if (query?.isActive() || query?.state.fetchStatus === 'fetching') return false;
  if (!isForWatch && (isOpening(workbench, now) || (lists.find(source.key)?.extent.rows ?? 0) > mostRows)) return false;
  const isFirst = !runs && lists.countOf(source.key) === undefined;
  if (!runs && !counted) return false;
  // A refused count stays empty until the list is shown or refreshed.
  if (isFirst && (source.costly || isLastingRefusal(query?.state.error))) return false;
  if (byHand) return runs;
  const due = dueAt(workbench, listQuery(workbench, source), 'visible');
  const intervals = isFirst ? 1 : listIntervals(workbench, list, purpose);
  return due !== undefined && due + (intervals - 1) * poll.visibleMs <= now + earlyShare * roundMs;
}

/** The due lists. Reads for a count block nothing, and a failing one does not starve the others. */
function dueLists(
  workbench: Workbench,
  purpose: Purpose,
  counted: boolean,
): Record<'running' | 'others', CountedList[]> {
  const due = countedLists.filter(list => isListDue(workbench, list, purpose, counted));
  const lastTry = ({ source }: CountedList): number => lastAttempt(workbench, [source]);
  const inFlight = countedLists.filter(({ source, runs }) => !runs && isInFlight(workbench, source)).length;
  const others = due.filter(({ runs }) => !runs).toSorted((left, right) => lastTry(left) - lastTry(right));
  return { running: due.filter(({ runs }) => runs), others: others.slice(0, Math.max(0, countsAtOnce - inFlight)) };
}

/** Runs the reads, a few at a time. @throws ServiceError if all of them failed: the service is down */
async function readEach(work: readonly (() => Promise<unknown>)[], { signal, progressed }: QueryContext) {
  const failures: unknown[] = [];
  let answered = false;
  await inParallel(work, async read => {
    signal.throwIfAborted();
    try {
      await read();
      answered = true;
      progressed?.();
    } catch (error) {
      if (isGone(error)) answered = true;
      else if (!isNotOffered(error)) failures.push(error);
    }
  });
  signal.throwIfAborted();
  if (answered || failures.length === 0) return;
  const [first] = failures;
  // The wait that one endpoint asked for is its own: the next round has other reads.
  throw first instanceof ServerError ? new ServerError(first.message, { ...first, retryAfterMs: undefined }) : first;
}

/** A request of a round. */
interface Sent {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The query had never been read. */
  readonly isFirst: boolean;
}

type Send = (query: AnyQuery, isFirst?: boolean, requests?: number) => Promise<unknown>;

/** Sends the first query that the service offers. @throws ServiceError */
async function readFirst([query, ...others]: readonly AnyQuery[], send: Send): Promise<unknown> {
  if (!query) return undefined;
  try {
    return await send(query);
  } catch (error) {
    if (others.length === 0 || !isNotOffered(error)) throw error;
    return readFirst(others, send);
  }
}

function purposeOf(workbench: Workbench, sent: readonly Sent[], lastSent: LastSent): Purpose {
  const { poll, paused } = workbench;
  const now = Date.now();
  const watched = [watchKey, inboxKey].some(key => cachedQuery(workbench, key)?.isActive());
  const isListed = cachedQuery(workbench, progressKey)?.isActive() === true;
  // Rounds are more frequent while Watch is on screen or focused.
  const sinceMs = now - lastAttempt(workbench, [{ key: followingKey }]);
  const roundMs = Math.max(poll.focusedMs, Math.min(poll.visibleMs, sinceMs));
  const attention = roundMs <= poll.visibleMs / 2 ? 'focused' : 'visible';
  const known = watchedKnown(workbench, now).filter(each => !each.gone && (watched || mayEnd(workbench, each)));
  const running = known.filter(({ status }) => !hasEnded(status)).length;
  const unmeasured = isListed ? workbench.statuses.all().filter(each => isUnmeasured(workbench, each, lastSent)) : [];
  const uncertain = uncertainOn(workbench, watched ? known : [], lastSent);
  const inWindow = sent.filter(({ at }) => at > now - windowMs(poll));
  const spentFirst = inWindow.filter(({ isFirst }) => isFirst).length;
  const listed = listedKinds(known);
  return {
    now,
    roundMs,
    poll,
    spent: inWindow.length - spentFirst,
    spentFirst,
    byHand: paused,
    attention,
    watched,
    isListed,
    known,
    unmeasured,
    uncertain,
    running,
    listed,
    lastSent,
  };
}

/** Whether it ended and its curve was never read. */
function isUnmeasured(workbench: Workbench, known: KnownResource, lastSent: LastSent): boolean {
  if (known.gone || known.measured || !hasEnded(known.status)) return false;
  const [curve] = curvesOf(workbench, known);
  return curve !== undefined && lastEver(workbench, curve, lastSent) === 0 && !isInFlight(workbench, curve);
}

/**
 * The reads of rewards for the ended resources on screen that have a mean: for its certainty, and in lists for the
 * difference from what it is compared with. Each is sent once.
 */
function uncertainOn(workbench: Workbench, lines: readonly KnownResource[], lastSent: LastSent): RewardRead[] {
  const { statuses, lists, compare } = workbench;
  const rows = lists.shown().map(row => statuses.get(row) ?? knownResource({ ...row, label: row.id }, [row]));
  const shown = new Map([...lines, ...rows].map(known => [keyOf(known), known]));
  const listed = new Set(rows.map(keyOf));
  const isUnsent = ({ query }: RewardRead): boolean =>
    lastEver(workbench, query, lastSent) === 0 && !isInFlight(workbench, query);
  const reads = [...shown.values()].flatMap(known => {
    const { kind, status, mean, certainty, gone } = known;
    if (gone || mean === undefined || !hasEnded(status)) return [];
    const { watch } = resourceOfKind(kind) ?? {};
    const differences = listed.has(keyOf(known)) ? (watch?.difference?.(known, workbench) ?? []) : [];
    const unsent = differences.filter(isUnsent);
    if (unsent.length > 0 || differences.some(({ query }) => isInFlight(workbench, query))) return unsent;
    const query = isSettled(certainty, known, compare.rewardRange) ? undefined : watch?.certainty?.(known);
    return query ? [{ known, query }].filter(isUnsent) : [];
  });
  return [...new Map(reads.map(read => [hashKey(read.query.key), read])).values()];
}

/** Reads the due statuses and, for Watch and for lists with curves, details. Returns the number of reads. @throws ServiceError */
async function readTurns(workbench: Workbench, purpose: Purpose, context: QueryContext, send: Send): Promise<number> {
  const turns = purpose.known.flatMap(known => {
    const details = detailTurns(workbench, known, purpose);
    return [statusTurn(workbench, known, purpose) ?? [], details].flat().map(turn => ({ ...turn, known }));
  });
  const measures = purpose.unmeasured.map((known): Turn & { readonly known: KnownResource } => {
    return { queries: curvesOf(workbench, known).slice(0, 1), dueAt: 0, isDetail: true, known };
  });
  const certain = purpose.uncertain.map(({ known, query }): Turn & { readonly known: KnownResource } => {
    // Without a total, its progress and its record may tell it.
    const requests = known.total === undefined ? 3 : 1;
    return { queries: [query], dueAt: 0, isDetail: true, requests, known };
  });
  const chosen = inTurn([...turns, ...measures, ...certain], purpose);
  const isThere = (known: KnownResource): boolean => !workbench.statuses.get(known)?.gone;
  await readEach(
    chosen.map(
      ({ known, queries, dueAt, requests }) =>
        async () =>
          isThere(known) && readFirst(queries, query => send(query, dueAt === 0, requests)),
    ),
    context,
  );
  return chosen.length;
}

/** The query that runs the rounds. @param counted whether the section counts are on screen */
export function following(workbench: Workbench, counted: boolean): LiveQuery<number> {
  let sent: readonly Sent[] = [];
  const lastSent = new Map<string, number>();
  const send = async (query: AnyQuery, isFirst = false, requests = 1): Promise<unknown> => {
    const now = Date.now();
    const each = Array.from({ length: requests }, () => ({ at: now, isFirst }));
    sent = [...sent.filter(({ at }) => at > now - windowMs(workbench.poll)), ...each];
    try {
      return await fetchOnce(workbench, query);
    } finally {
      // Do not record it if it was cancelled.
      if (lastAttempt(workbench, [query]) >= now) lastSent.set(hashKey(query.key), now);
    }
  };
  const reads = (list: CountedList) => () => send(listQuery(workbench, list.source));
  return {
    key: followingKey,
    activity: () => 'running',
    read: async context => {
      // Include what the user's other programs have seen running.
      workbench.recall();
      const purpose = purposeOf(workbench, sent, lastSent);
      seeListed(workbench, purpose.listed);
      const { running, others } = dueLists(workbench, purpose, counted);
      // Lists find the resources to follow. A round awaits them only if it has nothing else to read.
      const isIdle = purpose.known.length === 0;
      for (const list of isIdle ? others : [...running, ...others]) void reads(list)().catch(() => {});
      if (isIdle) await readEach(running.map(reads), context);
      const turns = await readTurns(workbench, isIdle ? purposeOf(workbench, sent, lastSent) : purpose, context, send);
      noteAlarms(workbench);
      return turns;
    },
  };
}

/** Runs a round now. */
const repeat = ({ cache }: Workbench): Promise<void> =>
  cache.refetchQueries({ queryKey: followingKey }, { cancelRefetch: false, throwOnError: true });

/** Active while a list with progress and curves is on screen; each poll runs a round. */
export const progressQuery = (workbench: Workbench): LiveQuery<number> => ({
  key: progressKey,
  activity: () => 'running',
  read: () => repeat(workbench).then(() => 0),
});

/** A list whose rows come from what this machine knows; each poll runs a round. */
function followedList<Row extends object>(
  workbench: Workbench,
  key: readonly string[],
  id: (row: Row) => string,
): ListSource<Row> {
  return {
    key,
    id,
    derived: true,
    readPage: () => repeat(workbench).then(() => wholePage<Row>([])),
    activity: () => {
      const known = watchedKnown(workbench, Date.now());
      return known.some(({ status, isNew }) => isRunning(status) || isNew) ? 'running' : 'open';
    },
  };
}

export const watchList = (workbench: Workbench): ListSource<WatchedResource> =>
  followedList<WatchedResource>(workbench, watchKey, keyOf);

export const inboxList = (workbench: Workbench): ListSource<InboxEvent> =>
  followedList<InboxEvent>(workbench, inboxKey, nameOf);
