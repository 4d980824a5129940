/** Runs that continue from an earlier step than they were seen at, because their service was killed. */
import { isRunning } from '../../contract/status.ts';
import { Listeners } from '../../text/listeners.ts';
import type { KnownResource } from './store.ts';

export interface SetBack {
  readonly resource: KnownResource;
  /** The furthest step that was seen before. */
  readonly from: number;
  /** The step it continues from. */
  readonly step: number;
}

/** Several queries see the same restart within this time, in milliseconds. */
const sameMs = 30_000;

export class SetBacks {
  readonly #listeners = new Listeners<SetBack>();
  /** The last progress, by query and then by run: another query may lag behind. */
  readonly #done = new Map<string, Map<string, number>>();
  /** The set-backs that the runs have not made up for yet, by run. */
  readonly #behind = new Map<string, SetBack>();
  /** When a restart was last reported, by run; monotonic. */
  readonly #reportedAt = new Map<string, number>();

  readonly subscribe = this.#listeners.subscribe;

  /** How far a run was set back while this program followed it, until it has come as far again. */
  of(runId: string): SetBack | undefined {
    return this.#behind.get(runId);
  }

  /** Records the progress of a run as the query `by` reports it. */
  follow(resource: KnownResource, step: number, by: string): void {
    const { id } = resource;
    const done = this.#done.get(by) ?? new Map<string, number>();
    const before = done.get(id) ?? 0;
    this.#done.set(by, done.set(id, step));
    const behind = this.#behind.get(id);
    // A query that lags behind may still say how far the run was.
    if (behind && (step > behind.from || (step === behind.from && before < step))) this.#behind.delete(id);
    if (step < before && isRunning(resource.status))
      this.#report({ resource, from: Math.max(before, behind?.from ?? 0), step });
  }

  /** Forgets what a query said that the cache has dropped. */
  drop(by: string): void {
    this.#done.delete(by);
  }

  #report(setBack: SetBack): void {
    const { id } = setBack.resource;
    const now = performance.now();
    const isSame = now - (this.#reportedAt.get(id) ?? Number.NEGATIVE_INFINITY) < sameMs;
    const known = this.#behind.get(id);
    if (!isSame || !known || setBack.step < known.step) this.#behind.set(id, setBack);
    if (isSame) return;
    this.#reportedAt.set(id, now);
    this.#listeners.notify(setBack);
  }
}
