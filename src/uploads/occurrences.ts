/**
 * Numbers a file's identical trajectories. Repeatedly sampled short answers are often identical, but each is a result
 * of its own; without the number, the second would look like a repeated request.
 */
import { createHash } from 'node:crypto';
import { isRecord } from '../base/own-property.ts';

interface Occurrence {
  /** The content's hash, independent of field order. */
  readonly hash: string;
  /** Numbers the file's identical trajectories, from 1. */
  readonly number: number;
}

export class Occurrences {
  readonly #seen = new Map<string, number>();

  next(trajectory: Readonly<Record<string, unknown>>): Occurrence {
    const hash = createHash('sha256')
      .update(JSON.stringify(sorted(trajectory)))
      .digest()
      .subarray(0, 16)
      .toString('base64url');
    const number = (this.#seen.get(hash) ?? 0) + 1;
    this.#seen.set(hash, number);
    return { hash, number };
  }
}

/** Sorts fields by name, and drops null ones. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return fields.sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, field]) => [name, sorted(field)]);
}
