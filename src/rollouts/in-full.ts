/** Reads trajectories with their steps. */
import type { Trajectory } from '../contract/trajectories.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { isGone, isNotOffered, ServiceError } from '../service/errors.ts';

/** How many reads run in parallel. */
const atOnce = 4;

/** After this many failures in a row, the problem is the service rather than a trajectory, so reading stops. */
const maxFailures = 10;

/** Whether an error may be about only this record: the service responded, and other records may be readable. */
const isOfOne = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  error.status !== undefined &&
  error.kind !== 'authentication' &&
  error.kind !== 'rate_limit' &&
  !isNotOffered(error);

/**
 * Reads a trajectory with its steps. If an error affects only this trajectory, returns it.
 *
 * @param query the query for the trajectory; by default, it includes the steps
 * @throws ServiceError
 */
export async function readInFull(
  id: string,
  context: QueryContext,
  query = trajectoryQuery,
): Promise<Trajectory | ServiceError> {
  try {
    return await query(id).read(context);
  } catch (error) {
    if (!context.signal.aborted && isOfOne(error)) return error;
    throw error;
  }
}

/** Reads trajectories, a few in parallel; yields them in order. @throws ServiceError, also after many failures */
export async function* readAllInFull(
  ids: readonly string[],
  context: QueryContext,
  query = trajectoryQuery,
): AsyncGenerator<Trajectory | ServiceError> {
  let failures = 0;
  for (let from = 0; from < ids.length; from += atOnce) {
    const read = await Promise.all(ids.slice(from, from + atOnce).map(id => readInFull(id, context, query)));
    // Some may have been read for another view as well, which goes on.
    context.signal.throwIfAborted();
    for (const each of read) {
      if (!(each instanceof ServiceError)) failures = 0;
      else if (!isGone(each)) failures += 1;
      if (failures >= maxFailures) throw each;
      yield each;
    }
  }
}
