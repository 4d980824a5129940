/**
 * What is watched: everything pinned, everything that runs, and what ended while the program was open. The lines are made
 * of what is known; reading goes through the query cache, so that what a view is polling already is not asked for again.
 */

import { hasEnded, isRunning } from '../contract/status.ts';
import { type ListSource, wholePage } from '../queries/lists/list.ts';
import { paceOf, paceWords } from '../queries/pace.ts';
import type { Attention } from '../queries/polling.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { RememberedStore, ResourceRef } from '../queries/remembered/store.ts';
import { type KnownResource, knownResource, runningOf, unknownResource } from '../queries/statuses/store.ts';
import { listQuery } from '../queries/use-list.ts';
import type { LiveQuery } from '../queries/use-live.ts';
import type { Workbench } from '../queries/workbench.tsx';
import { isNotOffered, mayLackPath } from '../service/errors.ts';
import { resourceOfKind, resources } from './catalogue.ts';
import { isDue, lastAttempt, lastError, Outcome, type Read, readOf } from './watching.ts';

/** A line of Watch. */
export interface WatchedResource extends KnownResource {
  readonly pinned: boolean;
  /** How fast it advances and what is left, in words; empty if that is not known. */
  readonly pace: string;
}

export const watchKeys = { list: ['watch'], background: ['watching'] } as const;

/** Resources asked for at once. */
const atOnce = 4;
/** What a view is polling, but has not read for so many intervals, is not being polled. */
const overdueIntervals = 2.5;

type Named = Pick<KnownResource, 'kind' | 'id'>;

const keyOf = ({ kind, id }: Named): string => `${kind} ${id}`;

function paceOfRun({ kind, id, status, done, total }: KnownResource, memory: RememberedStore, now: number): string {
  if (!resourceOfKind(kind)?.watch?.recordsProgress || !isRunning(status)) return '';
  return paceWords(paceOf(memory.progressOf(id)), { status, completed: done, total, now });
}

const statusReads = ({ kind, id }: Named): readonly Read[] => resourceOfKind(kind)?.watch?.status(id) ?? [];
const detailReads = ({ kind, id }: Named): readonly Read[] => resourceOfKind(kind)?.watch?.details?.(id) ?? [];

/**
 * How a resource is now, asked without a screen. What the service does not offer is left out. The id is that of the
 * record that came, which may be another than was asked for.
 *
 * @throws ServiceError if one of the reads fails
 */
