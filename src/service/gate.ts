/**
 * The gate in front of a host. Every request from this process to the host passes it, so a rate limit on one request
 * delays all of them. While the gate is closed, callers queue; once it opens, it releases them one by one, each after
 * the previous one succeeds or after a short interval. After a rate limit, the first one is a trial: the others follow
 * once it is answered. Times are in milliseconds unless stated otherwise.
 */

import { Listeners } from '../base/listeners.ts';
import { backoff, honouredWait, maxRetryAfterMs } from '../base/retry-waits.ts';
import { type Clock, systemClock } from './clock.ts';
import { RetryBudget } from './retry.ts';

/** Whether a host accepts requests, for display. */
export type GateState =
  /** `failing`: the last attempts failed, and none has succeeded since. */
  | { readonly kind: 'open'; readonly failing?: true }
  | {
      readonly kind: 'limited';
      /** The host limits the request rate, or several operations failed in a row. */
      readonly reason: 'rate_limit' | 'failing';
      /** When the next request is sent; epoch milliseconds. */
      readonly until: number;
      /** The end of the wait that the host asked for, if the gate opens earlier; epoch milliseconds. */
      readonly requestedUntil?: number;
    };

export interface GateMonitor {
  /** The same value until something changes. */
  readonly state: () => GateState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Opens the gate for one request at the user's request; the others follow once it is answered. */
  readonly tryNow: () => void;
}

const openState: GateState = { kind: 'open' };
const openAndFailing: GateState = { kind: 'open', failing: true };

export interface Passage {
  readonly signal: AbortSignal;
  /** Deadline of the call, on the monotonic clock. */
  readonly endsAt: number;
  /** Whether this is a poll; the user's own requests go first. */
  readonly background: boolean;
}

interface Waiting extends Passage {
  /** Called with true if the request may be sent. */
  readonly settle: (go: boolean) => void;
}

/** One endpoint may fail on its own; if this many operations fail with no success in between, the host is failing. */
const operationsToClose = 3;
/** Interval between releases after the gate has opened. */
const spacingMs = 100;
const spacingJitter = 0.25;
/** How long the others wait for the response to the first request after a rate limit. */
const trialMs = 10_000;

export class RateLimitGate {
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #budget = new RetryBudget();
  readonly #queue: Waiting[] = [];
  /** Monotonic: setting the system clock must neither open nor close the gate. */
  #closedUntil = 0;
  /** The end of the wait that the host asked for. The gate may open earlier. */
  #requestedUntil = 0;
  #nextAt = 0;
  /** The first request after a rate limit: yet to be sent, or waiting for its response. */
  #trial: 'due' | 'sent' | undefined;
  /** Whether to release requests one by one: the gate was closed, and nothing has succeeded since. */
  #spaced = false;
  /** The operations that failed since the last success, and how often they closed the gate. */
  readonly #failed = new Set<string>();
  #failures = 0;
  /** How many rate limits there were since the last success. */
  #limits = 0;
  /** Whether the host itself is failing, not just an endpoint. */
  #failing = false;
  #state: GateState = openState;
  #pumping = false;
  #wake = new AbortController();

  /** @param changed called when `state` changes */
  constructor(clock: Clock, changed: () => void = () => {}) {
    this.#clock = clock;
    this.#changed = changed;
  }

  state(): GateState {
    if (this.remaining() > 0) return this.#state;
    return this.#failing ? openAndFailing : openState;
  }

