/**
 * Watch: everything pinned, everything running, and what ended while the program was open. The lines are built from the
 * status store; reading goes through the query cache, so that nothing a view polls is requested twice.
 */

import { hashKey } from '@tanstack/react-query';
import { hasEnded, isOver, isRunning, statusMeaning } from '../contract/status.ts';
import { overdueIntervals } from '../queries/freshness.ts';
import { type ListSource, wholePage } from '../queries/lists/list.ts';
import { paceOf, paceWords } from '../queries/pace.ts';
import type { Attention } from '../queries/polling.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import { followedOf, type KnownResource, keyOf, knownResource, unknownResource } from '../queries/statuses/store.ts';
import type { AnyJob } from '../queries/uploads/job.ts';
import { listQuery } from '../queries/use-list.ts';
import type { LiveQuery } from '../queries/use-live.ts';
import type { Workbench } from '../queries/workbench.tsx';
import { isNotOffered, mayLackPath } from '../service/errors.ts';
import { inParallel } from '../text/in-parallel.ts';
import { age, parseTime } from '../text/time.ts';
import { placeOfRef, resourceOfKind, resources } from './catalogue.ts';
import { inTurn, isManyOf, type Named, readListsOf, turnMs } from './following.ts';
import type { Place } from './place.ts';
import { heldOutWords } from './training.ts';
import { isDue, lastAttempt, lastError, Outcome, type Read, readOf } from './watching.ts';

/** A line of Watch. */
export interface WatchedResource extends KnownResource {
  readonly pinned: boolean;
  /** Its speed and remaining time, in words; empty if unknown. */
  readonly pace: string;
}

/** What the number is called: of a run it is a mean, of a training run the trainer's last, of a trajectory its own. */
export function rewardName(kind: string): string {
  if (resourceOfKind(kind)?.watch?.measures) return 'trainer';
  return kind === 'run' ? 'mean' : 'reward';
}

const watchKeys = { list: ['watch'], background: ['watching'] } as const;

/** The curves of a line, two of them, are read once in so many turns of its steps. */
const curveTurns = 4;

/** The pace of a run as its steps were last read, and since when that is if it is not now. */
function paceOfRun(known: KnownResource, workbench: Workbench, now: number): string {
  const { remembered, statuses } = workbench;
  const { kind, id, status, done: completed, total } = known;
  const isWaiting = status !== undefined && statusMeaning(status) === 'waiting';
  const { recordsProgress, countsDone } = resourceOfKind(kind)?.watch ?? {};
  if (known.gone || !isRunning(status) || !(recordsProgress || (countsDone && isWaiting))) return '';
  const situation = { status, completed, total, startedAt: parseTime(known.startedAt), now };
  const observedAt = statuses.doneReadAt(known);
  // Of what has not been read, neither a pace nor a silence is known.
  if (observedAt === undefined && !isWaiting)
    return statusReads(known).every(read => isNotOffered(lastError(workbench, read))) ? '' : 'steps not read yet';
  const pace = paceOf(remembered.progressOf(id));
  const words = paceWords(pace, { ...situation, observedAt: observedAt ?? now });
  if (words !== '' || observedAt === undefined || now - observedAt <= pace.stallMs) return words;
  const then = paceWords(pace, { ...situation, observedAt, now: observedAt });
  return `${then === '' ? '' : `${then}  `}read ${age(now - observedAt)} ago`;
}

const statusReads = ({ kind, id }: Named): readonly Read[] => resourceOfKind(kind)?.watch?.status(id) ?? [];
const detailReads = ({ kind, id }: Named): readonly Read[] => resourceOfKind(kind)?.watch?.details?.(id) ?? [];
const measureReads = ({ kind, id }: Named): readonly Read[] => resourceOfKind(kind)?.watch?.measures?.(id) ?? [];

/** The state of a resource as a command says it. */
export interface LookedAt extends KnownResource {
  /** The newest held-out reward with its interval, in words. */
  readonly heldOut: string | undefined;
}

/** How much is done where so many rewards were read beside it: what has a reward is done, also if it was read later. */
export function doneWith(done: number | undefined, graded: number | undefined): number | undefined {
  return done === undefined ? undefined : Math.max(done, graded ?? 0);
}

/**
 * Reads the current state of a resource without a screen. Parts that the service does not offer are left out. The id is
 * that of the returned record, which may differ from the requested one.
 *
 * @throws ServiceError if one of the reads fails
 */
