/** Messages about a list. Pure. */

import type { Freshness } from '../../../queries/freshness.ts';
import { restKey } from '../../../queries/lists/list-source.ts';
import type { RowsAge } from '../../../queries/lists/reader.ts';
import { age } from '../../../text/time.ts';
import type { PagedList } from '../../data/use-list.ts';
import { listCommands } from '../../keys/general.ts';
import type { KeyOf } from '../../keys/router.tsx';

type Listed = PagedList<unknown>;

/** `12,400`. */
const groupDigits = (count: number): string => count.toLocaleString('en');

/** `1 row`, `250 rows`. */
export const rowCount = (count: number): string => `${groupDigits(count)} row${count === 1 ? '' : 's'}`;

/** Why the list may be incomplete. */
export function listNotes(
  { dropped, repeated, notes }: Pick<Listed, 'dropped' | 'repeated' | 'notes'>,
  keyOf: KeyOf,
): string[] {
  return [
    dropped === 0 ? '' : `${rowCount(dropped)} could not be read`,
    repeated === 0 ? '' : `${rowCount(repeated)} with a duplicate id left out`,
    ...notes.map(note => note.replace(restKey, keyOf(listCommands.bottom))),
  ].filter(Boolean);
}

/** How the rows are filtered and sorted. */
interface ListArrangement extends Pick<Listed, 'reading' | 'stop' | 'hasMore' | 'sortedAs'> {
  /** Rows read so far. */
  readonly read: number;
  readonly filtered: boolean;
  /** Whether they are sorted by a column that may have unknown values. */
  readonly sorted: boolean;
}

export function listFacts(arrangement: ListArrangement, keyOf: KeyOf): string[] {
  const { reading, stop, hasMore, sortedAs, read, filtered, sorted } = arrangement;
  if (reading !== undefined && hasMore) return [`reading the rest…${stop ? ` ${keyOf(listCommands.stop)} stops` : ''}`];
  if (sorted && sortedAs === 'pending') return ['asking the service to sort…'];
  const byService = sorted && sortedAs === 'service';
  const isPartial = hasMore && (filtered || (sorted && !byService));
  const among = sorted && !byService ? 'sorted among' : 'of';
  return [
    ...(byService ? ["in the service's order"] : []),
    ...(isPartial ? [`${among} the ${groupDigits(read)} read; ${keyOf(listCommands.bottom)} reads the rest`] : []),
  ];
}

interface EmptyList {
  readonly loaded: boolean;
  /** Shown until the first response. */
  readonly asking: string;
  readonly filter: string;
  /** Why the filter could not be applied; shown below the rows. */
  readonly notice?: string | undefined;
  readonly read: number;
  /** How many rows could not be read. */
  readonly dropped: number;
  readonly hasMore: boolean;
}

/** Shown instead of rows. */
export function describeEmptyList(list: EmptyList, words: string, keyOf: KeyOf): string {
  const { loaded, asking, filter, notice, read, dropped, hasMore } = list;
  if (!loaded) return asking;
  if (read === 0 && dropped > 0)
    return `${rowCount(dropped)} could not be read${hasMore ? '' : ', and there are no others'}`;
  if (filter === '' || read === 0) return words;
  const clears = `${keyOf(listCommands.clearFilter)} clears the filter`;
  if (notice !== undefined) return clears;
  const among = hasMore ? ` of the ${groupDigits(read)} read` : '';
  return `No row${among} matches /${filter}; ${hasMore ? `${keyOf(listCommands.bottom)} reads the rest, ` : ''}${clears}`;
}

/** The freshness of rows that are read one by one, the oldest one at `at`. Some may be from an earlier session. */
export function withAge(freshness: Freshness, at: number | undefined): Freshness {
  if (freshness.kind === 'fresh') return { ...freshness, oldestAt: at };
  if (at === undefined || ('at' in freshness && freshness.at !== undefined)) return freshness;
  return freshness.kind === 'loading' ? { kind: 'stale', at } : { ...freshness, at };
}

/** Rows that are this much older than the list are reported; in milliseconds. */
const noteworthyMs = 25_000;

/** Whether rows are much older than the last response for their list. */
function isOutdated(old: RowsAge | undefined, freshness: Freshness): old is RowsAge {
  const at = 'at' in freshness ? freshness.at : undefined;
  return old !== undefined && at !== undefined && at - old.readAt > noteworthyMs;
}

/** The freshness of a list with these rows in view: an outdated row is never called live. */
export function shownFreshness(freshness: Freshness, old: RowsAge | undefined): Freshness {
  return 'at' in freshness && isOutdated(old, freshness) ? { ...freshness, at: old.readAt } : freshness;
}

/** `rows 201–400 read 3m ago`; without numbers if the rows are not in list order. */
export function describeRowsAge(old: RowsAge | undefined, freshness: Freshness, inOrder: boolean, now: number): string {
  if (!isOutdated(old, freshness)) return '';
  return `${inOrder ? `rows ${old.from}–${old.to}` : 'some of these rows'} read ${age(now - old.readAt)} ago`;
}
