/** How many requests a key may make: a bucket that fills by the second (token bucket). */

export interface RateLimit {
  readonly perSecond: number;
  /** Requests that may come at once after a rest. */
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const mostBuckets = 10_000;

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Counts a request. Returns 0 if it may be answered, else the whole seconds after which the next may come. */
  take(key: string): number {
    const { perSecond, burst } = this.#limit;
    const at = this.#now();
    const known = this.#buckets.get(key);
    const tokens = known ? Math.min(burst, known.tokens + ((at - known.at) / 1000) * perSecond) : burst;
    const taken = tokens >= 1;
    // Ordered by last use: the first has been unused for longest, is full again, and can be dropped.
    this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size >= mostBuckets) this.#buckets.delete(oldest);
    this.#buckets.set(key, { tokens: taken ? tokens - 1 : tokens, at });
    return taken ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
  }
}
