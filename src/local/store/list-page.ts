/** Pages of a list: by a cursor that holds the place, so that rows which come or go shift nothing. */
import type { SQLInputValue } from 'node:sqlite';
import type { ListQuery, SortOrder } from '../../contract/common.ts';
import { pageLimit } from '../../contract/common.ts';
import type { Database } from './database.ts';

/** What was asked for cannot be: which field, and why. */
export class ListQueryError extends Error {
  readonly param: string;

  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}

export interface ListDefinition {
  readonly table: string;
  readonly id: string;
  /** Columns that may be sorted by; the first is the default. None may be null. */
  readonly sorts: readonly string[];
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

function encodePlace(place: Place): string {
  return Buffer.from(JSON.stringify(place), 'utf8').toString('base64url');
}

function decodePlace(cursor: string): Place {
  try {
    const place = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as Place;
    if (typeof place.id === 'string' && typeof place.sort === 'string') return place;
  } catch {
    // Said below, as for a cursor that can be read and makes no sense.
  }
  throw new ListQueryError('cursor', 'This cursor was not made by this list. Begin again without one.');
}

/** Reads one page of the rows that belong to `where`. */
export function readPage<Row extends Record<string, unknown>>(
  database: Database,
  definition: ListDefinition,
  where: Readonly<Record<string, SQLInputValue>>,
  query: ListQuery,
): ListPage<Row> {
  const { table, id, sorts, searches } = definition;
  const place = query.cursor ? decodePlace(query.cursor) : undefined;
  const sort = query.sort ?? place?.sort ?? sorts[0] ?? id;
  if (!sorts.includes(sort))
    throw new ListQueryError('sort', `This list sorts by ${sorts.join(', ')}; not by ${sort}.`);
  const order = query.order ?? place?.order ?? 'desc';
  if (place && (place.sort !== sort || place.order !== order)) {
    throw new ListQueryError('cursor', 'This cursor belongs to another order of the list. Begin again without one.');
  }
  const limit = query.limit ?? pageLimit.default;
  const conditions = Object.keys(where).map(name => `${name} = ?`);
  const values: SQLInputValue[] = Object.values(where);
  if (query.search) {
    conditions.push(`(${searches.map(name => `instr(lower(${name}), lower(?)) > 0`).join(' or ')})`);
    values.push(...searches.map(() => query.search ?? ''));
  }
  if (place) {
    conditions.push(`(${sort}, ${id}) ${order === 'desc' ? '<' : '>'} (?, ?)`);
    values.push(place.value, place.id);
  }
  const filter = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const rows = database.all<Row>(
    `select * from ${table} ${filter} order by ${sort} ${order}, ${id} ${order} limit ?`,
    ...values,
    limit + 1,
  );
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const has_more = rows.length > limit;
  const next_cursor =
    has_more && last ? encodePlace({ sort, order, value: last[sort] as string | number, id: String(last[id]) }) : null;
  return { items, has_more, next_cursor };
}
