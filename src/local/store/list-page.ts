/**
 * Pages of a list. The cursor is a position in the sort order, so that rows added or removed do not shift the pages.
 */

import type { SQLInputValue } from 'node:sqlite';
import { pushAll } from '../../base/many.ts';
import { own } from '../../base/own-property.ts';
import type { ListQuery, SortOrder } from '../../contract/common.ts';
import { pageLimit, sortOrders } from '../../contract/common.ts';
import type { Database } from './database.ts';

/** Names an invalid parameter of a query and the reason. */
export class ListQueryError extends Error {
  readonly param: string;

  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}

interface ListDefinition {
  readonly table: string;
  /** A unique column, which orders rows that are otherwise equal. */
  readonly id: string;
  /** The columns to read; all by default. */
  readonly columns?: string;
  /** Sort fields with their SQL expressions, which are never null. The first is the default. */
  readonly sorts: Readonly<Record<string, string>>;
  readonly searches: readonly string[];
}

export interface ListPage<Row> {
  readonly items: Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

interface Place {
  readonly sort: string;
  readonly order: SortOrder;
  readonly value: string | number;
  readonly id: string;
}

function decodePlace(cursor: string): Place {
  try {
    const place = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as Place;
    const { id, sort, order, value } = place;
    const isPlain = typeof value === 'string' || typeof value === 'number';
    if (typeof id === 'string' && typeof sort === 'string' && sortOrders.includes(order) && isPlain) return place;
  } catch {
    // Reported below, like a cursor that parses but is invalid.
  }
  throw new ListQueryError('cursor', 'This cursor is not from this list. Start again without one.');
}

/** Reads one page of the rows that match `where`; undefined values match everything. */
export function readPage<Row extends Record<string, unknown>>(
  database: Database,
  definition: ListDefinition,
  where: Readonly<Record<string, SQLInputValue | undefined>>,
  query: ListQuery,
): ListPage<Row> {
  const { table, columns = '*', id, sorts, searches } = definition;
  const place = query.cursor ? decodePlace(query.cursor) : undefined;
  const sort = query.sort ?? place?.sort ?? Object.keys(sorts)[0] ?? id;
  const expression = own(sorts, sort);
  if (expression === undefined)
    throw new ListQueryError(
      'sort',
      `This list can be sorted by ${Object.keys(sorts).join(', ')}, but not by ${sort}.`,
    );
  const order = query.order ?? place?.order ?? 'desc';
  if (place && (place.sort !== sort || place.order !== order)) {
    throw new ListQueryError('cursor', 'This cursor is for a different order of the list. Start again without one.');
  }
  const limit = query.limit ?? pageLimit.default;
  const filters = Object.entries(where).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const conditions = filters.map(({ name }) => `${name} = ?`);
  const values = filters.map(({ value }) => value);
  const { search } = query;
  if (search) {
    conditions.push(`(${searches.map(name => `instr(lower(${name}), lower(?)) > 0`).join(' or ')})`);
    pushAll(
      values,
      searches.map(() => search),
    );
  }
  if (place) {
    conditions.push(`(${expression}, ${id}) ${order === 'desc' ? '<' : '>'} (?, ?)`);
    values.push(place.value, place.id);
  }
  const rows = database.all<Row & { sorted_by: string | number; sorted_then: string | number }>(
    `select ${columns}, ${expression} as sorted_by, ${id} as sorted_then from ${table} where ${conditions.join(' and ')} order by ${expression} ${order}, ${id} ${order} limit ?`,
    ...values,
    limit + 1,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const has_more = rows.length > limit;
  const next: Place | undefined =
    has_more && last ? { sort, order, value: last.sorted_by, id: String(last.sorted_then) } : undefined;
  const next_cursor = next ? Buffer.from(JSON.stringify(next)).toString('base64url') : null;
  const items = page.map(({ sorted_by: _, sorted_then: _id, ...row }) => row as unknown as Row);
  return { items, has_more, next_cursor };
}
