/**
 * A supervised connection to a service that may end or move to another port while in use. All callers share it: the
 * first caller to miss the service restarts it, and the others wait for that attempt.
 */
import { unlessAborted } from '../base/abort.ts';
import { asError } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import type { Supervisor, Target } from './options.ts';

/** The state of the connection, for display. Times are epoch milliseconds. */
export type ConnectionState =
  | {
      readonly kind: 'connected';
      /** Increases with each process that responds as the service. */
      readonly generation: number;
      /** How the service differs from the requested one, as a sentence. */
      readonly note: string | undefined;
    }
  | { readonly kind: 'starting' | 'restarting' | 'silent'; readonly since: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly message: string; readonly retryAt: number };

/** The connection, as a screen sees it. */
export interface ConnectionMonitor {
  readonly state: ConnectionState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Retries at once after a failure. */
  readonly retry: () => void;
}

/** A connection to a fixed address. */
export const fixedConnection: ConnectionMonitor = {
  state: { kind: 'connected', generation: 1, note: undefined },
  subscribe: () => () => {},
  retry: () => {},
};

/** Why to locate the service: for a new screen or command, or because it was lost. */
export type LocateReason = 'start' | 'command' | 'lost';

/** Why a held service ended: stopped, replaced, or gone without notice. */
export type EndReason = 'stopped' | 'replaced' | 'lost';

export interface LocatedService extends Target {
  /** Identifies the process: a service that was lost and found again keeps its id. */
  readonly id: string;
  readonly note?: string | undefined;
}

export interface SupervisedService {
  /** Finds or starts the service. @throws Error for the user */
  readonly ensure: (reason: LocateReason, signal: AbortSignal) => Promise<LocatedService>;
  /** Keeps the service from idling out until released. `onEnd` is called once if the service ends first. */
  readonly hold: (target: Target, onEnd: (endReason: EndReason) => void) => () => void;
  /** Whether it exists but does not respond, e.g. because it is suspended or overloaded. */
  readonly isSilent: (target: Target) => Promise<boolean>;
}

/** Delay after a failed attempt, in milliseconds; doubles with each further one. */
const firstRetryMs = 1_000;
const maxRetryMs = 15_000;
/** A service silent for this long, in milliseconds, is checked, to notice a hang before requests time out. */
const checkAfterMs = 1_000;
/** A hold that ends sooner than this is renewed only after this delay. */
const minHoldMs = 1_000;

interface Failure {
  readonly error: Error;
  /** Until this time, callers get the error without a new attempt. Monotonic: the system clock may be set. */
  readonly retryNotBefore: number;
  readonly count: number;
}

export class SupervisedConnection implements Supervisor, ConnectionMonitor {
  readonly #service: SupervisedService;
  readonly #holds: boolean;
  readonly #closing = new AbortController();
  readonly #listeners = new Listeners();
  #reason: LocateReason;
  state: ConnectionState;
  #target: LocatedService | undefined;
  #lastId: string | undefined;
  #generation = 0;
  #attempt: Promise<LocatedService> | undefined;
  #failure: Failure | undefined;
  #release: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether a request was sent and no response has arrived since. */
  #isWaiting = false;
  /** Increases with each response. */
  #answers = 0;

  /** @param reason `start` for a screen, which also holds the service; `command` for a few requests */
  constructor(service: SupervisedService, reason: 'start' | 'command') {
    this.#service = service;
    this.#reason = reason;
    this.#holds = reason === 'start';
    this.state = { kind: 'starting', since: Date.now() };
  }

  readonly subscribe = this.#listeners.subscribe;

  /** The last known address. */
  get baseUrl(): string | undefined {
    return this.#target?.baseUrl;
  }

