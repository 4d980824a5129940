/**
 * Keeps section counts and running resources consistent with all responses, because other programs also start and
 * delete resources. If a response contains a resource that its list lacks, the list is read again at once. If a list no
 * longer contains a known resource, that resource is read, so that its end is not missed.
 */
import { hashKey } from '@tanstack/react-query';
import { minOf } from '../base/many.ts';
import { isRunning } from '../contract/status.ts';
import { overdueIntervals } from '../queries/freshness.ts';
import { listQuery } from '../queries/lists/list-query.ts';
import type { ListSource } from '../queries/lists/list-source.ts';
import type { ListReader } from '../queries/lists/reader.ts';
import { fetchOnce } from '../queries/live-query.ts';
import { type KnownResource, keyOf } from '../queries/statuses/known-resource.ts';
import { isAbsent } from '../service/errors.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { resourceOfKind, resources } from './catalogue.ts';
import type { Resource } from './define.ts';

/** A list that has a section count. */
export interface CountedList {
  readonly resource: Resource;
  readonly source: ListSource<object>;
  /**
   * Whether its rows may be running. The frame counts running rows, so the list is read even if its section is off
   * screen.
   */
  readonly runs: boolean;
}

export const countedLists: readonly CountedList[] = resources
  .filter(({ needs }) => needs === undefined)
  .map(resource => ({ resource, source: resource.list({}), runs: resource.watch?.runs === true }));

/** The poll interval, in visible intervals, for a count whose list has no running rows or takes many requests. */
export const countIntervals = 6;
/** The poll interval for a count, in visible intervals. */
export const intervalsOf = ({ source, runs }: CountedList): number => (source.costly || !runs ? countIntervals : 3);
/** Longer lists are not kept in memory just for their count; they are counted again when on screen. */
export const maxRows = 5_000;

/** Whether the first view is still loading: counts must not delay it. */
export const isOpening = ({ poll, openedAt }: Workbench, now: number): boolean => now - openedAt < poll.visibleMs / 2;

