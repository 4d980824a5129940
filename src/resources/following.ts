/**
 * Keeps current what no view polls: the lists that are counted or in which something may run, and each resource that
 * runs or is pinned. The frame repeats one round, and Watch repeats it more often. Of many resources a round reads a few,
 * those whose turn it is, so that they make no more requests than a few do, and each is read as often as the others.
 */
import { hasEnded, isOver, isRunning } from '../contract/status.ts';
import { overdueIntervals } from '../queries/freshness.ts';
import { type ListSource, wholePage } from '../queries/lists/list.ts';
import { listQuery } from '../queries/lists/list-query.ts';
import { type AnyQuery, dueAt, fetchOnce, type LiveQuery } from '../queries/live-query.ts';
import type { Attention, PollIntervals } from '../queries/polling.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { type KnownResource, keyOf } from '../queries/statuses/store.ts';
import type { Workbench } from '../queries/workbench.ts';
import { isGone, isLastingRefusal, isNotOffered } from '../service/errors.ts';
import { inParallel } from '../text/in-parallel.ts';
import { resourceOfKind } from './catalogue.ts';
import { type CountedList, countedLists, intervalsOf, isOpening, mostRows } from './counts.ts';
import { type WatchedResource, watchedKnown } from './watch.ts';
import { offered } from './watching.ts';

const followingKey = ['following'];
const watchKey = ['watch'];

/** So many intervals of what has the focus, a minute by default, may see so many requests for what no view polls. */
const windowIntervals = 30;
const mostInWindow = 60;
/** The same while something was never read, and how many of them in a round. */
const firstInWindow = 120;
const firstAtOnce = 10;
/**
 * The time between two reads of one of `count` resources, as a share of the interval of what has the focus: 40 of them
 * take 40 requests a minute, which leaves 20 of the 60 that one host is to get for lists and curves.
 */
const turnShare = 0.75;
/** The curves of a line are large: they are read once in so many turns of its steps. */
const curveTurns = 4;
/** A round that is slightly early counts as on time; otherwise what it reads would be late by a whole round. */
const earlyShare = 0.3;

const windowMs = ({ focusedMs }: PollIntervals): number => windowIntervals * focusedMs;

/** Milliseconds between two reads of one of `count` resources. */
export function turnMs(count: number, roundMs: number, { focusedMs }: PollIntervals): number {
  return Math.max(roundMs, count * turnShare * focusedMs);
}

/** What a round may read. */
export interface Turn {
  /** Each a fallback for the one before. */
  readonly queries: readonly AnyQuery[];
  /** Epoch milliseconds; 0 for at once. */
  readonly dueAt: number;
  /** It follows everything that has a status to tell. */
  readonly isDetail?: boolean;
}

export interface Round {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Milliseconds from one round to the next. */
  readonly roundMs: number;
  readonly poll: PollIntervals;
  /** How many requests there have been in the last of these windows. */
  readonly spent: number;
  /** Polling is paused, so the user has asked for it. */
  readonly byHand?: boolean;
}

/**
 * What this round reads: what is longest due first, of what was read before no more than follow each other evenly, and in
 * all no more than the window has left.
 */
export function inTurn<Each extends Turn>(
  turns: readonly Each[],
  { now, roundMs, poll, spent, byHand }: Round,
): Each[] {
  const isUnread = ({ dueAt }: Turn): boolean => dueAt === 0;
  const due = turns
    .filter(turn => turn.dueAt <= now + earlyShare * roundMs)
    .toSorted((left, right) => Number(!!left.isDetail) - Number(!!right.isDetail) || left.dueAt - right.dueAt);
  const evenly = byHand ? mostInWindow : Math.max(1, Math.floor((roundMs / windowMs(poll)) * mostInWindow));
  const again = new Set(due.filter(turn => !isUnread(turn)).slice(0, evenly));
  const left = (due.some(isUnread) ? firstInWindow : mostInWindow) - spent;
  const room = Math.max(0, Math.min(Math.max(evenly, firstAtOnce), left));
  return due.filter(turn => isUnread(turn) || again.has(turn)).slice(0, room);
}

