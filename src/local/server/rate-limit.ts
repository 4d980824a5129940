/** A rate limit per key: a token bucket that refills every second. */

export interface RateLimit {
  readonly perSecond: number;
  /** How large a burst may be after a pause. */
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const maxBuckets = 10_000;

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Counts a request. Returns 0 if it is allowed, otherwise how many whole seconds to wait. */
  take(key: string): number {
    const { perSecond, burst } = this.#limit;
    const at = this.#now();
    const known = this.#buckets.get(key);
    const tokens = known ? Math.min(burst, known.tokens + ((at - known.at) / 1000) * perSecond) : burst;
    const taken = tokens >= 1;
    // Keep the map in order of use: the first bucket is the least recently used and is full, so it can be dropped.
    this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size >= maxBuckets) this.#buckets.delete(oldest);
    this.#buckets.set(key, { tokens: taken ? tokens - 1 : tokens, at });
    return taken ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
  }
}
