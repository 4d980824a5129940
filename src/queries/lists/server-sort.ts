/** Sorting by the service: until all rows have been read, only the service can sort them correctly. */

import { own } from '../../base/own-property.ts';
import { isNotOffered, ServiceError } from '../../service/errors.ts';
import type { ListSource } from './list-source.ts';

export interface FieldOrder {
  /** The contract's field name. */
  readonly field: string;
  readonly descending: boolean;
}

/** The service refuses to sort by the field, or ignores the requested order. */
export class OrderRefusedError extends Error {
  constructor(field: string) {
    super(`The service does not sort by ${field}.`);
    this.name = 'OrderRefusedError';
  }
}

/**
 * The list in the requested order. If the service does not deliver that order, `onRefused` is called and reading throws
 * OrderRefusedError.
 */
export function inOrder<Row>(
  source: ListSource<Row>,
  { field, descending }: FieldOrder,
  onRefused: () => void,
): ListSource<Row> {
  const order = descending ? 'desc' : 'asc';
  return {
    ...source,
    key: [...source.key, { sort: field, order }],
    sameRowsAs: source.key,
    // Remembered rows are not in the service's order.
    fallback: undefined,
    readPage: async context => {
      try {
        const page = await source.readPage({ ...context, query: { ...context.query, sort: field, order } });
        if (isOrdered(page.items, field, descending)) return page;
      } catch (error) {
        if (!isNotOffered(error) && !isRefusal(error, context.query.cursor != null)) throw error;
      }
      onRefused();
      throw new OrderRefusedError(field);
    },
  };
}

/** Whether the service refuses the order. A refusal for a later page is about the cursor, unless it names the field. */
function isRefusal(error: unknown, later: boolean): boolean {
  if (!(error instanceof ServiceError)) return false;
  if (error.param !== undefined) return error.param === 'sort' || error.param === 'order';
  return !later && (error.status === 400 || error.status === 422);
}

type Comparison = (left: never, right: never) => number;

const byCodeUnit = (left: string, right: string): number => (left < right ? -1 : Number(left > right));
const foldingCase = (left: string, right: string): number => byCodeUnit(left.toLowerCase(), right.toLowerCase());
const bySize = (left: number, right: number): number => left - right;

/** Whether rows are ordered by a field. Missing values may be anywhere, and any common string collation is accepted. */
export function isOrdered(rows: readonly unknown[], field: string, descending: boolean): boolean {
  const values = rows
    .map(row => own(row as Readonly<Record<string, unknown>>, field))
    .filter(value => value !== undefined && value !== null);
  const sign = descending ? -1 : 1;
  const follows = (compare: Comparison): boolean =>
    values.every((value, index) => index === 0 || sign * compare(values[index - 1] as never, value as never) <= 0);
  if (values.every(value => typeof value === 'number')) return follows(bySize);
  if (!values.every(value => typeof value === 'string')) return false;
  return follows(byCodeUnit) || follows(foldingCase) || follows(new Intl.Collator('en').compare);
}