export class Counts {
  readonly #workbench: Workbench;
  /** Resources that have already caused a read of their list, which may never contain them. */
  readonly #triedInList = new Set<string>();
  /** Resources that have been read individually because their list lacked them. They may still exist. */
  readonly #readAlone = new Set<string>();
  /** The rows of a list when its tallies were last checked. */
  readonly #tallied = new WeakMap<ListReader<never>, readonly object[]>();

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
  }

  /** Reacts to all responses until the returned function is called. */
  follow(): () => void {
    const { cache, statuses } = this.#workbench;
    const lists = new Map(countedLists.map(list => [hashKey(list.source.key), list]));
    const stops = [
      statuses.subscribe(() => this.#findUncounted()),
      cache.getQueryCache().subscribe(event => {
        if (event.type !== 'updated' || event.action.type !== 'success') return;
        const list = lists.get(event.query.queryHash);
        if (list) this.#findMissing(list);
        if (list) this.#followTally(list);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Reads the lists that lack a resource found in another response. */
  #findUncounted(): void {
    if (this.#workbench.paused) return;
    const all = this.#workbench.statuses.all();
    for (const list of countedLists) {
      const uncounted = this.#uncountedIn(list, all);
      if (uncounted.length === 0) continue;
      for (const known of uncounted) this.#triedInList.add(keyOf(known));
      this.#read(list);
    }
  }

  #uncountedIn({ resource, source }: CountedList, all: readonly KnownResource[]): readonly KnownResource[] {
    const { lists, statuses, openedAt } = this.#workbench;
    const isNew = (known: KnownResource) => !known.gone && !this.#triedInList.has(keyOf(known));
    const ofKind = all.filter(known => known.kind === resource.kind && isNew(known));
    if (ofKind.length === 0) return ofKind;
    const count = lists.countOf(source.key);
    const reader = lists.find(source.key);
    // Remembered rows are never known to be all of them, but have no further page.
    const isRead = reader ? reader.extent.complete && reader.extent.dropped === 0 : count?.complete;
    const since = Math.max(openedAt, reader?.polledAt ?? 0);
    return ofKind.filter(known => {
      const { kind, id, status } = known;
      if (count ? !isRead : !(statuses.runs(kind) && isRunning(status))) return false;
      return !reader?.has(id) && (statuses.lastRead(known)?.at ?? 0) >= since;
    });
  }

  /** Reads resources that are watched or on screen but no longer in their list. */
  #findMissing({ resource: { kind, get }, source }: CountedList): void {
    const { lists, statuses } = this.#workbench;
    const reader = lists.find(source.key);
    if (!reader?.extent.complete || kind === undefined) return;
    const all = statuses.all();
    this.#forgetUnknown(kind, all);
    for (const known of all) {
      if (known.kind !== kind || known.gone) continue;
      const key = keyOf(known);
      if (reader.has(known.id)) {
        this.#readAlone.delete(key);
        this.#triedInList.delete(key);
        continue;
      }
      if (this.#readAlone.has(key)) continue;
      if ((statuses.lastRead(known)?.at ?? 0) >= reader.polledAt || !this.#matters(known)) continue;
      this.#readAlone.add(key);
      const [query = get?.(known.id)] = resourceOfKind(kind)?.watch?.status?.(known.id) ?? [];
      if (!query) continue;
      // After an error, try again with the list's next response.
      void fetchOnce(this.#workbench, query).catch(error => {
        if (!isAbsent(error)) this.#readAlone.delete(key);
      });
    }
  }

  /** Drops resources that the status store no longer knows. */
  #forgetUnknown(kind: string, all: readonly KnownResource[]): void {
    if (this.#readAlone.size + this.#triedInList.size === 0) return;
    const known = new Set(all.map(keyOf));
    for (const keys of [this.#readAlone, this.#triedInList]) {
      for (const key of keys) if (key.startsWith(`${kind} `) && !known.has(key)) keys.delete(key);
    }
  }

  /** Reads a list again if a parent row's tally has changed, e.g. a benchmark's number of runs. */
  #followTally({ resource: { tally }, source }: CountedList): void {
    const { lists } = this.#workbench;
    const reader = lists.find(source.key);
    const counted = tally && countedLists.find(({ resource }) => resource.kind === tally.kind);
    if (!reader || !counted) return;
    const before = this.#tallied.get(reader) ?? [];
    const { rows } = reader.data;
    this.#tallied.set(reader, rows);
    const [old, fresh] = difference<object>(before, rows);
    const tallies = new Map(old.map(row => [source.id(row), tally.of(row)]));
    const changed = fresh.some(row => tallies.has(source.id(row)) && tallies.get(source.id(row)) !== tally.of(row));
    const isNewer = reader.polledAt > (lists.find(counted.source.key)?.polledAt ?? 0);
    if (changed && isNewer && !isOpening(this.#workbench, Date.now())) this.#read(counted);
  }

  /** Whether it is pinned, running, or on screen. */
  #matters({ kind, id, status, endedAt }: KnownResource): boolean {
    const { cache, statuses, pins } = this.#workbench;
    if (pins.has(kind, id) || endedAt !== undefined || (statuses.runs(kind) && isRunning(status))) return true;
    const isAbout = (about: { readonly kind: string; readonly id: string } | undefined): boolean =>
      about?.kind === kind && about.id === id;
    return cache.getQueryCache().findAll({ type: 'active', predicate: ({ meta }) => isAbout(meta?.about) }).length > 0;
  }

  #read({ source }: CountedList): void {
    // After an error, the count stays on screen with its age.
    void fetchOnce(this.#workbench, listQuery(this.#workbench, source)).catch(() => {});
  }
}

/** The parts of two arrays between their common beginning and end. */
function difference<Item>(left: readonly Item[], right: readonly Item[]): [readonly Item[], readonly Item[]] {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < most - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  return [left.slice(start, left.length - end), right.slice(start, right.length - end)];
}

/** When the longest overdue section count was last read, in epoch milliseconds; undefined if none is overdue. */
export function oldestCount({ lists, poll }: Workbench, now: number): number | undefined {
  const old = countedLists.flatMap(list => {
    const { readAt } = lists.countOf(list.source.key) ?? {};
    return readAt !== undefined && now - readAt > overdueIntervals * intervalsOf(list) * poll.visibleMs ? [readAt] : [];
  });
  return old.length === 0 ? undefined : minOf(old);
}
