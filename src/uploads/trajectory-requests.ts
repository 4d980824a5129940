/**
 * Divides a file of trajectories into requests, using the record of earlier requests: leaves out stored and skipped
 * items, sends rejected ones again, and rebuilds exactly any request whose outcome is unknown.
 */
import { withoutNotes } from '../store/notes.ts';
import type { SentLine, SentRequest } from '../store/sent-record.ts';
import { Occurrences } from './occurrences.ts';
import type { Item } from './trajectory-file.ts';

/** A valid item. */
export interface Trajectory extends Item {
  readonly value: Record<string, unknown>;
  /** Its id in the record. */
  readonly id: string;
  /** Numbers the file's identical trajectories, from 1. Different `trace_id`s make trajectories distinct. */
  readonly occurrence: number;
}

export type Portion =
  | { readonly kind: 'unreadable'; readonly item: Item }
  | { readonly kind: 'new'; readonly items: readonly Trajectory[] }
  /** An item that was sent before. */
  | { readonly kind: 'known'; readonly item: Trajectory; readonly line: SentLine }
  /** The items of a request whose outcome is unknown; fewer if the file has changed since. */
  | { readonly kind: 'unknown'; readonly items: readonly Trajectory[]; readonly request: SentRequest };

/** Finds the sent trajectories with this content and hash whose outcome is known. */
type FindLines = (value: Trajectory['value'], hash: string) => readonly SentLine[];

/** A recorded trajectory; if its outcome is unknown, it comes with its request. */
type Recorded = { readonly number: number } & (
  | { readonly line: SentLine; readonly request?: never }
  | { readonly line?: never; readonly request: SentRequest }
);

const batchItems = 100;
const batchBytes = 8 * 1024 * 1024;

/** The trajectories in these requests, by the hash of their content. */
function recordedIn(requests: readonly SentRequest[]): ReadonlyMap<string, readonly Recorded[]> {
  const all = requests.flatMap(request =>
    request.unknown.map(id => {
      const [hash = '', number] = id.split('.');
      return { hash, number: Number(number), request };
    }),
  );
  return Map.groupBy(all, ({ hash }) => hash);
}

/** The record's identical trajectories, the numbers they have, and the last new number assigned. */
interface Equal {
  readonly recorded: readonly Recorded[];
  readonly taken: ReadonlySet<number>;
  readonly fresh: number;
}

/**
 * Matches a file's trajectories with the record. For identical trajectories, the record contains only how many were
 * sent, not which. So the first ones in the file are matched with known outcomes, the next ones with unknown outcomes,
 * and then with items sent only for other accounts or agents, known outcomes first. The rest are new.
 */
class RecordedFile {
  readonly #occurrences = new Occurrences();
  readonly #inRequests: ReadonlyMap<string, readonly Recorded[]>;
  readonly #find: FindLines;
  /** The contents that occur more than once. */
  readonly #equal = new Map<string, Equal>();

  constructor(requests: readonly SentRequest[], find: FindLines) {
    this.#inRequests = recordedIn(requests);
    this.#find = find;
  }

  next(value: Trajectory['value']): { readonly id: string; readonly occurrence: number; readonly known?: Recorded } {
    const { hash, number } = this.#occurrences.next(value);
    const { recorded, taken, fresh: last } = this.#equal.get(hash) ?? this.#equalTo(value, hash, number);
    const known = recorded[number - 1];
    const fresh = known ? last : freeAfter(last, taken);
    if (number > 1) this.#equal.set(hash, { recorded, taken, fresh });
    const isTraced = typeof value['trace_id'] === 'string';
    // A repeated request keeps its numbers.
    const occurrence = isTraced ? 1 : (known?.number ?? number);
    return { id: `${hash}.${known?.number ?? fresh}`, occurrence, ...(known && { known }) };
  }

  /** @param number the first number to assign; lower ones count as assigned */
  #equalTo(value: Trajectory['value'], hash: string, number: number): Equal {
    const found = this.#find(value, hash).map((line): Recorded => ({ number: line.number, line }));
    const all = new Map<number, Recorded>();
    for (const each of [...(this.#inRequests.get(hash) ?? []), ...found].sort(
      (left, right) => rankOf(left) - rankOf(right) || left.number - right.number,
    ))
      if (!all.has(each.number)) all.set(each.number, each);
    const recorded = [...all.values()];
    const taken = new Set(all.keys());
    let fresh = 0;
    for (let next = recorded.length + 1; next < number; next += 1) fresh = freeAfter(fresh, taken);
    return { recorded, taken, fresh };
  }
}

const rankOf = ({ line, request }: Recorded): number => ((line ?? request).other ? 2 : 0) + (line ? 0 : 1);

function freeAfter(last: number, taken: ReadonlySet<number>): number {
  let number = last + 1;
  while (taken.has(number)) number += 1;
  return number;
}

/** Yields unreadable items, batches of new ones, items sent before, and requests whose outcome is unknown. */
export async function* portionsOf(
  items: AsyncIterable<Item>,
  requests: readonly SentRequest[],
  find: FindLines,
): AsyncGenerator<Portion> {
  const file = new RecordedFile(requests, find);
  const again = new Map<SentRequest, Trajectory[]>();
  let batch: Trajectory[] = [];
  let total = 0;
  for await (const item of items) {
    if (item.value === undefined || item.error !== undefined) {
      yield { kind: 'unreadable', item };
      continue;
    }
    const value = withoutNotes(item.value);
    const { id, occurrence, known } = file.next(value);
    const trajectory = { ...item, value, id, occurrence };
    if (known?.line) {
      yield { kind: 'known', item: trajectory, line: known.line };
      continue;
    }
    if (known) {
      const { request } = known;
      const found = again.get(request) ?? [];
      found.push(trajectory);
      again.set(request, found);
      if (found.length < request.unknown.length) continue;
      again.delete(request);
      yield { kind: 'unknown', items: found, request };
      continue;
    }
    const { size } = item;
    if (batch.length > 0 && (batch.length >= batchItems || total + size > batchBytes)) {
      yield { kind: 'new', items: batch };
      batch = [];
      total = 0;
    }
    batch.push(trajectory);
    total += size;
  }
  if (batch.length > 0) yield { kind: 'new', items: batch };
  for (const [request, found] of again) yield { kind: 'unknown', items: found, request };
}
