/**
 * Divides a file of trajectories into requests, using the record of an earlier run: leaves out stored and skipped
 * items, sends rejected ones again, and rebuilds a request with an unknown outcome exactly.
 */
import type { SentRequest } from '../store/trajectory-records.ts';
import { Occurrences } from './occurrences.ts';
import type { Item } from './trajectory-file.ts';

/** A valid item. */
export interface Trajectory extends Item {
  readonly value: Record<string, unknown>;
  readonly id: string;
  /** Numbers the equal trajectories of the file, from 1. */
  readonly occurrence: number;
}

export type Portion =
  | { readonly kind: 'unreadable'; readonly item: Item }
  | { readonly kind: 'new'; readonly items: readonly Trajectory[] }
  /** The items of a request with an unknown outcome; fewer if the file has changed since. */
  | { readonly kind: 'unknown'; readonly items: readonly Trajectory[]; readonly request: SentRequest };

const batchItems = 100;
const batchBytes = 8 * 1024 * 1024;

/** Yields the items to send, and those with an unknown outcome. */
export async function* portionsOf(
  items: AsyncIterable<Item>,
  requests: readonly SentRequest[],
): AsyncGenerator<Portion> {
  const settled = new Set(requests.flatMap(({ stored, skipped }) => [...stored, ...skipped]));
  const unknown = new Map(requests.flatMap(request => request.unknown.map(id => [id, request] as const)));
  const again = new Map<SentRequest, Trajectory[]>();
  const occurrences = new Occurrences();
  let batch: Trajectory[] = [];
  let total = 0;
  for await (const item of items) {
    if (item.value === undefined) {
      yield { kind: 'unreadable', item };
      continue;
    }
    const { id, number: occurrence } = occurrences.next(item.value);
    if (settled.has(id)) continue;
    const trajectory = { ...item, value: item.value, id, occurrence };
    const request = unknown.get(id);
    if (request) {
      const found = [...(again.get(request) ?? []), trajectory];
      again.set(request, found);
      if (found.length < request.unknown.length) continue;
      again.delete(request);
      yield { kind: 'unknown', items: found, request };
      continue;
    }
    const size = item.end - item.start;
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