export async function lookAt(ref: ResourceRef, context: QueryContext): Promise<LookedAt> {
  // A run's record may be older than its progress: the first read with a status counts.
  const reads = new Map(
    [...detailReads(ref), ...measureReads(ref), ...statusReads(ref).toReversed()].map(read => [
      JSON.stringify(read.key),
      read,
    ]),
  );
  let refusal: unknown;
  const answers = await Promise.all(
    [...reads.values()].map(async read => {
      try {
        return await read.look(context);
      } catch (error) {
        if (mayLackPath(error)) refusal = error;
        else if (!isNotOffered(error)) throw error;
        return undefined;
      }
    }),
  );
  // If another read found it, it exists.
  if (refusal !== undefined && answers.every(answer => answer === undefined)) throw refusal;
  const said = answers.filter(answer => answer !== undefined);
  const { id = ref.id } = said.find(({ id }) => id !== undefined && id !== ref.id) ?? {};
  const known = knownResource({ ...ref, id, label: ref.label === ref.id ? id : ref.label }, said);
  const last = known.measured?.last;
  const done = doneWith(known.done, known.graded);
  return { ...known, done, heldOut: last && heldOutWords(last, context.compare?.rewardRange) };
}

/** Watched without a pin: running work, and what ended while the program was open. */
function unpinned({ statuses }: Workbench, pins: readonly ResourceRef[], now: number): KnownResource[] {
  const running = new Set(followedOf(statuses, now));
  const pinned = new Set(pins.map(keyOf));
  return statuses
    .all()
    .filter(
      known =>
        !pinned.has(keyOf(known)) &&
        (running.has(known) || (known.endedAt !== undefined && (known.gone || statuses.runs(known.kind)))),
    );
}

/** The watched resources: pins in their order, then the rest, latest start first. */
export function watchedOf(workbench: Workbench, now = Date.now()): WatchedResource[] {
  const { statuses } = workbench;
  const pins = workbench.pins.list();
  const pinned = pins.map(pin => {
    const known = statuses.get(pin) ?? unknownResource(pin, pin.label);
    return known.label === known.id ? { ...known, label: pin.label } : known;
  });
  const others = unpinned(workbench, pins, now).toSorted((left, right) =>
    (right.startedAt ?? '~').localeCompare(left.startedAt ?? '~'),
  );
  const line = (known: KnownResource, isPinned: boolean): WatchedResource => {
    return { ...known, pinned: isPinned, pace: paceOfRun(known, workbench, now) };
  };
  return [...pinned.map(known => line(known, true)), ...others.map(known => line(known, false))];
}

/** The kind of the lines of uploads, which are no resources of the service. */
export const uploadKind = 'upload';

/** The uploads of this program that run or have ended, latest first. */
function uploadsOf({ jobs }: Workbench): AnyJob[] {
  return jobs
    .list()
    .filter(({ startedAt, state }) => startedAt !== undefined && state.phase !== 'waiting')
    .toReversed();
}

function lineOfUpload(job: AnyJob): WatchedResource {
  const { phase } = job.state;
  const ended = phase === 'done' ? 'uploaded' : phase;
  return {
    ...unknownResource({ kind: uploadKind, id: job.id }, job.label),
    status: job.busy ? 'sending' : ended,
    done: job.share,
    total: 1,
    startedAt: job.startedAt === undefined ? undefined : new Date(job.startedAt).toISOString(),
    endedAt: job.endedAt,
    pinned: false,
    pace: '',
  };
}

/** The lines of Watch: the uploads of this program, then the watched resources. */
export function watchLines(workbench: Workbench): WatchedResource[] {
  return [...uploadsOf(workbench).map(lineOfUpload), ...watchedOf(workbench)];
}

/** Where a line opens; undefined for an unknown kind. */
export function placeOfLine({ jobs }: Workbench, line: WatchedResource): Place | undefined {
  if (line.kind !== uploadKind) return placeOfRef(line);
  const { id: jobId, label } = line;
  const dataset = jobs.get(jobId)?.dataset;
  return dataset === undefined
    ? { view: 'benchmark-upload', jobId, label }
    : { view: 'trajectory-upload', jobId, dataset };
}

/** How many lines there are. */
export function watchedCount(workbench: Workbench, now = Date.now()): number {
  const pins = workbench.pins.list();
  return pins.length + unpinned(workbench, pins, now).length + uploadsOf(workbench).length;
}

