/**
 * Unwraps services' lists, and keeps their cursors and counts of unreadable rows. Uses no schemas, which are slow
 * to create.
 */
import { isRecord, own } from '../base/own-property.ts';
import { counted } from '../text/numbers.ts';

/** The names under which services wrap a list, the document's first. */
const wrappings = ['items', 'data', 'results'] as const;

/** Unwraps a list; null counts as empty. Undefined if the body has no list. */
export function listIn(body: unknown): readonly unknown[] | undefined {
  if (Array.isArray(body)) return body;
  if (!isRecord(body)) return undefined;
  const name =
    wrappings.find(each => Array.isArray(own(body, each))) ?? wrappings.find(each => Object.hasOwn(body, each));
  const list = name === undefined ? undefined : own(body, name);
  if (list === null) return [];
  return Array.isArray(list) ? list : undefined;
}

const unreadable = new WeakMap<object, number>();
const cursors = new WeakMap<object, string>();
const continuedPages = new WeakSet<object>();

interface PageNote {
  /** How many rows could not be read. */
  readonly dropped: number;
  /** The cursor of the next page: null or empty at the end of the list. */
  readonly cursor: string | null;
  /** Whether the service has more rows; it may report more without a cursor. */
  readonly hasMore?: boolean;
}

/** Records the state of a page, or of the part of a list read so far. */
export function notePage(items: object, { dropped, cursor, hasMore = Boolean(cursor) }: PageNote): void {
  unreadable.set(items, dropped);
  if (cursor) cursors.set(items, cursor);
  if (hasMore) continuedPages.add(items);
}

/** Whether both lists lack the same number of rows, and both continue or both end. */
export const areReadAlike = (left: object, right: object): boolean =>
  unreadableIn(left) === unreadableIn(right) && hasMoreAfter(left) === hasMoreAfter(right);

/** Concatenates lists and adds up their unreadable rows. */
export function joinedRows<Row>(lists: readonly (readonly Row[])[]): Row[] {
  const joined = lists.flat();
  unreadable.set(
    joined,
    lists.reduce((sum, list) => sum + unreadableIn(list), 0),
  );
  return joined;
}

/** Copies the count of unreadable rows to rows derived from `source`. */
export function rowsMadeOf<Row>(source: readonly unknown[], made: Row[]): Row[] {
  unreadable.set(made, unreadableIn(source));
  return made;
}

/** The cursor of the next page; null at the end of the list, or if the service sent none. */
export function cursorAfter(items: readonly unknown[]): string | null {
  return cursors.get(items) ?? null;
}

/** Whether the service has more rows, even if it sent no cursor. */
export function hasMoreAfter(items: object): boolean {
  return continuedPages.has(items);
}

/** The number of unreadable rows in an array or curve. */
export function unreadableIn(items: object): number {
  return unreadable.get(items) ?? 0;
}

/** The field of a row that holds the values of its unreadable optional fields, by name. */
export const unreadableFields = 'unreadable_fields';

/** Whether this field of a row could not be read, so that its value is unknown. */
export const isUnreadable = (row: Readonly<Record<string, unknown>>, name: string): boolean =>
  Object.hasOwn(Object(row[unreadableFields]), name);

/** Describes rows with unreadable fields; undefined if there are none. */
export function describePartlyRead(rows: readonly object[]): string | undefined {
  const partly = rows.filter(row => Object.hasOwn(row, unreadableFields)) as Readonly<Record<string, object>>[];
  if (partly.length === 0) return undefined;
  const names = [...new Set(partly.flatMap(row => Object.keys(row[unreadableFields] ?? {})))].slice(0, 3);
  return `${counted(partly.length, 'row')} shown without unreadable fields: ${names.join(', ')}`;
}
