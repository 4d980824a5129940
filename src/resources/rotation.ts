/**
 * Polls the data that no view polls: lists with a section count or with running rows, and each running or pinned
 * resource. The frame polls in rounds, more often while Watch is on screen. A round reads only the resources that are
 * due, in rotation, so the request rate is bounded however many resources there are.
 */

import { hashKey } from '@tanstack/react-query';
import { inParallel } from '../base/in-parallel.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import { listQuery } from '../queries/lists/list-query.ts';
import { type ListSource, wholePage } from '../queries/lists/list-source.ts';
import { type AnyQuery, cachedQuery, fetchOnce, type LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { type KnownResource, keyOf } from '../queries/statuses/known-resource.ts';
import { isGone, isNotOffered, ServerError } from '../service/errors.ts';
import { type InboxEvent, keyOfEvent } from '../workbench/inbox.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { elsewhereInWindow, inTurn, type Turn, windowMs } from './rotation-budget.ts';
import { dueLists, type Frame, listedKinds, seeListed } from './rotation-lists.ts';
import {
  curveTurn,
  detailTurns,
  isLastRead,
  type LastSent,
  lastAttempt,
  mayEnd,
  type Purpose,
  statusTurn,
  stepsTurn,
  uncertainOn,
} from './rotation-turns.ts';
import type { CountedList } from './section-counts.ts';
import { noteAlarms, type WatchedResource, watchedKnown } from './watch.ts';

const followingKey = ['following'];
const watchKey = ['watch'];
const inboxKey = ['inbox'];
const progressKey = ['progress'];

/** A round continues without a curve or a list that takes longer than this, in milliseconds. */
const longestDetailMs = 10_000;

/** Waits for a read; false if it takes too long. The read continues, and its response counts when it arrives. */
async function inTime(read: Promise<unknown>): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(resolve, longestDetailMs, false);
  return Promise.race([read, promise]).finally(() => clearTimeout(timer));
}

/**
 * Runs the reads, a few at a time. A read that returns false does not show whether the service works.
 *
 * @throws ServiceError if all the others failed, which means that the service is down
 */
