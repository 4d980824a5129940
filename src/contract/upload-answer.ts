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

/** A trajectory that was sent. */
type Sent = Readonly<Record<string, unknown>> | undefined;

const traceOf = (sent: Sent): string | undefined => {
  const id = sent?.['trace_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
};

/**
 * Places the parts of an answer about the trajectories that were sent. Their position in the answer says nothing by
 * itself: rows without an index are placed by their trace id, and those without both only if there is one for each
 * item, or for each item that is not named otherwise.
 */
export function placedAnswer({ trajectories, failures }: Answered, sent: readonly Sent[]): PlacedAnswer {
  const isIndex = (index: number | null | undefined): index is number =>
    index != null && Number.isInteger(index) && index >= 0 && index < sent.length;
  const rows = trajectories ?? [];
  const listed = new Map(rows.flatMap(row => (isIndex(row.request_index) ? [[row.request_index, row] as const] : [])));
  const byItem = new Map(
    (failures ?? []).flatMap(each => (isIndex(each.item_index) ? [[each.item_index, each] as const] : [])),
  );
  const withTrace = Map.groupBy(sent.keys(), index => traceOf(sent[index]));
  const nameless = rows.filter(row => {
    if (isIndex(row.request_index)) return false;
    const [index, ...others] = (row.trace_id && withTrace.get(row.trace_id)) || [];
    if (index === undefined || others.length > 0 || listed.has(index)) return true;
    listed.set(index, row);
    return false;
  });
  const all = [...sent.keys()];
  const open = all.filter(index => !listed.has(index) && !byItem.has(index));
  const isReadable = unreadableIn(rows) === 0;
  const places = isReadable ? [all, open].find(each => each.length === nameless.length) : undefined;
  // A trace id that was not sent is the service's own, unless another one was sent there.
  const isAt = (row: UploadedTrajectory, index: number): boolean =>
    !row.trace_id || [undefined, row.trace_id].includes(traceOf(sent[index]));
  const isPlaced = places?.every((index, position) => isAt(nameless[position] as UploadedTrajectory, index)) === true;
  for (const [position, index] of (isPlaced ? (places ?? []) : []).entries()) {
    const row = nameless[position];
    if (row) listed.set(index, row);
  }
  const unplaced = isPlaced ? [] : nameless.flatMap(failureIn);
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
