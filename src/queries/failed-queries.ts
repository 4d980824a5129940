/** Counts how often queries fail, and retries failed queries early once the host responds again. */
import type { QueryClient } from '@tanstack/react-query';
import { affectsAllRequests } from '../service/errors.ts';
import type { GateMonitor } from '../service/gate.ts';

export interface FailedQueriesOptions {
  readonly cache: QueryClient;
  readonly gate: GateMonitor;
  /** Whether automatic requests are paused. */
  readonly isPaused: () => boolean;
  /** Minimum time between two extra attempts at a query, in milliseconds. */
  readonly leastMs: number;
}

export class FailedQueries {
  readonly #options: FailedQueriesOptions;
  /** Failures since the last success, and the newest error, by query hash. */
  readonly #failures = new Map<string, { readonly count: number; readonly last: unknown }>();
  /** Queries that failed because of the host or the key, with the time of each one's last early retry. */
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

  /** How often a query has failed since its last success. */
  count(hash: string): number {
    return this.#failures.get(hash)?.count ?? 0;
  }

  /** The error from the last attempt; undefined after a success. react-query drops it while a retry is in flight. */
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

  /** Follows the gate, because the first success after an outage may be an upload, which is not a query. */
  readonly #follow = (): void => {
    const state = this.#options.gate.state();
    const before = this.#hostFailed;
    this.#hostFailed = state.kind === 'limited' ? before || state.reason === 'failing' : state.failing === true;
    if (before && !this.#hostFailed) this.#askHeldUp();
  };

  /**
   * Retries queries on screen that failed because of the host or the key, because their next poll may be a minute away.
   * Rate-limited, in case the service refuses only this query.
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