async function readEach(work: readonly (() => Promise<unknown>)[], { signal, progressed }: QueryContext) {
  const failures: unknown[] = [];
  let answered = false;
  await inParallel(work, async read => {
    signal.throwIfAborted();
    try {
      if ((await read()) === false) return;
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
  // One endpoint's Retry-After must not delay the next round, which has other reads.
  throw first instanceof ServerError ? new ServerError(first.message, { ...first, retryAfterMs: undefined }) : first;
}

/** A request sent in a round. */
interface Sent {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Whether this was the query's first read. */
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
  const lists = workbench.cache.getQueryCache().findAll({ queryKey: progressKey, type: 'active' });
  const isListed = lists.length > 0;
  const parents = new Set(lists.flatMap(({ queryKey: [, ...ids] }) => ids));
  const all = workbench.statuses.all().filter(({ parent }) => parents.size === 0 || parents.has(parent));
  // Rows on screen come first.
  const listedNow = isListed ? [...workbench.lists.shown(), ...all] : [];
  // Rounds are more frequent while Watch is on screen or in focus.
  const sinceMs = now - lastAttempt(workbench, [{ key: followingKey }]);
  const roundMs = Math.max(poll.focusedMs, Math.min(poll.visibleMs, sinceMs));
  const attention = roundMs <= poll.visibleMs / 2 ? 'focused' : 'visible';
  const known = watchedKnown(workbench, now).filter(each => !each.gone && (watched || mayEnd(workbench, each)));
  const running = known.filter(({ status }) => !hasEnded(status)).length;
  const ofLists = [...new Set(listedNow.map(each => workbench.statuses.get(each)))];
  const unmeasured = [curveTurn, stepsTurn].flatMap(turnOf =>
    ofLists.flatMap(known => {
      const turn = known && turnOf(workbench, known, lastSent);
      return turn ? [{ ...turn, known }] : [];
    }),
  );
  const uncertain = uncertainOn(workbench, watched ? known : [], lastSent, running);
  const inWindow = sent.filter(({ at }) => at > now - windowMs(poll));
  const spentFirst = inWindow.filter(({ isFirst }) => isFirst).length;
  const listed = listedKinds(known);
  const shown = new Set(workbench.lists.shown().map(keyOf));
  return {
    now,
    roundMs,
    poll,
    spent: inWindow.length - spentFirst,
    spentFirst,
    elsewhere: watched ? 0 : elsewhereInWindow,
    byHand: paused,
    attention,
    watched,
    isListed,
    shown,
    known,
    unmeasured,
    uncertain,
    running,
    listed,
    lastSent,
  };
}

/**
 * Reads the statuses that are due, and details for Watch and for lists with curves. Returns the number of reads.
 *
 * @param isFailing whether to read at least one resource, due or not, to find out whether the service has recovered
 * @throws ServiceError
 */
async function readTurns(
  workbench: Workbench,
  purpose: Purpose,
  context: QueryContext,
  send: Send,
  isFailing: boolean,
): Promise<number> {
  const turns = purpose.known.flatMap(known => {
    const details = detailTurns(workbench, known, purpose);
    return [statusTurn(workbench, known, purpose) ?? [], details].flat().map(turn => ({ ...turn, known }));
  });
  const certain = purpose.uncertain.map(({ known, query, dueAt = 0 }): Turn & { readonly known: KnownResource } => {
    // If the total is unknown, the progress and the record are read as well.
    const requests = known.total === undefined ? 3 : 1;
    return { queries: [query], dueAt, isDetail: true, requests, known };
  });
  // Of the reads due at the same time, intervals on screen come first, because alarms can wait.
  const all = [...certain, ...turns, ...purpose.unmeasured].map(turn => ({
    ...turn,
    isLast: isLastRead(turn, purpose),
  }));
  const due = inTurn(all, purpose);
  const chosen =
    due.length === 0 && isFailing ? turns.toSorted((left, right) => left.dueAt - right.dueAt).slice(0, 1) : due;
  const isThere = (known: KnownResource): boolean => !workbench.statuses.get(known)?.gone;
  await readEach(
    chosen.map(({ known, queries, dueAt, requests, isDetail }) => async () => {
      if (!isThere(known)) return false;
      const read = readFirst(queries, query => send(query, dueAt === 0, requests));
      return isDetail ? inTime(read) : read;
    }),
    context,
  );
  return chosen.length;
}

/** The query that runs the rounds. */
export function roundsQuery(workbench: Workbench, frame: Frame): LiveQuery<number> {
  let sent: readonly Sent[] = [];
  const lastSent = new Map<string, number>();
  /** The error from the last round that read something. */
  let failure: unknown;
  const send = async (query: AnyQuery, isFirst = false, requests = 1): Promise<unknown> => {
    const now = Date.now();
    const each = Array.from({ length: requests }, () => ({ at: now, isFirst }));
    sent = [...sent.filter(({ at }) => at > now - windowMs(workbench.poll)), ...each];
    try {
      return await fetchOnce(workbench, query);
    } finally {
      // Do not record a cancelled read.
      if (lastAttempt(workbench, [query]) >= now) lastSent.set(hashKey(query.key), now);
    }
  };
  const reads = (list: CountedList) => () => send(listQuery(workbench, list.source));
  /** Runs one round. Returns the number of reads. @throws ServiceError */
  const round = async (context: QueryContext): Promise<number> => {
    // The user's other processes may have recorded running resources.
    workbench.records.recall();
    const purpose = purposeOf(workbench, sent, lastSent);
    seeListed(workbench, purpose.listed);
    const { running, others } = dueLists(workbench, purpose, frame);
    // Lists find resources to follow. A round waits for its lists only if it has nothing else to read, or if they decide
    // the first view.
    const isIdle = purpose.known.length === 0;
    const begin = (list: CountedList) => reads(list)().catch(() => {});
    for (const list of others) void begin(list);
    const begun = isIdle ? [] : running.map(begin);
    const awaited = isIdle ? running : [];
    await readEach(awaited.map(reads), context);
    const found = isIdle ? purposeOf(workbench, sent, lastSent) : purpose;
    const count = awaited.length + (await readTurns(workbench, found, context, send, failure !== undefined));
    if (frame.atHome && !hasLooked(workbench)) await inTime(Promise.all(begun));
    return count;
  };
  return {
    key: followingKey,
    activity: () => 'running',
    read: async context => {
      try {
        const count = await round(context);
        // A round without reads does not prove that the service has recovered.
        if (count === 0 && failure !== undefined) throw failure;
        failure = undefined;
        noteAlarms(workbench);
        return count;
      } catch (error) {
        if (!context.signal.aborted) failure = error;
        throw error;
      }
    },
  };
}

/** Whether a round has been answered since the program began. */
export const hasLooked = (workbench: Workbench): boolean =>
  (cachedQuery(workbench, followingKey)?.state.dataUpdatedAt ?? 0) > 0;

/** Runs a round now. */
const repeat = ({ cache }: Workbench): Promise<void> =>
  cache.refetchQueries({ queryKey: followingKey }, { cancelRefetch: false, throwOnError: true });

/**
 * Active while a list with progress and curves is on screen; each poll runs a round.
 *
 * @param parents the listed resources' parents; all by default
 */
export const progressQuery = (workbench: Workbench, parents: readonly string[] = []): LiveQuery<number> => ({
  key: [...progressKey, ...parents],
  activity: () => 'running',
  read: () => repeat(workbench).then(() => 0),
});

/** A list whose rows come from memory; each poll runs a round. */
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
  followedList<InboxEvent>(workbench, inboxKey, keyOfEvent);
