/**
 * The rest that a service has asked for. It holds for every query of the host, not only for the one that was told: many
 * pinned things must not go on asking a service that is limiting them. All times are in milliseconds.
 */
import { setTimeout as wait } from 'node:timers/promises';

/** A service that asks for longer is asked again after this. */
const longestRest = 60_000;

export class HostRest {
  #until = 0;

  /** Notes that the service wants to be left alone for a while. */
  ask(ms: number, now = Date.now()): void {
    this.#until = Math.max(this.#until, now + Math.min(longestRest, ms));
  }

  /** How long the rest still lasts. */
  remaining(now = Date.now()): number {
    return Math.max(0, this.#until - now);
  }

  /** Waits until the rest is over, also where it is prolonged meanwhile. Rejects once the signal aborts. */
  async over(signal: AbortSignal): Promise<void> {
    for (let left = this.remaining(); left > 0; left = this.remaining()) await wait(left, undefined, { signal });
  }
}