/**
 * A finished resource is read once after its end. An answer that arrives just after the end may have been requested
 * before it, and then still says running.
 */
function isWanted(workbench: Workbench, ref: Named, read: Read, attention: Attention): boolean {
  const known = workbench.statuses.get(ref);
  if (!hasEnded(known?.status)) return isDue(workbench, read, attention);
  const last = lastAttempt(workbench, read);
  return last === 0 || last < (known?.endedAt ?? 0) || read.saysRunning(workbench);
}

/** Reads the status with the first query that the service offers. */
async function readStatus(workbench: Workbench, ref: Named, attention: Attention, outcome: Outcome): Promise<void> {
  for (const read of statusReads(ref)) {
    if (isNotOffered(lastError(workbench, read))) continue;
    if (!isWanted(workbench, ref, read, attention) || (await outcome.of(read.fetch(workbench)))) return;
  }
}

/** Whether the details of a line are to be read: once, after the end, and what measures it whenever it has moved on. */
function lackDetails(workbench: Workbench, ref: Named, read: Read, everyMs: number): boolean {
  const { statuses } = workbench;
  const last = lastAttempt(workbench, read);
  if (last === 0 || hasEnded(statuses.get(ref)?.status)) return isWanted(workbench, ref, read, 'visible');
  if (!measureReads(ref).some(({ key }) => hashKey(key) === hashKey(read.key))) return false;
  const movedAt = statuses.movedAt(ref);
  // Without steps nothing says whether it has moved on.
  return Date.now() - last >= everyMs && (movedAt === undefined || movedAt > last);
}

/** Reads the details of a line. Curves are large, and read less often than the steps. */
async function readDetails(workbench: Workbench, ref: Named, everyMs: number, outcome: Outcome): Promise<void> {
  for (const read of [...detailReads(ref), ...measureReads(ref)]) {
    const isOffered = !isNotOffered(lastError(workbench, read));
    if (isOffered && lackDetails(workbench, ref, read, everyMs)) await outcome.of(read.fetch(workbench));
  }
}

/** @throws ServiceError if every request failed */
async function readEach(
  context: QueryContext,
  refs: readonly Named[],
  read: (ref: Named, outcome: Outcome) => Promise<void>,
): Promise<void> {
  const outcome = new Outcome(context);
  await inParallel(refs, async ref => {
    context.signal.throwIfAborted();
    await read(ref, outcome);
  });
  outcome.check();
}

/** With much to follow, a list that takes many requests is searched for new runs after so many intervals. */
const slowIntervals = 6;

/**
 * Reads the lists that may contain running resources, at list intervals, unless another view has just read them.
 *
 * @throws ServiceError if none could be read
 */
async function discover(workbench: Workbench, context: QueryContext): Promise<void> {
  const outcome = new Outcome(context);
  const running = followedOf(workbench.statuses);
  const isMany = resources.some(({ kind }) => isManyOf(kind, running));
  const lists = resources.flatMap(({ watch }) =>
    watch?.running
      ? [{ list: readOf(listQuery(workbench, watch.running)), isSlow: isMany && watch.running.costly === true }]
      : [],
  );
  await readListsOf(workbench, running, outcome);
  await Promise.all(
    lists.map(async ({ list, isSlow }) => {
      const isRested = !isSlow || Date.now() - lastAttempt(workbench, list) >= slowIntervals * workbench.poll.visibleMs;
      if (isRested && isDue(workbench, list, 'visible')) await outcome.of(list.fetch(workbench));
    }),
  );
  outcome.check();
}

/** Whether something is to be read of it: it runs, or its last state has not been read. */
function isUnfinished(workbench: Workbench, ref: Named, attention: Attention): boolean {
  if (!hasEnded(workbench.statuses.get(ref)?.status)) return true;
  const isOffered = (read: Read): boolean => !isNotOffered(lastError(workbench, read));
  const details = [...detailReads(ref), ...measureReads(ref)].filter(isOffered);
  const reads = [...statusReads(ref).filter(isOffered).slice(0, 1), ...details];
  return reads.some(read => isWanted(workbench, ref, read, attention));
}

/**
 * When a resource was last read one by one, in epoch milliseconds; 0 for never. Where an answer has to say how much is
 * done, that of a list counts only if it does.
 */
