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
  /** Failures since the last success, by hash, and the newest of them. */
  readonly #failures = new Map<string, { readonly count: number; readonly last: unknown }>();
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
      this.#failures.delete(queryHash);
      this.#heldUp.delete(queryHash);
    });
    this.close = () => {
      stopFollowing();
      stopDropping();
    };
  }

  /** Failures of a query since its last success. */
  count(hash: string): number {
    return this.#failures.get(hash)?.count ?? 0;
  }

  /** The error of its last attempt, also while it is sent again, when react-query has none; undefined after a success. */
  lastError(hash: string): unknown {
    return this.#failures.get(hash)?.last;
  }

  failed(hash: string, error: unknown): void {
    this.#failures.set(hash, { count: this.count(hash) + 1, last: error });
    if (affectsAllRequests(error)) this.#heldUp.set(hash, this.#heldUp.get(hash) ?? Number.NEGATIVE_INFINITY);
  }

  succeeded(hash: string): void {
    this.#failures.delete(hash);
    this.#heldUp.delete(hash);
    this.#askHeldUp();
  }

  forget(): void {
    this.#failures.clear();
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
      this.#failures.delete(hash);
      void cache.refetchQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
    }
  }
}
