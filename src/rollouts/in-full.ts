/** Reads trajectories with their steps. */
import type { Trajectory } from '../contract/trajectories.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { isGone, isNotOffered, ServiceError } from '../service/errors.ts';

/** Trajectories read in parallel. */
const atOnce = 4;

/** Reading stops after this many failures in a row: the service has a problem, not a trajectory. */
const mostFailures = 10;

/** Whether an error may concern only this record: the service answered, and other records can be read. */
const isOfOne = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  error.status !== undefined &&
  error.kind !== 'authentication' &&
  error.kind !== 'rate_limit' &&
  !isNotOffered(error);

/**
 * A trajectory with its steps, or the error if that concerns only this one.
 *
 * @param query reads the trajectory, by default with its steps
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

/** Reads a few in parallel; yields them in the order of the ids. @throws as `readInFull` does, or if too many fail */
export async function* readAllInFull(
  ids: readonly string[],
  context: QueryContext,
  query = trajectoryQuery,
): AsyncGenerator<Trajectory | ServiceError> {
  let failures = 0;
  for (let from = 0; from < ids.length; from += atOnce) {
    const read = await Promise.all(ids.slice(from, from + atOnce).map(id => readInFull(id, context, query)));
    for (const each of read) {
      if (!(each instanceof ServiceError)) failures = 0;
      else if (!isGone(each)) failures += 1;
      if (failures >= mostFailures) throw each;
      yield each;
    }
  }
}