function turnReadAt(workbench: Workbench, ref: Named): number {
  const { statuses } = workbench;
  const { countsDone } = resourceOfKind(ref.kind)?.watch ?? {};
  const lastRead = statuses.lastRead(ref);
  const readAt = countsDone ? statuses.doneReadAt(ref) : lastRead?.by !== undefined ? lastRead.at : undefined;
  // A refused attempt takes its turn as well.
  return Math.max(readAt ?? 0, ...statusReads(ref).map(read => lastAttempt(workbench, read)));
}

/** Those of the resources that are read one by one in this round. */
function ofThisRound<Ref extends Named>(workbench: Workbench, refs: readonly Ref[], attention: Attention): Ref[] {
  const { statuses, poll } = workbench;
  const now = Date.now();
  return inTurn(refs, {
    // What has ended is read for the last time at once.
    readAt: ref => (hasEnded(statuses.get(ref)?.status) ? 0 : turnReadAt(workbench, ref)),
    isOver: ref => isOver(statuses.get(ref)?.status, statuses.get(ref)?.endTime, now),
    roundMs: attention === 'focused' ? poll.focusedMs : poll.visibleMs,
    poll,
    now,
  });
}

/** The lines of Watch that are to be followed. */
const unfinishedLines = (workbench: Workbench, attention: Attention): WatchedResource[] =>
  watchedOf(workbench).filter(line => !line.gone && isUnfinished(workbench, line, attention));

/** The lines of Watch. Running work is polled according to the attention, and searched for at list intervals. */
export function watchList(workbench: Workbench, attention: Attention): ListSource<WatchedResource> {
  return {
    key: watchKeys.list,
    id: keyOf,
    derived: true,
    readPage: async context => {
      workbench.recall();
      await discover(workbench, context);
      const { poll, paused } = workbench;
      const lines = unfinishedLines(workbench, attention);
      // Polling is paused, so this is a refresh by hand.
      const refs = paused ? lines : ofThisRound(workbench, lines, attention);
      const running = lines.filter(({ status }) => !hasEnded(status)).length;
      const everyMs = curveTurns * turnMs(running, poll.focusedMs, poll);
      await readEach(context, refs, async (ref, outcome) => {
        if (workbench.statuses.get(ref)?.gone) return;
        await readStatus(workbench, ref, attention, outcome);
        if (!workbench.statuses.get(ref)?.gone) await readDetails(workbench, ref, everyMs, outcome);
      });
      return wholePage(watchedOf(workbench));
    },
    activity: rows => (rows.some(row => isRunning(row.status) || row.isNew) ? 'running' : 'open'),
  };
}

/** Whether something on screen polls it: if it is overdue, nothing does. */
function isPolledInView({ cache, statuses, poll }: Workbench, ref: Named, now: number): boolean {
  const last = statuses.lastRead(ref);
  const query = last?.by === undefined ? undefined : cache.getQueryCache().get(last.by);
  return query?.isActive() === true && now - (last?.at ?? 0) < poll.visibleMs * overdueIntervals;
}

/** What the background reads: unfinished resources that nothing on screen polls. */
function unattended(workbench: Workbench, now: number): { readonly pinned: Named[]; readonly running: Named[] } {
  const { statuses, pins, cache } = workbench;
  if (cache.getQueryCache().find({ queryKey: watchKeys.list })?.isActive()) return { pinned: [], running: [] };
  const pinned = pins.list().filter(pin => {
    const known = statuses.get(pin);
    if (known?.gone || hasEnded(known?.status)) return false;
    // A resource without a status after a read will not get one.
    return known?.status !== undefined || statuses.lastRead(pin)?.by === undefined;
  });
  const running = followedOf(statuses, now).filter(known => !pins.has(known.kind, known.id));
  const isUnread = (ref: Named): boolean => !isPolledInView(workbench, ref, now);
  return { pinned: pinned.filter(isUnread), running: running.filter(isUnread) };
}

/** Polls running work whatever is on screen, so that its end is announced. Returns the number of requests. */
export function backgroundWatch(workbench: Workbench): LiveQuery<number> {
  return {
    key: watchKeys.background,
    activity: () => 'open',
    read: async context => {
      const { pinned, running } = unattended(workbench, Date.now());
      // The single reads below report what the service refuses.
      await readListsOf(workbench, running, new Outcome(context));
      const refs = ofThisRound(workbench, [...pinned, ...running], 'visible');
      await readEach(context, refs, (ref, outcome) => readStatus(workbench, ref, 'visible', outcome));
      return refs.length;
    },
  };
}
