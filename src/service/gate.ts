/**
 * The gate before a host: everything in the process that asks the host passes it, so that a rate limit met by one request
 * holds back all of them. While it is closed callers wait in line; once it opens they are let go one by one, the next when
 * the one before has been answered well or after a short while. Times are milliseconds, unless they say otherwise.
 */
import { type Clock, systemClock } from './clock.ts';
import { backoff, longestWait, RetryBudget } from './retry.ts';

/** How a host takes requests, for a screen to show. */
export type GateState =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'limited';
      /** The host limits the rate of requests, or has failed several times in a row. */
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

/** A gate that never closes. */
export const openGate: GateMonitor = { state: () => open, subscribe: () => () => {} };

export interface Passage {
  readonly signal: AbortSignal;
  /** When the call must be over, on the monotonic clock. */
  readonly endsAt: number;
  /** The user did not ask for it: everything else goes first. */
  readonly background: boolean;
}

interface Waiting extends Passage {
  /** Returns whether the request may be sent. */
  readonly settle: (go: boolean) => void;
}

/** One failure is that of an endpoint; so many in a row, without a good answer to anything, are those of the host. */
const failuresToClose = 3;
/** Between two requests that are let go after the gate was closed. */
const spacingMs = 100;
const spacingJitter = 0.25;

export class RateLimitGate {
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #budget = new RetryBudget();
  readonly #line: Waiting[] = [];
  /** Monotonic: a clock that is set must neither open nor hold the gate. */
  #closedUntil = 0;
  #nextAt = 0;
  /** Was closed, and nothing has been answered well since: requests go one by one. */
  #spaced = false;
  /** Failures, and rate limits without a time, since the last good answer. */
  #failures = 0;
  #limits = 0;
  #state: GateState = open;
  #pumping = false;
  #wake = new AbortController();

  /** @param changed called when `state` gives something else */
  constructor(clock: Clock, changed: () => void = () => {}) {
    this.#clock = clock;
    this.#changed = changed;
  }

  state(): GateState {
    return this.remaining() > 0 ? this.#state : open;
  }

  /** Until the gate opens; 0 if it is open. */
  remaining(): number {
    return Math.max(0, this.#closedUntil - this.#clock.monotonic());
  }

  /**
   * Waits until a request may be sent. Returns false, at once, where that would be after the end of the call. Ends
   * early once the signal aborts.
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
        // Ends the sleep of the pump: the line is empty.
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

  /** The host limits the rate of requests. @param afterMs how long it asks to wait, if it says so */
  limit(afterMs: number | undefined): void {
    this.#limits += 1;
    this.#close('rate_limit', afterMs ?? backoff(this.#limits, this.#clock.random()));
  }

  /** The host answered that it has failed, or not in time. */
  failed(): void {
    this.#failures += 1;
    const beyond = this.#failures - failuresToClose;
    if (beyond >= 0) this.#close('failing', backoff(beyond + 1, this.#clock.random()));
  }

  /** The host answered, if only with a refusal of this one request: the next in line may go. */
  answered(): void {
    this.#failures = 0;
    this.#limits = 0;
    this.#nextAt = 0;
    if (this.#line.length === 0) this.#spaced = false;
    this.#wakePump();
  }

  /** The host did what it was asked. */
  succeeded(): void {
    this.#budget.succeeded();
    this.answered();
  }

  /** The service behind the host has been started again: its failures were those of the one before. */
  restarted(): void {
    this.#failures = 0;
    const { kind } = this.state();
    if (this.#state.kind === 'limited' && this.#state.reason === 'failing') this.#closedUntil = 0;
    if (this.state().kind !== kind) this.#changed();
    this.#wakePump();
  }

  /** Takes one retry out of the budget of the host, or says that there is none left. */
  takeRetry(): boolean {
    return this.#budget.take();
  }

  #close(reason: 'rate_limit' | 'failing', ms: number): void {
    const { monotonic, now } = this.#clock;
    const until = monotonic() + Math.min(longestWait, ms);
    this.#spaced = true;
    if (until <= this.#closedUntil) return;
    this.#closedUntil = until;
    this.#state = { kind: 'limited', reason, until: now() + this.remaining() };
    for (const waiting of [...this.#line]) if (waiting.endsAt <= until) waiting.settle(false);
    this.#changed();
  }

  #letGo(now: number): void {
    const jitter = 1 - spacingJitter + 2 * spacingJitter * this.#clock.random();
    if (this.#spaced) this.#nextAt = now + spacingMs * jitter;
  }

  /** Has the pump look again. */
  #wakePump(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  /** Lets those who wait go, each at its time; runs while somebody waits. */
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
  readonly #listeners = new Set<() => void>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** @param host name and port */
  of(host: string): RateLimitGate {
    const known = this.#gates.get(host);
    if (known) return known;
    const gate = new RateLimitGate(this.#clock, () => {
      for (const listener of this.#listeners) listener();
    });
    this.#gates.set(host, gate);
    return gate;
  }

  /** How the host takes requests that `host` names at the moment; if it names none, nothing is held back. */
  monitor(host: () => string | undefined): GateMonitor {
    return {
      state: () => {
        const name = host();
        return name === undefined ? open : this.of(name).state();
      },
      subscribe: listener => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }
}
