/**
 * Counts equal trajectories of a file. Sampling a short answer several times gives equal ones, and each is a result. A
 * request alone does not show whether an equal one is a second sample or a repeat: its number in the file does.
 */
import { createHash } from 'node:crypto';
import { isRecord } from '../../text/own.ts';

export interface Occurrence {
  /** The same in another version of the file, wherever it is there. */
  readonly id: string;
  /** Which of the equal trajectories of the file this is, from 1. One with a `trace_id` is told apart by that. */
  readonly number: number;
}

export class Occurrences {
  readonly #seen = new Map<number, number>();

  next(trajectory: Readonly<Record<string, unknown>>): Occurrence {
    // 48 bits: two different ones with the same hash would only be numbered together.
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

/** The same for objects whose fields are in another order, or null in place of missing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return fields.sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, field]) => [name, sorted(field)]);
}
