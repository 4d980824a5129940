/**
 * Numbers equal trajectories of a file. Sampling short answers repeatedly yields equal trajectories, and each is a
 * result; without the number, the second would look like a repeated request.
 */
import { createHash } from 'node:crypto';
import { isRecord } from '../base/own-property.ts';

export interface Occurrence {
  /** Does not depend on the version of the file or the position in it. */
  readonly id: string;
  /** Numbers the equal trajectories of the file, from 1. Trajectories with different `trace_id`s are not equal. */
  readonly number: number;
}

export class Occurrences {
  readonly #seen = new Map<number, number>();

  next(trajectory: Readonly<Record<string, unknown>>): Occurrence {
    // 48 bits suffice: a collision would only number two different trajectories as if they were equal.
    const hash = createHash('sha256')
      .update(JSON.stringify(sorted(trajectory)))
      .digest()
      .readUIntBE(0, 6);
    const number = (this.#seen.get(hash) ?? 0) + 1;
    this.#seen.set(hash, number);
    const id = `${hash.toString(36)}.${number}`;
    return { id, number: typeof trajectory['trace_id'] === 'string' ? 1 : number };
  }
}

/** Normalises the order of fields, and null to missing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return fields.sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, field]) => [name, sorted(field)]);
}
