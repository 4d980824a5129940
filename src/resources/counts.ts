/**
 * The counts of the sections, and what runs anywhere on the service. Other programs start and delete resources too: a list
 * that is counted is read at once if another answer is about a resource that it lacks. What a list no longer has is asked
 * about, so that its end is not missed.
 */
import { hashKey } from '@tanstack/react-query';
import { isRunning } from '../contract/status.ts';
import { overdueIntervals } from '../queries/freshness.ts';
import type { ListSource } from '../queries/lists/list.ts';
import { listQuery } from '../queries/lists/list-query.ts';
import type { ListReader } from '../queries/lists/reader.ts';
import { fetchOnce } from '../queries/live-query.ts';
import { type KnownResource, keyOf } from '../queries/statuses/store.ts';
import type { Workbench } from '../queries/workbench.ts';
import { isGone, isNotOffered } from '../service/errors.ts';
import { resourceOfKind, resources } from './catalogue.ts';
import type { Resource } from './define.ts';

/** A list whose rows a section counts. */
export interface CountedList {
  readonly resource: Resource;
  readonly source: ListSource<object>;
  /** Something runs there, of which the frame says how many: it is read whether or not its count is on screen. */
  readonly runs: boolean;
}

export const countedLists: readonly CountedList[] = resources
  .filter(({ needs }) => needs === undefined)
  .map(resource => ({ resource, source: resource.list({}), runs: resource.watch?.runs === true }));

/**
 * A count is read again after so many intervals of what is visible; more seldom where nothing runs, and a list that takes
 * many requests.
 */
export const intervalsOf = ({ source, runs }: CountedList): number => (source.costly || !runs ? 6 : 3);
/** A list that is longer is not kept in memory for its count: it is counted again when it is shown. */
export const mostRows = 5_000;

/** What the program opens with comes first. */
export const isOpening = ({ poll, openedAt }: Workbench, now: number): boolean => now - openedAt < poll.visibleMs / 2;

export class Counts {
  readonly #workbench: Workbench;
  /** Resources for which their list was read because it lacked them: it may not hold them at all. */
  readonly #soughtInList = new Set<string>();
  /** Resources that were asked about because their list lacked them: they may be there all the same. */
  readonly #askedAbout = new Set<string>();
  /** The rows of a list when they last said how many of another kind they have. */
  readonly #tallied = new WeakMap<ListReader<never>, readonly object[]>();

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
  }

  /** Follows what is read of the resources until the returned function is called. */
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

  /** Reads the lists that lack something that another answer is about. */
  #findUncounted(): void {
    if (this.#workbench.paused) return;
    const all = this.#workbench.statuses.all();
    for (const list of countedLists) {
      const uncounted = this.#uncountedIn(list, all);
      if (uncounted.length === 0) continue;
      for (const known of uncounted) this.#soughtInList.add(keyOf(known));
      this.#read(list);
    }
  }

  #uncountedIn({ resource, source }: CountedList, all: readonly KnownResource[]): readonly KnownResource[] {
    const { lists, statuses, openedAt } = this.#workbench;
    const isNew = (known: KnownResource) => !known.gone && !this.#soughtInList.has(keyOf(known));
    const ofKind = all.filter(known => known.kind === resource.kind && isNew(known));
    if (ofKind.length === 0) return ofKind;
    const count = lists.countOf(source.key);
    const reader = lists.find(source.key);
    const since = Math.max(openedAt, reader?.polledAt ?? 0);
    return ofKind.filter(known => {
      const { kind, id, status } = known;
      if (count ? !count.complete : !(statuses.runs(kind) && isRunning(status))) return false;
      return !reader?.hasId(id) && (statuses.lastRead(known)?.at ?? 0) >= since;
    });
  }

  /** Asks about what is watched or on screen and is not in its list any more. */
  #findMissing({ resource: { kind, get }, source }: CountedList): void {
    const { lists, statuses } = this.#workbench;
    const reader = lists.find(source.key);
    if (!reader?.extent.complete || kind === undefined) return;
    const all = statuses.all();
    this.#forgetUnknown(kind, all);
    for (const known of all) {
      if (known.kind !== kind || known.gone) continue;
      const key = keyOf(known);
      if (reader.hasId(known.id)) {
        this.#askedAbout.delete(key);
        this.#soughtInList.delete(key);
        continue;
      }
      if (this.#askedAbout.has(key)) continue;
      if ((statuses.lastRead(known)?.at ?? 0) >= reader.polledAt || !this.#matters(known)) continue;
      this.#askedAbout.add(key);
      const [query = get?.(known.id)] = resourceOfKind(kind)?.watch?.status(known.id) ?? [];
      if (!query) continue;
      // If it fails, the next answer of the list asks again.
      void fetchOnce(this.#workbench, query).catch(error => {
        if (!isGone(error) && !isNotOffered(error)) this.#askedAbout.delete(key);
      });
    }
  }

  /** Drops what was asked about that nothing knows any more. */
  #forgetUnknown(kind: string, all: readonly KnownResource[]): void {
    if (this.#askedAbout.size + this.#soughtInList.size === 0) return;
    const known = new Set(all.map(keyOf));
    for (const asked of [this.#askedAbout, this.#soughtInList]) {
      for (const key of asked) if (key.startsWith(`${kind} `) && !known.has(key)) asked.delete(key);
    }
  }

  /** Reads the list of what belongs to the rows of another one, as these say that there is more or less of it. */
  #followTally({ resource: { tally }, source }: CountedList): void {
    const { lists } = this.#workbench;
    const reader = lists.find(source.key);
    const counted = tally && countedLists.find(({ resource }) => resource.kind === tally.kind);
    if (!reader || !counted) return;
    const before = this.#tallied.get(reader) ?? [];
    const { rows } = reader.data;
    this.#tallied.set(reader, rows);
    const [old, fresh] = difference<object>(before, rows);
    const counts = new Map(old.map(row => [source.id(row), tally.of(row)]));
    const changed = fresh.some(row => counts.has(source.id(row)) && counts.get(source.id(row)) !== tally.of(row));
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
    // If it fails, the count keeps its age, which is shown.
    void fetchOnce(this.#workbench, listQuery(this.#workbench, source)).catch(() => {});
  }
}

/** What two arrays hold between the beginning and the end that they share. */
function difference<Item>(left: readonly Item[], right: readonly Item[]): [readonly Item[], readonly Item[]] {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < most - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  return [left.slice(start, left.length - end), right.slice(start, right.length - end)];
}

/** When the count of a list was read that is older than it should be; epoch milliseconds, undefined for none. */
export function oldestCount({ lists, poll }: Workbench, now: number): number | undefined {
  const old = countedLists.flatMap(list => {
    const { readAt } = lists.countOf(list.source.key) ?? {};
    return readAt !== undefined && now - readAt > overdueIntervals * intervalsOf(list) * poll.visibleMs ? [readAt] : [];
  });
  return old.length === 0 ? undefined : Math.min(...old);
}