  readonly locate = (signal: AbortSignal): Promise<Target> => {
    if (this.#target) {
      this.#waitForAnswer(this.#target);
      return Promise.resolve(this.#target);
    }
    const { error, retryNotBefore } = this.#failure ?? { error: undefined, retryNotBefore: 0 };
    if (!this.#attempt && error && performance.now() < retryNotBefore) return Promise.reject(error);
    return unlessAborted(this.#attempt ?? this.#begin(), signal);
  };

  readonly recover = async (lost: Target, signal: AbortSignal): Promise<boolean> => {
    // Another caller may have found it already.
    if (this.#target && (this.#target.baseUrl !== lost.baseUrl || this.#target.apiKey !== lost.apiKey)) return true;
    this.#target = undefined;
    try {
      await this.locate(signal);
      return true;
    } catch {
      return false;
    }
  };

  readonly answered = (): void => {
    this.#answers += 1;
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    clearTimeout(this.#timer);
    if (this.#target && this.state.kind === 'silent') this.#setConnected(this.#target);
  };

  readonly retry = (): void => {
    if (this.#target || this.#attempt) return;
    void this.#begin();
  };

  /** Releases the service without locating it. Pending callers fail. */
  close(): void {
    this.#closing.abort(new Error('The connection to the local service was closed.'));
    this.#releaseHold();
    this.#target = undefined;
    this.#listeners.clear();
  }

  #set(state: ConnectionState): void {
    this.state = state;
    this.#listeners.notify();
  }

  #setConnected({ note }: LocatedService): void {
    this.#set({ kind: 'connected', generation: this.#generation, note });
  }

  #begin(): Promise<LocatedService> {
    const attempt = this.#ensure();
    this.#attempt = attempt;
    // Waiting callers get the error; the state has it for everyone else.
    attempt.catch(() => {});
    return attempt;
  }

  async #ensure(): Promise<LocatedService> {
    const { signal } = this.#closing;
    const reason = this.#reason;
    this.#set({ kind: this.#generation > 0 ? 'restarting' : 'starting', since: Date.now() });
    // Only the first attempt may replace a running service, or two screens would keep replacing each other's.
    this.#reason = 'lost';
    try {
      signal.throwIfAborted();
      const target = await this.#service.ensure(reason, signal);
      signal.throwIfAborted();
      if (target.id !== this.#lastId) this.#generation += 1;
      this.#lastId = target.id;
      this.#target = target;
      this.#failure = undefined;
      // Let the requests that are waiting for the target be sent first.
      setImmediate(() => {
        if (this.#target !== target) return;
        this.#hold(target);
        this.#setConnected(target);
      });
      return target;
    } catch (cause) {
      const error = asError(cause);
      const count = (this.#failure?.count ?? 0) + 1;
      const retryMs = Math.min(maxRetryMs, firstRetryMs * 2 ** (count - 1));
      this.#failure = { error, retryNotBefore: performance.now() + retryMs, count };
      if (!signal.aborted) {
        this.#set({ kind: 'failed', message: error.message, retryAt: Date.now() + retryMs });
        // The next poll of a screen may be a minute away.
        if (this.#holds) this.#later(this.retry, retryMs);
      }
      throw error;
    } finally {
      this.#attempt = undefined;
    }
  }

  #hold(target: LocatedService): void {
    this.#releaseHold();
    if (!this.#holds) return;
    const since = performance.now();
    this.#release = this.#service.hold(target, endReason => {
      this.#release = undefined;
      if (this.#target === target) this.#ended(endReason, performance.now() - since);
    });
  }

  #releaseHold(): void {
    clearTimeout(this.#timer);
    this.#release?.();
    this.#release = undefined;
    this.#isWaiting = false;
  }

  /** The service has ended: locate it again at once, unless it was stopped on purpose. */
  #ended(endReason: EndReason, heldMs: number): void {
    this.#target = undefined;
    this.#isWaiting = false;
    if (endReason === 'stopped') {
      this.#set({ kind: 'stopped' });
      return;
    }
    if (heldMs >= minHoldMs || endReason === 'replaced') {
      void this.#begin();
      return;
    }
    this.#later(this.retry, minHoldMs);
  }

  #waitForAnswer(target: LocatedService): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#later(() => void this.#check(target), checkAfterMs);
  }

  /** Checks whether the service is alive while requests wait for it. If not, shows it as silent. */
  async #check(target: LocatedService): Promise<void> {
    const since = Date.now();
    const answers = this.#answers;
    const missed = await this.#service.isSilent(target).catch(() => undefined);
    if (this.#target !== target) return;
    // If it responded to anything in the meantime, the service is busy, not silent.
    const silent = missed && answers === this.#answers;
    if (silent === undefined) {
      // A failed check proves nothing: repeat it while requests wait.
      if (this.#isWaiting) this.#later(() => void this.#check(target), checkAfterMs);
      return;
    }
    this.#isWaiting = silent;
    const wasSilent = this.state.kind === 'silent';
    if (!silent && wasSilent) this.#setConnected(target);
    else if (silent && !wasSilent) this.#set({ kind: 'silent', since });
    if (silent) this.#later(() => void this.#check(target), checkAfterMs);
  }

  #later(work: () => void, ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(work, ms);
    this.#timer.unref();
  }
}
