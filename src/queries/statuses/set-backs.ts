/** Runs that continue from an earlier step than they were seen at, because their service was killed. */
import { isRunning } from '../../contract/status.ts';
import { Listeners } from '../../text/listeners.ts';
import type { KnownResource } from './store.ts';

export interface SetBack {
  readonly resource: KnownResource;
  readonly step: number;
}

/** Several queries see the same restart within this time, in milliseconds. */
const sameMs = 30_000;

export class SetBacks {
  readonly #listeners = new Listeners<SetBack>();
  /** What was last done, by query and run: another query may lag behind. */
  readonly #done = new Map<string, number>();
  /** When a restart was last reported, by run; monotonic. */
  readonly #reportedAt = new Map<string, number>();

  readonly subscribe = this.#listeners.subscribe;

  /** Takes in what the query `by` says that a run has done. */
  follow(resource: KnownResource, step: number, by: string): void {
    const key = `${by} ${resource.id}`;
    const before = this.#done.get(key) ?? 0;
    this.#done.set(key, step);
    if (step >= before || !isRunning(resource.status)) return;
    const now = performance.now();
    if (now - (this.#reportedAt.get(resource.id) ?? Number.NEGATIVE_INFINITY) < sameMs) return;
    this.#reportedAt.set(resource.id, now);
    this.#listeners.notify({ resource, step });
  }
}