/** What a round is about. */
interface Purpose extends Round {
  readonly attention: Attention;
  /** Watch is on screen. */
  readonly watched: boolean;
  /** What is followed. */
  readonly known: readonly KnownResource[];
  /** How much of it runs. */
  readonly running: number;
  /** The kinds whose list is read instead of each resource, because many are followed. */
  readonly listed: ReadonlySet<string>;
}

/** When one of the queries was last answered, well or not; 0 if none was. */
function lastAttempt({ cache }: Workbench, queries: readonly Pick<AnyQuery, 'key'>[]): number {
  const states = queries.map(({ key }) => cache.getQueryState(key));
  return Math.max(0, ...states.flatMap(state => (state ? [state.dataUpdatedAt, state.errorUpdatedAt] : [])));
}

const isInFlight = ({ cache }: Workbench, { key }: Pick<AnyQuery, 'key'>): boolean =>
  cache.getQueryState(key)?.fetchStatus === 'fetching';

/**
 * A resource that has ended is read once after its end. An answer that arrives just after the end may have been
 * requested before it, and then still says running.
 */
function lacksEnd(workbench: Workbench, { endedAt = 0 }: KnownResource, query: AnyQuery): boolean {
  const data = workbench.cache.getQueryData(query.key);
  const last = lastAttempt(workbench, [query]);
  return last === 0 || last < endedAt || (data !== undefined && isRunning(query.observes?.(data as never).status));
}

/**
 * When a resource was last read as it has to be, and for how long that will do. Where its progress matters, an answer
 * without it, such as that of a list, is no read.
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

/** The turn of a resource to say its status; undefined if it is not to be read. */
function statusTurn(workbench: Workbench, known: KnownResource, purpose: Purpose): Turn | undefined {
  const queries = offered(workbench, resourceOfKind(known.kind)?.watch?.status(known.id));
  const [query] = queries;
  if (!query || isInFlight(workbench, query)) return undefined;
  const askedAt = lastAttempt(workbench, queries);
  if (hasEnded(known.status)) return lacksEnd(workbench, known, query) ? { queries, dueAt: 0 } : undefined;
  if (purpose.byHand) return { queries, dueAt: askedAt };
  const due = dueAt(workbench, query, purpose.attention);
  if (due === undefined) return undefined;
  const { readAt, everyMs } = lastRead(workbench, known, purpose);
  return { queries, dueAt: Math.max(due, readAt && readAt + everyMs, askedAt && askedAt + everyMs) };
}

/** The turns of what else a line of Watch shows: of its record, if no answer had it, and of its curves as they grow. */
function detailTurns(workbench: Workbench, known: KnownResource, { now, running }: Purpose): Turn[] {
  const { statuses, poll } = workbench;
  const { details, measures } = resourceOfKind(known.kind)?.watch ?? {};
  const curves = offered(workbench, measures?.(known.id));
  return [...offered(workbench, details?.(known.id)), ...curves].flatMap(query => {
    const askedAt = lastAttempt(workbench, [query]);
    const turn = { queries: [query], dueAt: 0, isDetail: true };
    if (isInFlight(workbench, query)) return [];
    if (hasEnded(known.status)) return lacksEnd(workbench, known, query) ? [turn] : [];
    if (askedAt === 0) return curves.includes(query) || known.startedAt === undefined ? [turn] : [];
    const movedAt = statuses.movedAt(known) ?? now;
    if (!curves.includes(query) || movedAt <= askedAt) return [];
    const due = dueAt(workbench, query, 'focused');
    const everyMs = curveTurns * turnMs(running, poll.focusedMs, poll);
    return due === undefined ? [] : [{ ...turn, dueAt: Math.max(due, askedAt + everyMs) }];
  });
}

