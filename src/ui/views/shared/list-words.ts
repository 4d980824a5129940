/** What is said of a list besides its rows. Pure. */
import type { Freshness } from '../../../queries/freshness.ts';
import type { RowsAge } from '../../../queries/lists/reader.ts';
import type { ListPages } from '../../../queries/use-list.ts';
import { age } from '../../../text/time.ts';

type Listed = ListPages<unknown>;

/** `12,400`. */
const grouped = (count: number): string => count.toLocaleString('en');

/** `1 row`, `250 rows`. */
export const rowCount = (count: number): string => `${grouped(count)} row${count === 1 ? '' : 's'}`;

/** Why the list may hold less than there is. */
export function listNotes({
  dropped,
  repeated,
  gapAfter,
  notes,
}: Pick<Listed, 'dropped' | 'repeated' | 'gapAfter' | 'notes'>): string[] {
  return [
    dropped === 0 ? '' : `${rowCount(dropped)} could not be read`,
    repeated === 0 ? '' : `${rowCount(repeated)} with a duplicate id left out`,
    gapAfter === undefined
      ? ''
      : `New rows came faster than they could be read: some after row ${gapAfter} are missing`,
    ...notes,
  ].filter(Boolean);
}

/** What is to be known of the rows as they are arranged. */
export interface ListArrangement extends Pick<Listed, 'reading' | 'hasMore' | 'sortedAs'> {
  /** Rows that were read. */
  readonly read: number;
  readonly filtered: boolean;
  /** Sorted by a column of which not every value may be known. */
  readonly sorted: boolean;
}

export function listFacts({ reading, hasMore, sortedAs, read, filtered, sorted }: ListArrangement): string[] {
  if (reading !== undefined) return ['reading the rest… esc stops'];
  if (sorted && sortedAs === 'asked') return ['asking the service for this order…'];
  const byService = sorted && sortedAs === 'service';
  const isPartial = hasMore && (filtered || (sorted && !byService));
  const among = sorted && !byService ? 'sorted among' : 'of';
  return [
    ...(byService ? ["in the service's order"] : []),
    ...(isPartial ? [`${among} the ${grouped(read)} read; G reads the rest`] : []),
  ];
}

interface EmptyList {
  readonly loaded: boolean;
  /** What is said while it is not. */
  readonly asking: string;
  readonly filter: string;
  /** What the filter could not do. */
  readonly notice?: string | undefined;
  readonly read: number;
  readonly hasMore: boolean;
}

/** What is said in place of the rows. */
export function emptyListWords({ loaded, asking, filter, notice, read, hasMore }: EmptyList, words: string): string {
  if (!loaded) return asking;
  if (filter === '' || read === 0) return words;
  if (notice !== undefined) return `${notice} esc clears the filter`;
  const among = hasMore ? ` of the ${grouped(read)} read` : '';
  return `No row${among} matches /${filter}; ${hasMore ? 'G reads the rest, ' : ''}esc clears the filter`;
}

/** The freshness of rows that were read before anything was asked, as long as there is no answer. */
export function withAge(freshness: Freshness, at: number | undefined): Freshness {
  if (at === undefined || ('at' in freshness && freshness.at !== undefined)) return freshness;
  return freshness.kind === 'loading' ? { kind: 'stale', at } : { ...freshness, at };
}

/** Rows must be older than the list by so many milliseconds before it is worth a word. */
const noteworthyMs = 25_000;

/** Whether rows are much older than the last answer about their list. */
export function isOutdated(old: RowsAge | undefined, freshness: Freshness): old is RowsAge {
  const at = 'at' in freshness ? freshness.at : undefined;
  return old !== undefined && at !== undefined && at - old.readAt > noteworthyMs;
}

/** The freshness of a list of which these rows are shown: no row is called live that is not. */
export function shownFreshness(freshness: Freshness, old: RowsAge | undefined): Freshness {
  return 'at' in freshness && isOutdated(old, freshness) ? { ...freshness, at: old.readAt } : freshness;
}

/** `rows 201–400 read 3m ago`; without numbers where the rows are not shown in the order of the list. */
export function ageWords(old: RowsAge | undefined, freshness: Freshness, inOrder: boolean, now: number): string {
  if (!isOutdated(old, freshness)) return '';
  return `${inOrder ? `rows ${old.from}–${old.to}` : 'some of these rows'} read ${age(now - old.readAt)} ago`;
}

/** Named in a sentence up to so many; the rest is counted. */
const named = 6;

/** The names that a sentence has no room for, a line each and at most `most` of them; none if it names all. */
export function listOf(names: readonly string[], most: number): string[] {
  if (names.length <= named) return [];
  if (names.length <= most) return [...names];
  return [...names.slice(0, most - 1), `and ${names.length - most + 1} more`];
}

export function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, named).join(', ');
  return names.length > named ? `${shown} and ${names.length - named} more` : shown;
}
