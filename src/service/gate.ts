/**
 * The gate in front of a host. Every request of the process to the host passes it, so that a rate limit met by one
 * request holds back all of them. While it is closed, callers wait in line; after that they are released one by one,
 * each when the previous one has been answered well or after a short while. Times are milliseconds unless stated
 * otherwise.
 */

import { Listeners } from '../text/listeners.ts';
import { type Clock, systemClock } from './clock.ts';
import { backoff, RetryBudget } from './retry.ts';

/** Whether a host accepts requests, for display. */
export type GateState =
  /** `failing`: the last attempts failed, and nothing has been answered since. */
  | { readonly kind: 'open'; readonly failing?: true }
  | {
      readonly kind: 'limited';
      /** The host limits the request rate, or has failed several times in a row or asked to wait until it is back. */
      readonly reason: 'rate_limit' | 'failing';
      /** When the next request is sent; epoch milliseconds. */
      readonly until: number;
    };

export interface GateMonitor {
  /** The same value until something changes. */
  readonly state: () => GateState;
  readonly subscribe: (listener: () => void) => () => void;
}

const open: GateState = { kind: 'open' };
const openAndFailing: GateState = { kind: 'open', failing: true };

/** A gate that never closes. */
export const openGate: GateMonitor = { state: () => open, subscribe: () => () => {} };

export interface Passage {
  readonly signal: AbortSignal;
  /** Deadline of the call, on the monotonic clock. */
  readonly endsAt: number;
  /** Not requested by the user: everything else goes first. */
  readonly background: boolean;
}

interface Waiting extends Passage {
  /** Called with whether the request may be sent. */
  readonly settle: (go: boolean) => void;
}

/** A single failure may be one endpoint's; this many in a row, without a good answer to anything, are the host's. */
const failuresToClose = 3;
/** A longer wait that a host asks for is a mistake, in milliseconds. */
const longestAsked = 24 * 60 * 60_000;
/** Interval between two releases after the gate was closed. */
const spacingMs = 100;
const spacingJitter = 0.25;

export class RateLimitGate {
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #budget = new RetryBudget();
  readonly #line: Waiting[] = [];
  /** Monotonic: setting the clock must neither open nor hold the gate. */
  #closedUntil = 0;
  #nextAt = 0;
  /** The gate was closed, and no request has succeeded since: requests go one by one. */
  #spaced = false;
  /** Failures, and rate limits without a time, since the last success. */
  #failures = 0;
  #limits = 0;
  /** The host, not just an endpoint, failed last. */
  #failing = false;
  #state: GateState = open;
  #pumping = false;
  #wake = new AbortController();

  /** @param changed called when `state` changes */
  constructor(clock: Clock, changed: () => void = () => {}) {
    this.#clock = clock;
    this.#changed = changed;
  }

  state(): GateState {
    if (this.remaining() > 0) return this.#state;
    return this.#failing ? openAndFailing : open;
  }

