/**
 * Divides a file of trajectories into requests, by what an earlier run has sent of it: what was stored or skipped is
 * passed over, what was rejected is sent again like what was never sent, and a request whose outcome is not known is
 * put together again as it was.
 */
import type { SentRequest } from '../remembered/trajectory-records.ts';
import { Occurrences } from './occurrences.ts';
import type { Item } from './trajectory-file.ts';

/** An item that can be sent. */
export interface Trajectory extends Item {
  readonly value: Record<string, unknown>;
  readonly id: string;
  /** Which of the equal ones of the file it is, from 1. */
  readonly occurrence: number;
}

export type Portion =
  | { readonly kind: 'unreadable'; readonly item: Item }
  | { readonly kind: 'new'; readonly items: readonly Trajectory[] }
  /** What is unknown of a request; not all of it if the file has changed since. */
  | { readonly kind: 'unknown'; readonly items: readonly Trajectory[]; readonly request: SentRequest };

const batchItems = 100;
const batchBytes = 8 * 1024 * 1024;

/** The items of the file that are to be sent, or have an unknown outcome. */
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