/** Whether to follow it while Watch is not on screen: not once it has ended, nor if its status is never reported. */
function mayEnd({ statuses }: Workbench, known: KnownResource): boolean {
  if (hasEnded(known.status)) return false;
  return known.status !== undefined || known.isNew || statuses.lastRead(known)?.by === undefined;
}

/** How many resources of a kind are read one by one before their list is read with the pages that hold them. */
const mostSingle = 10;

/** The lists that are read for what runs in them, where a page takes one request. */
const runningLists = countedLists.filter(({ source, runs }) => runs && !source.costly);

/** The kinds with so many followed resources that their list is read instead. */
function listedKinds(known: readonly KnownResource[]): ReadonlySet<string> {
  const many = (kind: string): boolean => known.filter(each => each.kind === kind).length > mostSingle;
  return new Set(runningLists.flatMap(({ resource: { kind = '' } }) => (many(kind) ? [kind] : [])));
}

/** Identifies the rounds among the viewers of a list. */
const viewer = {};

/** Has the lists of these kinds read with the pages that hold what has not ended. */
function seeListed({ lists }: Workbench, listed: ReadonlySet<string>): void {
  for (const { resource, source } of runningLists) {
    const reader = lists.of(source);
    const isUnfinished = (row: object): boolean => !hasEnded(source.observes?.(row).status);
    reader.see(viewer, listed.has(resource.kind ?? '') ? reader.data.rows.filter(isUnfinished) : undefined);
  }
}

/** A list in which something may run is read as often as a view would, for what it says of many, and for Watch of few. */
function listIntervals(list: CountedList, { watched, listed, known }: Purpose): number {
  const isOften = listed.has(list.resource.kind ?? '') || (watched && known.length <= mostSingle);
  return list.runs && isOften ? 1 : intervalsOf(list);
}

/** How many lists in which nothing runs are read for their count at the same time. */
const countsAtOnce = 2;

/** Whether a list is to be read in this round. @param counted the counts of the sections are on screen */
function isListDue(workbench: Workbench, list: CountedList, purpose: Purpose, counted: boolean): boolean {
  const { cache, lists, poll } = workbench;
  const { watched, byHand, now, roundMs } = purpose;
  const { source, runs } = list;
  const isForWatch = watched && runs;
  const query = cache.getQueryCache().find({ queryKey: source.key });
  if (query?.isActive() || query?.state.fetchStatus === 'fetching') return false;
  if (!isForWatch && (isOpening(workbench, now) || (lists.find(source.key)?.extent.rows ?? 0) > mostRows)) return false;
  const isFirst = !runs && lists.countOf(source.key) === undefined;
  if (!runs && !counted) return false;
  // A count that was refused stays empty until the list is shown, or until a refresh.
  if (isFirst && (source.costly || isLastingRefusal(query?.state.error))) return false;
  if (byHand) return runs;
  const due = dueAt(workbench, listQuery(workbench, source), 'visible');
  const intervals = isFirst ? 1 : listIntervals(list, purpose);
  return due !== undefined && due + (intervals - 1) * poll.visibleMs <= now + earlyShare * roundMs;
}

/** The lists that are due. Nothing waits for a mere count, and one that keeps failing takes no turn from the others. */
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

/** Sends what is to be read, a few at a time. @throws ServiceError if all of it failed: then it is the service */
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
  if (!answered && failures.length > 0) throw failures[0];
}

/** Sends a query of a round. */
type Send = (query: AnyQuery) => Promise<unknown>;

/** Reads with the first of the queries that the service offers. @throws ServiceError */
async function readFirst([query, ...others]: readonly AnyQuery[], send: Send): Promise<unknown> {
  if (!query) return undefined;
  try {
    return await send(query);
  } catch (error) {
    if (others.length === 0 || !isNotOffered(error)) throw error;
    return readFirst(others, send);
  }
}