  /** Milliseconds until the gate opens; 0 if it is open. */
  remaining(): number {
    return Math.max(0, this.#closedUntil - this.#clock.monotonic());
  }

  /**
   * Waits until a request may be sent. Returns false immediately if that would be after the call's deadline. Ends early
   * once the signal aborts.
   */
  pass(passage: Passage): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (this.#line.length === 0 && now >= Math.max(this.#closedUntil, this.#nextAt)) {
      this.#letGo(now);
      return Promise.resolve(true);
    }
    if (passage.signal.aborted) return Promise.resolve(true);
    if (this.#closedUntil >= passage.endsAt) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const leave = () => waiting.settle(true);
    const waiting: Waiting = {
      ...passage,
      settle: go => {
        const at = this.#line.indexOf(waiting);
        if (at >= 0) this.#line.splice(at, 1);
        passage.signal.removeEventListener('abort', leave);
        // Wakes the pump: the line is empty.
        if (this.#line.length === 0) this.#wakePump();
        resolve(go);
      },
    };
    passage.signal.addEventListener('abort', leave, { once: true });
    const firstPoll = this.#line.findIndex(({ background }) => background);
    if (passage.background || firstPoll < 0) this.#line.push(waiting);
    else this.#line.splice(firstPoll, 0, waiting);
    void this.#pump();
    return promise;
  }

  /** Reports a rate limit. @param afterMs the wait requested by the host, if any */
  limit(afterMs: number | undefined): void {
    this.#limits += 1;
    this.#close('rate_limit', afterMs ?? backoff(this.#limits, this.#clock.random()));
  }

  /** Reports a server error or a timeout. @param afterMs the wait requested by the host, if any */
  failed(afterMs?: number): void {
    this.#failures += 1;
    if (afterMs !== undefined) {
      this.#failing = true;
      this.#close('failing', afterMs);
      return;
    }
    const beyond = this.#failures - failuresToClose;
    if (beyond < 0) return;
    this.#failing = true;
    this.#close('failing', backoff(beyond + 1, this.#clock.random()));
  }

  /** Reports that there was no connection: that holds nothing back, because it costs the host nothing. */
  unreachable(): void {
    this.#setFailing(true);
  }

  /** Reports a refusal of this one request, which says that the host works: the next in line may go. */
  answered(): void {
    this.#failures = 0;
    this.#limits = 0;
    this.#nextAt = 0;
    // A request sent before the gate closed may be answered while it is: the others still wait, and then go one by one.
    if (this.#line.length === 0 && this.remaining() === 0) this.#spaced = false;
    this.#wakePump();
    this.#setFailing(false);
  }

  /** Reports a success. */
  succeeded(): void {
    this.#budget.succeeded();
    this.answered();
  }

  /** The service was restarted: its former failures no longer count. */
  restarted(): void {
    this.#failures = 0;
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

  #close(reason: 'rate_limit' | 'failing', ms: number): void {
    const { monotonic, now } = this.#clock;
    const until = monotonic() + Math.min(longestAsked, ms);
    this.#spaced = true;
    if (until <= this.#closedUntil) return;
    this.#closedUntil = until;
    this.#state = { kind: 'limited', reason, until: now() + this.remaining() };
    for (const waiting of [...this.#line]) if (waiting.endsAt <= until) waiting.settle(false);
    this.#changed();
  }

  #setFailing(failing: boolean): void {
    if (this.#failing === failing) return;
    this.#failing = failing;
    this.#changed();
  }

  #letGo(now: number): void {
    const jitter = 1 - spacingJitter + 2 * spacingJitter * this.#clock.random();
    if (this.#spaced) this.#nextAt = now + spacingMs * jitter;
  }

  /** Lets the pump check the line again. */
  #wakePump(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  /** Releases waiting requests, each at its time; runs while there are any. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#line.length > 0) {
      const now = this.#clock.monotonic();
      const wait = Math.max(this.#closedUntil, this.#nextAt) - now;
      if (wait > 0) {
        await this.#clock.sleep(wait, this.#wake.signal);
        continue;
      }
      this.#letGo(now);
      this.#line[0]?.settle(true);
    }
    this.#pumping = false;
  }
}

/** The gates of a process, by host. */
export class Gates {
  readonly #clock: Clock;
  readonly #gates = new Map<string, RateLimitGate>();
  readonly #listeners = new Listeners();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** @param host name and port */
  of(host: string): RateLimitGate {
    const known = this.#gates.get(host);
    if (known) return known;
    const gate = new RateLimitGate(this.#clock, this.#listeners.notify);
    this.#gates.set(host, gate);
    return gate;
  }

  /** The gate state of the host that `host` currently returns; open if it returns none. */
  monitor(host: () => string | undefined): GateMonitor {
    return {
      state: () => {
        const name = host();
        return name === undefined ? open : this.of(name).state();
      },
      subscribe: this.#listeners.subscribe,
    };
  }
}
