/** Reads the rows of a change again once it is confirmed. If they no longer match the confirmation, nothing is sent. */

import { asError } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import { describeError, isGone } from '../service/errors.ts';
import { clean } from '../text/sanitise.ts';
import type { Change, RowAction } from './action.ts';
import { idOf, labelOf, type ResourceOf } from './define.ts';

/** Whether a change deletes, or may take something out of production. */
export const isRechecked = <Row>({ change, destructive }: RowAction<Row>): boolean =>
  destructive === true || change?.outage !== undefined;

/** A row as the confirmation showed it. */
export interface Asked<Row extends object> {
  readonly resource: Pick<ResourceOf<Row>, 'get' | 'label' | 'list'>;
  readonly change: Change<Row>;
  readonly row: Row;
}

export interface Rechecked<Row> {
  /** The rows as they are now, in the same order; undefined for those that are gone. */
  readonly rows: readonly (Row | undefined)[];
  /** Why the change must be confirmed again; undefined if the confirmation is still true. */
  readonly objection: string | undefined;
}

/** Shown before the new question. */
export const changedWords = 'This has changed since you were asked. Nothing was sent: confirm it as it is now.';

/** The fields of a row that are known. */
const knownOf = <Row extends object>(row: Row): object =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value != null));

/** Whether a row has a name that contradicts the one shown. A field that only one of them has contradicts nothing. */
function isRenamed<Row extends object>({ resource, change, row }: Asked<Row>, now: Row): boolean {
  const nameOf = change.called ?? ((each: Row) => labelOf(resource, each));
  const [before, after] = [knownOf(row), knownOf(now)];
  return nameOf({ ...after, ...before } as Row) !== nameOf({ ...before, ...after } as Row);
}

/**
 * Whether the confirmation of a row is still true. A user who typed a slug that may be in production has also confirmed
 * that it is.
 */
function isStillTrue<Row extends object>(asked: Asked<Row>, now: Row): boolean {
  const outage = asked.change.outage?.(now);
  return !isRenamed(asked, now) && (!outage || outage.slug === asked.change.outage?.(asked.row)?.slug);
}

/**
 * Reads rows again, a few at a time. A row that cannot be read counts as remembered, so whether it is in production is
 * not known.
 *
 * @param read reads a record, never from an earlier answer
 * @throws what `read` throws once the user interrupts
 */
export async function recheck<Row extends object>(
  asked: readonly Asked<Row>[],
  read: (query: LiveQuery<Row>) => Promise<Row>,
  signal: AbortSignal,
): Promise<Rechecked<Row>> {
  const rows: (Row | undefined)[] = [];
  let objection: string | undefined;
  await inParallel(asked.entries(), async ([index, each]) => {
    const id = idOf(each.resource, each.row);
    const query = each.resource.get?.(id);
    let words = changedWords;
    try {
      rows[index] = query ? await read(query) : each.row;
    } catch (error) {
      if (signal.aborted) throw error;
      if (isGone(error)) return;
      rows[index] = { ...each.row, remembered_at: new Date().toISOString() };
      words = clean`${id} could not be read again. Nothing was sent. ${describeError(asError(error))}`;
    }
    const now = rows[index];
    if (now && !isStillTrue(each, now)) objection = words;
  });
  return { rows: Array.from(asked, (_, index) => rows[index]), objection };
}
