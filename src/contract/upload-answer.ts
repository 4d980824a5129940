/** Which trajectory of an upload each part of its answer concerns. Pure. */
import type { Failure } from './errors.ts';
import { unreadableIn } from './lists.ts';
import type { UploadedTrajectory, UploadTrajectoriesResult } from './trajectories.ts';

export interface PlacedAnswer {
  /** The mapping by index in the request. */
  readonly listed: ReadonlyMap<number, UploadedTrajectory>;
  /** The failures that name an item, by index in the request. */
  readonly failures: ReadonlyMap<number, Failure>;
  /** The failures that name none: they concern the batch, and are no item's. */
  readonly batchFailures: readonly Failure[];
}

type Answered = Pick<UploadTrajectoriesResult, 'trajectories' | 'failures'>;

/**
 * Places the parts of an answer about `size` trajectories. Their position in the answer says nothing by itself: rows
 * without an index are placed only if there is one for each item, or for each item that is not named otherwise.
 */
export function placedAnswer({ trajectories, failures }: Answered, size: number): PlacedAnswer {
  const isIndex = (index: number | null | undefined): index is number =>
    index != null && Number.isInteger(index) && index >= 0 && index < size;
  const rows = trajectories ?? [];
  const listed = new Map(rows.flatMap(row => (isIndex(row.request_index) ? [[row.request_index, row] as const] : [])));
  const byItem = new Map(
    (failures ?? []).flatMap(each => (isIndex(each.item_index) ? [[each.item_index, each] as const] : [])),
  );
  const nameless = rows.filter(({ request_index }) => !isIndex(request_index));
  const all = Array.from({ length: size }, (_, index) => index);
  const open = all.filter(index => !listed.has(index) && !byItem.has(index));
  const isReadable = unreadableIn(rows) === 0;
  const places = isReadable ? [all, open].find(each => each.length === nameless.length) : undefined;
  for (const [position, index] of (places ?? []).entries()) {
    const row = nameless[position];
    if (row) listed.set(index, row);
  }
  const unplaced = places ? [] : nameless.flatMap(failureIn);
  const unreadable = unreadableIn(failures ?? []);
  return {
    listed,
    failures: byItem,
    batchFailures: [
      ...(failures ?? []).filter(({ item_index }) => !isIndex(item_index)),
      ...unplaced,
      ...(unreadable > 0 ? [{ message: `${unreadable} of the failures could not be read` }] : []),
    ],
  };
}

/** The failure of a row whose trajectory is not known. */
function failureIn({ status, failure }: UploadedTrajectory): readonly Failure[] {
  if (saysWhy(failure)) return [failure];
  return status == null || isStored(status) ? [] : [{ message: `a trajectory has the status ${status}` }];
}

/** Whether the service has a trajectory of this status, from this request or an earlier one. */
export const isStored = (status: string): boolean => status === 'uploaded' || status === 'skipped';

/** Whether a failure says anything; an object of nulls counts as missing. */
export const saysWhy = (failure: Failure | null | undefined): failure is Failure =>
  failure?.code != null || failure?.message != null || Object.keys(failure?.context ?? {}).length > 0;