  /** Milliseconds until the gate opens; 0 if it is open. */
  remaining(): number {
    return Math.max(0, this.#closedUntil - this.#clock.monotonic());
  }

  /** Milliseconds until the end of the wait that the host asked for; not less than `remaining`. */
  requested(): number {
    return Math.max(0, this.#requestedUntil - this.#clock.monotonic());
  }

  /**
   * Waits until a request may be sent. Returns false immediately if the gate opens after the call's deadline, or if the
   * host asks for a longer wait than retries allow. Ends early once the signal aborts.
   */
  pass(passage: Passage): Promise<boolean> {
    if (passage.signal.aborted) return Promise.resolve(true);
    const now = this.#clock.monotonic();
    if (this.#queue.length === 0 && now >= Math.max(this.#closedUntil, this.#nextAt)) {
      this.#spaceFrom(now);
      return Promise.resolve(true);
    }
    if (this.#isTooLate(passage)) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const leave = () => waiting.settle(true);
    const waiting: Waiting = {
      ...passage,
      settle: go => {
        const at = this.#queue.indexOf(waiting);
        if (at >= 0) this.#queue.splice(at, 1);
        passage.signal.removeEventListener('abort', leave);
        // The pump sleeps until the next release: an empty queue ends it.
        if (this.#queue.length === 0) this.#wakePump();
        resolve(go);
      },
    };
    passage.signal.addEventListener('abort', leave, { once: true });
    const firstPoll = this.#queue.findIndex(({ background }) => background);
    if (passage.background || firstPoll < 0) this.#queue.push(waiting);
    else this.#queue.splice(firstPoll, 0, waiting);
    void this.#pump();
    return promise;
  }

  /** Reports a rate limit. @param afterMs the wait requested by the host, if any */
  limit(afterMs: number | undefined): void {
    this.#limits += 1;
    if (this.#trial === 'sent') this.#releaseAfter(spacingMs);
    this.#trial = 'due';
    const random = this.#clock.random();
    const requestedMs = afterMs ?? backoff(this.#limits, random);
    this.#close('rate_limit', honouredWait(requestedMs, random), requestedMs);
  }

  /** Opens the gate for one request; the others follow once it is answered. */
  tryNow(): void {
    if (this.remaining() === 0) return;
    this.#closedUntil = 0;
    this.#trial = 'due';
    this.#releaseAfter(0);
    this.#changed();
  }

  /**
   * Reports a server error or a timeout. If the response asks for a wait, that applies only to this operation, and its
   * caller waits.
   */
  failed(operation: string): void {
    this.#heard();
    this.#failed.add(operation);
    if (this.#failed.size < operationsToClose) return;
    this.#failures += 1;
    this.#failing = true;
    this.#close('failing', backoff(this.#failures, this.#clock.random()));
  }

  /** Reports a failed connection. The gate stays open: a connection attempt costs the host nothing. */
  unreachable(): void {
    this.abandoned();
    this.#setFailing(true);
  }

  /**
   * Reports a request that its caller gave up before a response. If it was the trial, the next request becomes it.
   */
  abandoned(): void {
    if (this.#trial !== 'sent') return;
    this.#trial = 'due';
    this.#releaseAfter(0);
  }

  /** Reports a refusal of a single request: the host is working, so the next one in the queue may go. */
  answered(): void {
    this.#forgetFailures();
    this.#limits = 0;
    this.#heard();
    // A request sent before the gate closed may succeed while it is closed: the queue is still released one by one.
    if (this.#queue.length === 0 && this.remaining() === 0) this.#spaced = false;
    this.#releaseAfter(0);
    this.#setFailing(false);
  }

  /** Reports a success. */
  succeeded(): void {
    this.#budget.succeeded();
    this.answered();
  }

  /** Forgets earlier failures, because the service was restarted. */
  restarted(): void {
    this.#forgetFailures();
    const before = this.state();
    this.#failing = false;
    if (this.#state.kind === 'limited' && this.#state.reason === 'failing') this.#closedUntil = 0;
    if (this.state() !== before) this.#changed();
    this.#wakePump();
  }

  /** Takes a retry from the host's budget; false if none is left. */
  takeRetry(): boolean {
    return this.#budget.take();
  }

  #forgetFailures(): void {
    this.#failed.clear();
    this.#failures = 0;
  }

  /** Ends the trial, after a timeout or any response but a rate limit. */
  #heard(): void {
    if (this.remaining() > 0) return;
    this.#requestedUntil = 0;
    if (this.#trial === 'sent') this.#releaseAfter(spacingMs);
    this.#trial = undefined;
  }

  /** @param requestedMs the wait that the host asked for */
  #close(reason: 'rate_limit' | 'failing', ms: number, requestedMs = ms): void {
    const { monotonic, now } = this.#clock;
    // Read the clock once, so that equal waits end at the same time.
    const closedAt = monotonic();
    const [until, requestedUntil] = [closedAt + ms, closedAt + requestedMs];
    this.#spaced = true;
    // The response to a trial replaces the earlier wait that the host asked for.
    if (this.remaining() === 0) this.#requestedUntil = 0;
    if (until <= this.#closedUntil && requestedUntil <= this.#requestedUntil) return;
    this.#closedUntil = Math.max(this.#closedUntil, until);
    this.#requestedUntil = Math.max(this.#requestedUntil, requestedUntil);
    const isCut = this.#requestedUntil > this.#closedUntil;
    this.#state = {
      kind: 'limited',
      reason,
      until: now() + this.remaining(),
      ...(isCut && { requestedUntil: now() + this.requested() }),
    };
    for (const waiting of [...this.#queue]) if (this.#isTooLate(waiting)) waiting.settle(false);
    this.#changed();
  }

  #isTooLate({ endsAt, background }: Passage): boolean {
    if (this.#closedUntil >= endsAt) return true;
    return !background && this.remaining() > 0 && this.requested() > maxRetryAfterMs;
  }

  #setFailing(failing: boolean): void {
    if (this.#failing === failing) return;
    this.#failing = failing;
    this.#changed();
  }

  /** Sets when the next request may follow the one released at `now`. */
  #spaceFrom(now: number): void {
    const jitter = 1 - spacingJitter + 2 * spacingJitter * this.#clock.random();
    const isTrial = this.#trial === 'due';
    if (isTrial) this.#trial = 'sent';
    if (isTrial || this.#spaced) this.#nextAt = now + (isTrial ? trialMs : spacingMs * jitter);
  }

  /** Releases the next request once this time has passed and the gate is open. */
  #releaseAfter(ms: number): void {
    this.#nextAt = this.#clock.monotonic() + ms;
    this.#wakePump();
  }

  /** Wakes the pump to check the queue again. Most calls find no queue, and the first abort costs milliseconds. */
  #wakePump(): void {
    if (!this.#pumping) return;
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  /** Releases queued requests, each at its time, until the queue is empty. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#queue.length > 0) {
      const now = this.#clock.monotonic();
      const wait = Math.max(this.#closedUntil, this.#nextAt) - now;
      if (wait > 0) {
        await this.#clock.sleep(wait, this.#wake.signal);
        continue;
      }
      this.#spaceFrom(now);
      this.#queue[0]?.settle(true);
    }
    this.#pumping = false;
  }
}

/** A process's gates, by host. */
export class Gates {
  readonly #clock: Clock;
  readonly #gates = new Map<string, RateLimitGate>();
  readonly #listeners = new Listeners();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** @param host name and port */
  of(host: string): RateLimitGate {
    const existing = this.#gates.get(host);
    if (existing) return existing;
    const gate = new RateLimitGate(this.#clock, this.#listeners.notify);
    this.#gates.set(host, gate);
    return gate;
  }

  /** Monitors the gate of the host that `host` currently returns; open if it returns none. */
  monitor(host: () => string | undefined): GateMonitor {
    return {
      state: () => {
        const name = host();
        return name === undefined ? openState : this.of(name).state();
      },
      subscribe: this.#listeners.subscribe,
      tryNow: () => {
        const name = host();
        if (name !== undefined) this.of(name).tryNow();
      },
    };
  }
}
