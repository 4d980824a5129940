/** The queries whose last attempt failed: how often, and when they are retried before their next poll. */
import type { QueryClient } from '@tanstack/react-query';
import { affectsAllRequests } from '../service/errors.ts';
import type { GateMonitor } from '../service/gate.ts';

export interface FailedQueriesOptions {
  readonly cache: QueryClient;
  readonly gate: GateMonitor;
  /** Whether automatic requests are paused. */
  readonly isPaused: () => boolean;
  /** Minimum time between two additional attempts of a query, in milliseconds. */
  readonly leastMs: number;
}

export class FailedQueries {
  readonly #options: FailedQueriesOptions;
  /** Failures since the last success, by hash. */
  readonly #counts = new Map<string, number>();
  /** Queries that failed because of the host or the key, and when they were last retried because the host answered. */
  readonly #heldUp = new Map<string, number>();
  #hostFailed = false;
  /** Stops following the gate and the cache. */
  readonly close: () => void;

  constructor(options: FailedQueriesOptions) {
    this.#options = options;
    const stopFollowing = options.gate.subscribe(this.#follow);
    const stopDropping = options.cache.getQueryCache().subscribe(({ type, query: { queryHash } }) => {
      if (type !== 'removed') return;
      this.#counts.delete(queryHash);
      this.#heldUp.delete(queryHash);
    });
    this.close = () => {
      stopFollowing();
      stopDropping();
    };
  }

  /** Failures of a query since its last success. */
  count(hash: string): number {
    return this.#counts.get(hash) ?? 0;
  }

  failed(hash: string, error: unknown): void {
    this.#counts.set(hash, this.count(hash) + 1);
    if (affectsAllRequests(error)) this.#heldUp.set(hash, this.#heldUp.get(hash) ?? Number.NEGATIVE_INFINITY);
  }

  succeeded(hash: string): void {
    this.#counts.delete(hash);
    this.#heldUp.delete(hash);
    this.#askHeldUp();
  }

  forget(): void {
    this.#counts.clear();
    this.#heldUp.clear();
  }

  /** The first success after an outage may be an upload. */
  readonly #follow = (): void => {
    const state = this.#options.gate.state();
    const before = this.#hostFailed;
    this.#hostFailed = state.kind === 'limited' ? before || state.reason === 'failing' : state.failing === true;
    if (before && !this.#hostFailed) this.#askHeldUp();
  };

  /**
   * Called when the host answers, or accepts the key, again: retries the queries on screen that failed for that reason,
   * because their next poll may be a minute away. The retries are limited, in case only this query is refused.
   */
  #askHeldUp(): void {
    const { cache, isPaused, leastMs } = this.#options;
    if (isPaused()) return;
    const now = performance.now();
    for (const [hash, askedAt] of this.#heldUp) {
      const query = cache.getQueryCache().get(hash);
      if (now - askedAt < leastMs || !query?.isActive() || query.state.fetchStatus !== 'idle') continue;
      this.#heldUp.set(hash, now);
      this.#counts.delete(hash);
      void cache.refetchQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
    }
  }
}
