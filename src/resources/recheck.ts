/** Reads the rows again after a change is confirmed. If they no longer match the confirmation, nothing is sent. */

import { asError } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { describeError, isGone } from '../service/errors.ts';
import { clean } from '../text/sanitise.ts';
import type { Change, RowAction } from './action.ts';
import { outagesOf } from './change-words.ts';
import { idOf, labelOf, type ResourceOf } from './define.ts';

/** Whether a change deletes something, or may take something out of production. */
export const isRechecked = <Row>({ change, destructive }: RowAction<Row>): boolean =>
  destructive === true || change?.outages !== undefined;

/** A row in the state that the confirmation showed. */
export interface ConfirmedRow<Row extends object> {
  readonly resource: Pick<ResourceOf<Row>, 'get' | 'label' | 'list'>;
  readonly change: Change<Row>;
  readonly row: Row;
}

export interface RecheckResult<Row> {
  /** The current rows, in the same order; undefined if a row no longer exists. */
  readonly rows: readonly (Row | undefined)[];
  /** Why the change must be confirmed again; undefined if the confirmation still holds. */
  readonly objection: string | undefined;
}

/** Shown before the new question. */
export const changedWords = 'This has changed since you were asked. Nothing was sent: confirm it as it is now.';

/** The fields of a row that have a value. */
const knownOf = <Row extends object>(row: Row): object =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value != null));

/** Whether a row's name has changed since the confirmation. A field that only one version has is not a change. */
function isRenamed<Row extends object>({ resource, change, row }: ConfirmedRow<Row>, now: Row): boolean {
  const nameOf = change.called ?? ((each: Row) => labelOf(resource, each));
  const [before, after] = [knownOf(row), knownOf(now)];
  return nameOf({ ...after, ...before } as Row) !== nameOf({ ...before, ...after } as Row);
}

/**
 * Whether the confirmation for a row still holds. A user who typed a slug that may be in production has also confirmed
 * that it is.
 */
function isStillTrue<Row extends object>(asked: ConfirmedRow<Row>, now: Row): boolean {
  const { change, row } = asked;
  const slugs = new Set(outagesOf(change, [row]).map(({ slug }) => slug));
  return !isRenamed(asked, now) && outagesOf(change, [now]).every(({ slug }) => slugs.has(slug));
}

/** Adds to each row whether it is in production. @throws AbortError if the user interrupts */
export async function withProduction<Row extends object, Each extends Pick<ConfirmedRow<Row>, 'change' | 'row'>>(
  asked: readonly (Each & Pick<ConfirmedRow<Row>, 'change' | 'row'>)[],
  context: QueryContext,
): Promise<readonly Each[]> {
  const known = new Map<Each, Row>();
  for (const [read, group] of Map.groupBy(asked, ({ change }) => change.withProduction)) {
    const rows =
      (await read?.(
        group.map(({ row }) => row),
        context,
      )) ?? [];
    for (const [index, row] of rows.entries()) known.set(group[index] as Each, row);
  }
  return asked.map(each => ({ ...each, row: known.get(each) ?? each.row }));
}

/**
 * Reads rows again, a few at a time. A row that cannot be read is treated as remembered, so whether it is in production
 * is unknown.
 *
 * @param read reads a record, bypassing the cache
 * @throws `read`'s error after the user interrupts
 */
export async function recheck<Row extends object>(
  asked: readonly ConfirmedRow<Row>[],
  read: (query: LiveQuery<Row>) => Promise<Row>,
  context: QueryContext,
): Promise<RecheckResult<Row>> {
  const { signal } = context;
  const again: (Row | undefined)[] = Array.from(asked, () => undefined);
  const unread = new Map<number, string>();
  await inParallel(asked.entries(), async ([index, each]) => {
    const id = idOf(each.resource, each.row);
    const query = each.resource.get?.(id);
    try {
      again[index] = query ? await read(query) : each.row;
    } catch (error) {
      if (signal.aborted) throw error;
      if (isGone(error)) return;
      again[index] = { ...each.row, remembered_at: new Date().toISOString() };
      unread.set(index, clean`${id} could not be read again. Nothing was sent. ${describeError(asError(error))}`);
    }
  });
  const there = asked.flatMap((each, index) => (again[index] ? [{ ...each, row: again[index], index }] : []));
  let objection: string | undefined;
  for (const { index, row } of await withProduction(there, context)) {
    again[index] = row;
    if (!isStillTrue(asked[index] as ConfirmedRow<Row>, row)) objection = unread.get(index) ?? changedWords;
  }
  return { rows: again, objection };
}