/** What a round that begins now is about. */
function purposeOf(workbench: Workbench, sent: readonly number[]): Purpose {
  const { cache, poll, paused } = workbench;
  const now = Date.now();
  const watched = cache.getQueryCache().find({ queryKey: watchKey })?.isActive() === true;
  // Watch, or the focus in it, makes the rounds more frequent.
  const sinceMs = now - lastAttempt(workbench, [{ key: followingKey }]);
  const roundMs = Math.max(poll.focusedMs, Math.min(poll.visibleMs, sinceMs));
  const attention = roundMs <= poll.visibleMs / 2 ? 'focused' : 'visible';
  const known = watchedKnown(workbench, now).filter(each => !each.gone && (watched || mayEnd(workbench, each)));
  const running = known.filter(({ status }) => !hasEnded(status)).length;
  const spent = sent.filter(at => at > now - windowMs(poll)).length;
  return { now, roundMs, poll, spent, byHand: paused, attention, watched, known, running, listed: listedKinds(known) };
}

/** Reads the statuses, and for Watch the details, whose turn it is. Returns how many. @throws ServiceError */
async function readTurns(workbench: Workbench, purpose: Purpose, context: QueryContext, send: Send): Promise<number> {
  const turns = purpose.known.flatMap(known => {
    const details = purpose.watched ? detailTurns(workbench, known, purpose) : [];
    return [statusTurn(workbench, known, purpose) ?? [], details].flat().map(turn => ({ ...turn, known }));
  });
  const chosen = inTurn(turns, purpose);
  const isThere = (known: KnownResource): boolean => !workbench.statuses.get(known)?.gone;
  await readEach(
    chosen.map(
      ({ known, queries }) =>
        async () =>
          isThere(known) && readFirst(queries, send),
    ),
    context,
  );
  return chosen.length;
}

/** The rounds, for the frame. `counted` says whether the counts of the sections are on screen. */
export function following(workbench: Workbench, counted: boolean): LiveQuery<number> {
  /** When the rounds have sent something; epoch milliseconds. */
  let sent: readonly number[] = [];
  const send = (query: AnyQuery): Promise<unknown> => {
    const now = Date.now();
    sent = [...sent.filter(at => at > now - windowMs(workbench.poll)), now];
    return fetchOnce(workbench, query);
  };
  const reads = (list: CountedList) => () => send(listQuery(workbench, list.source));
  return {
    key: followingKey,
    activity: () => 'running',
    read: async context => {
      // What other programs of this user have seen to run.
      workbench.recall();
      const purpose = purposeOf(workbench, sent);
      seeListed(workbench, purpose.listed);
      const { running, others } = dueLists(workbench, purpose, counted);
      // Lists say what there is to follow: a round waits for them only while it has nothing else to read.
      const isIdle = purpose.known.length === 0;
      for (const list of isIdle ? others : [...running, ...others]) void reads(list)().catch(() => {});
      if (isIdle) await readEach(running.map(reads), context);
      return readTurns(workbench, isIdle ? purposeOf(workbench, sent) : purpose, context, send);
    },
  };
}

/** Repeats the round. */
const repeat = ({ cache }: Workbench): Promise<void> =>
  cache.refetchQueries({ queryKey: followingKey }, { cancelRefetch: false, throwOnError: true });

/** How far the rows of a list are: while it is on screen, the rounds are as frequent as this is read. */
export const progressQuery = (workbench: Workbench): LiveQuery<number> => ({
  key: ['progress'],
  activity: () => 'running',
  read: () => repeat(workbench).then(() => 0),
});

/** What Watch reads: the rounds are as frequent while it is on screen. Its lines are selected from the statuses. */
export function watchList(workbench: Workbench): ListSource<WatchedResource> {
  return {
    key: watchKey,
    id: keyOf,
    derived: true,
    readPage: () => repeat(workbench).then(() => wholePage<WatchedResource>([])),
    activity: () => {
      const known = watchedKnown(workbench, Date.now());
      return known.some(({ status, isNew }) => isRunning(status) || isNew) ? 'running' : 'open';
    },
  };
}