export async function lookAt(ref: ResourceRef, context: QueryContext): Promise<KnownResource> {
  // The record of a run may be older than its progress: the status is that of the first read that has it.
  const reads = new Map(
    [...detailReads(ref), ...statusReads(ref).toReversed()].map(read => [JSON.stringify(read.key), read]),
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
  // What another read has found is there.
  if (refusal !== undefined && answers.every(answer => answer === undefined)) throw refusal;
  const said = answers.filter(answer => answer !== undefined);
  const { id = ref.id } = said.find(({ id }) => id !== undefined && id !== ref.id) ?? {};
  return knownResource({ ...ref, id, label: ref.label === ref.id ? id : ref.label }, said);
}

/** What is watched without being pinned: what runs, and what ended while the program was open. */
function unpinned({ statuses }: Workbench, pins: readonly ResourceRef[], now: number): KnownResource[] {
  const running = new Set(runningOf(statuses, now));
  const pinned = new Set(pins.map(keyOf));
  return statuses
    .all()
    .filter(known => !pinned.has(keyOf(known)) && (running.has(known) || known.endedAt !== undefined));
}

/** What is watched: first what is pinned, in the order of the pins, then the rest, what began last first. */
export function watchedOf(workbench: Workbench, now = Date.now()): WatchedResource[] {
  const { statuses, remembered } = workbench;
  const pins = workbench.pins.list();
  const pinned = pins.map(pin => {
    const known = statuses.get(pin) ?? unknownResource(pin, pin.label);
    return known.label === known.id ? { ...known, label: pin.label } : known;
  });
  const others = unpinned(workbench, pins, now).toSorted((left, right) =>
    (right.startedAt ?? '~').localeCompare(left.startedAt ?? '~'),
  );
  const line = (known: KnownResource, isPinned: boolean): WatchedResource => {
    return { ...known, pinned: isPinned, pace: paceOfRun(known, remembered, now) };
  };
  return [...pinned.map(known => line(known, true)), ...others.map(known => line(known, false))];
}

/** How many lines that are, without opening the store of what was seen: the first frame counts them. */
export function watchedCount(workbench: Workbench, now = Date.now()): number {
  const pins = workbench.pins.known();
  return pins.length + unpinned(workbench, pins, now).length;
}

/**
 * What is over changes no more: it is read where it was not read since it ended. An answer that arrives just after the end
 * may have been asked for before it: then it says that it runs, and how far it was.
 */
function isWanted(workbench: Workbench, ref: Named, read: Read, attention: Attention): boolean {
  const known = workbench.statuses.get(ref);
  if (!hasEnded(known?.status)) return isDue(workbench, read, attention);
  const last = lastAttempt(workbench, read);
  return last === 0 || last < (known?.endedAt ?? 0) || read.saysRunning(workbench);
}

/** Reads the status by the first query that the service offers. */
async function readStatus(workbench: Workbench, ref: Named, attention: Attention, outcome: Outcome): Promise<void> {
  for (const read of statusReads(ref)) {
    if (isNotOffered(lastError(workbench, read))) continue;
    if (!isWanted(workbench, ref, read, attention) || (await outcome.of(read.fetch(workbench)))) return;
  }
}

/** Reads what a line shows besides the status. */
async function readDetails(workbench: Workbench, ref: Named, attention: Attention, outcome: Outcome): Promise<void> {
  for (const read of detailReads(ref)) {
    const isOffered = !isNotOffered(lastError(workbench, read));
    if (isOffered && isWanted(workbench, ref, read, attention)) await outcome.of(read.fetch(workbench));
  }
}

/** @throws ServiceError if everything that was asked for failed */
async function readEach(refs: readonly Named[], read: (ref: Named, outcome: Outcome) => Promise<void>) {
  const outcome = new Outcome();
  const waiting = [...refs];
  const next = async (): Promise<void> => {
    for (let ref = waiting.shift(); ref; ref = waiting.shift()) await read(ref, outcome);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  outcome.check();
}

/**
 * Reads the lists in which running resources are found, as often as lists are read, unless another view has just read
 * them.
 *
 * @throws ServiceError if none of them could be read
 */
async function discover(workbench: Workbench): Promise<void> {
  const outcome = new Outcome();
  const lists = resources.flatMap(({ watch }) => (watch?.running ? [readOf(listQuery(workbench, watch.running))] : []));
  await Promise.all(
    lists.map(async list => {
      if (isDue(workbench, list, 'visible')) await outcome.of(list.fetch(workbench));
    }),
  );
  outcome.check();
}

/** The lines of Watch. What runs is read as often as the attention says, and looked for as often as lists are read. */
export function watchList(workbench: Workbench, attention: Attention): ListSource<WatchedResource> {
  return {
    key: watchKeys.list,
    id: keyOf,
    readPage: async () => {
      workbench.recall();
      await discover(workbench);
      await readEach(watchedOf(workbench), async (ref, outcome) => {
        if (workbench.statuses.get(ref)?.gone) return;
        await readStatus(workbench, ref, attention, outcome);
        if (!workbench.statuses.get(ref)?.gone) await readDetails(workbench, ref, attention, outcome);
      });
      return wholePage(watchedOf(workbench));
    },
    activity: rows => (rows.some(row => isRunning(row.status)) ? 'running' : 'open'),
  };
}

/** Whether something on screen keeps asking about it. */
function isPolledInView({ cache, statuses, poll }: Workbench, ref: Named, now: number): boolean {
  const last = statuses.lastRead(ref);
  const query = last?.by === undefined ? undefined : cache.getQueryCache().get(last.by);
  return query?.isActive() === true && now - (last?.at ?? 0) < poll.visibleMs * overdueIntervals;
}

/** What is read in the background: what is not over, and what nothing on screen asks about. */
function unattended(workbench: Workbench, now: number): Named[] {
  const { statuses, pins, cache } = workbench;
  if (cache.getQueryCache().find({ queryKey: watchKeys.list })?.isActive()) return [];
  const pinned: readonly ResourceRef[] = pins.list().filter(pin => {
    const known = statuses.get(pin);
    if (known?.gone || hasEnded(known?.status)) return false;
    // What has no status after it was read will not get one.
    return known?.status !== undefined || statuses.lastRead(pin)?.by === undefined;
  });
  const running = runningOf(statuses, now).filter(known => !pins.has(known.kind, known.id));
  return [...pinned, ...running].filter(ref => !isPolledInView(workbench, ref, now));
}

/** Watches over what runs, whatever is on screen, so that its end is announced. Returns how much was asked for. */
export function backgroundWatch(workbench: Workbench): LiveQuery<number> {
  return {
    key: watchKeys.background,
    activity: () => 'open',
    read: async () => {
      const refs = unattended(workbench, Date.now());
      await readEach(refs, (ref, outcome) => readStatus(workbench, ref, 'visible', outcome));
      return refs.length;
    },
  };
}
