/** Reads trajectories with their steps. */
import type { Trajectory } from '../contract/trajectories.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { isGone, ServiceError } from '../service/errors.ts';

/** Trajectories read in parallel. */
const atOnce = 4;

/** Error codes that concern this one record only. */
const unreadable: ReadonlySet<string | undefined> = new Set(['answer_too_deep', 'answer_too_large']);

/**
 * A trajectory with its steps, or the error if that concerns only this one.
 *
 * @param isGoneLeftOut whether a deleted trajectory is such an error
 * @param query reads the trajectory, by default with its steps
 * @throws ServiceError
 */
export async function readInFull(
  id: string,
  context: QueryContext,
  isGoneLeftOut = true,
  query = trajectoryQuery,
): Promise<Trajectory | ServiceError> {
  try {
    return await query(id).read(context);
  } catch (error) {
    const isOfOne = error instanceof ServiceError && (unreadable.has(error.code) || (isGoneLeftOut && isGone(error)));
    if (isOfOne) return error;
    throw error;
  }
}

/** Reads a few in parallel; yields them in order. @throws as `readInFull` does */
export async function* readAllInFull(
  ids: readonly string[],
  context: QueryContext,
  isGoneLeftOut = true,
  query = trajectoryQuery,
): AsyncGenerator<Trajectory | ServiceError> {
  for (let from = 0; from < ids.length; from += atOnce)
    yield* await Promise.all(ids.slice(from, from + atOnce).map(id => readInFull(id, context, isGoneLeftOut, query)));
}
