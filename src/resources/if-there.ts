/** Values that the service, or a resource, may not have. */
import { isGone, isNotOffered } from '../service/errors.ts';

/** The value; undefined if not wanted, or if the service or the run has none. */
export async function ifThere<Value>(wanted: boolean, value: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return wanted ? await value() : undefined;
  } catch (error) {
    if (isNotOffered(error) || isGone(error)) return undefined;
    throw error;
  }
}
