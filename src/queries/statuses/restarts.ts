/** Detects runs that restart from an earlier step, e.g. because their service was killed. */

import { Listeners } from '../../base/listeners.ts';
import { isRunning } from '../../contract/status.ts';
import type { SeenRestart } from '../../store/seen.ts';
import type { KnownResource } from './known-resource.ts';

interface Restart extends SeenRestart {
  readonly resource: KnownResource;
}

/** What an earlier session knew about a run. */
interface EarlierProgress {
  /** Its last progress; undefined if a query may still report an older one. */
  readonly step?: number | undefined;
  /** Its last restart, from which it may not have recovered. */
  readonly restart?: SeenRestart | undefined;
}

/** Time in milliseconds within which restarts seen by several queries count as one. */
const sameMs = 30_000;

export class Restarts {
  readonly #listeners = new Listeners<Restart>();
  /** The last progress, by query and then by run, because one query may lag behind another. */
  readonly #done = new Map<string, Map<string, number>>();
  /** The runs whose progress this program has read. */
  readonly #read = new Set<string>();
  readonly #earlier: (run: KnownResource) => EarlierProgress;
  /** By run, the restart from which it has not yet recovered. */
  readonly #unrecovered = new Map<string, Restart>();
  /** When a restart was last reported, by run, in monotonic milliseconds. */
  readonly #reportedAt = new Map<string, number>();

  readonly subscribe = this.#listeners.subscribe;

  constructor(earlier: (run: KnownResource) => EarlierProgress = () => ({})) {
    this.#earlier = earlier;
  }

  /** A run's restart, until the run has recovered. */
  of(runId: string): Restart | undefined {
    return this.#unrecovered.get(runId);
  }

  /** Records a run's progress. @param by the query that reports it */
  follow(resource: KnownResource, step: number, by: string): void {
    const { id } = resource;
    const done = this.#done.get(by) ?? new Map<string, number>();
    const earlier = this.#read.has(id) || !isRunning(resource.status) ? {} : this.#earlier(resource);
    const before = done.get(id) ?? earlier.step ?? 0;
    this.#read.add(id);
    this.#done.set(by, done.set(id, step));
    if (earlier.restart && step < earlier.restart.from) this.#unrecovered.set(id, { resource, ...earlier.restart });
    const behind = this.#unrecovered.get(id);
    // A query that lags behind may still report the old step.
    if (behind && (step > behind.from || (step === behind.from && before < step))) this.#unrecovered.delete(id);
    if (step < before && isRunning(resource.status))
      this.#report({ resource, from: Math.max(before, behind?.from ?? 0), step });
  }

  /** Forgets a query that the cache has dropped. */
  drop(by: string): void {
    this.#done.delete(by);
  }

  #report(restart: Restart): void {
    const { id } = restart.resource;
    const now = performance.now();
    const isSame = now - (this.#reportedAt.get(id) ?? Number.NEGATIVE_INFINITY) < sameMs;
    const known = this.#unrecovered.get(id);
    if (!isSame || !known || restart.step < known.step) this.#unrecovered.set(id, restart);
    if (isSame) return;
    this.#reportedAt.set(id, now);
    this.#listeners.notify(restart);
  }
}
