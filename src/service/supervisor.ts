/**
 * A supervised connection to a service that may end, or move to another port, while it is in use. All callers share it:
 * the first one that misses the service restarts it, the others wait for the same attempt.
 */
import { unlessAborted } from '../text/abort.ts';
import { asError } from '../text/errors.ts';
import { Listeners } from '../text/listeners.ts';
import type { Supervisor, Target } from './options.ts';

/** The state of the connection, for display. Times are epoch milliseconds. */
export type ConnectionState =
  | {
      readonly kind: 'connected';
      /** Increases with each process that answers as the service. */
      readonly generation: number;
      /** Why this is not quite the requested service, as a sentence. */
      readonly note: string | undefined;
    }
  | { readonly kind: 'starting' | 'restarting' | 'silent'; readonly since: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly message: string; readonly retryAt: number };

/** The connection, as a screen sees it. */
export interface ConnectionMonitor {
  readonly state: ConnectionState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Retries immediately after a failure, however recent. */
  readonly retry: () => void;
}

/** A connection to a fixed address. */
export const fixedConnection: ConnectionMonitor = {
  state: { kind: 'connected', generation: 1, note: undefined },
  subscribe: () => () => {},
  retry: () => {},
};

/** When the service is located: at the start of a screen or a command, or after it was lost. */
export type Moment = 'start' | 'command' | 'lost';

/** Why a held service ended: stopped, replaced, or gone without notice. */
export type EndReason = 'stopped' | 'replaced' | 'lost';

export interface LocatedService extends Target {
  /** The same for the same process: a service lost for a moment is not a new one. */
  readonly id: string;
  readonly note?: string | undefined;
}

/** The supervised service. */
export interface SupervisedService {
  /** Finds or starts the service. @throws Error for the user */
  readonly ensure: (moment: Moment, signal: AbortSignal) => Promise<LocatedService>;
  /** Keeps it from idling out, until released. `onEnd` is called once, if it ends before. */
  readonly hold: (target: Target, onEnd: (farewell: EndReason) => void) => () => void;
  /** Whether it exists but does not answer, because it is stopped or overloaded. */
  readonly isSilent: (target: Target) => Promise<boolean>;
}

export interface SupervisorOptions {
  /** `start` for a screen, which also holds the service; `command` for a few requests. */
  readonly moment: 'start' | 'command';
}

/** Minimum delay after a failed attempt; doubled with each further one. */
const firstRestMs = 1_000;
const longestRestMs = 15_000;
/** A service that has not answered for this long is checked, so that a hang is noticed before requests time out. */
const checkAfterMs = 1_000;
/** A hold that ended sooner than this is not renewed before as much time has passed. */
const shortestHoldMs = 1_000;

interface Failure {
  readonly error: Error;
  /** Until when callers get the error without another attempt; monotonic, because the clock may be set. */
  readonly restUntil: number;
  readonly count: number;
}

export class SupervisedConnection implements Supervisor, ConnectionMonitor {
  readonly #service: SupervisedService;
  readonly #holds: boolean;
  readonly #closing = new AbortController();
  readonly #listeners = new Listeners();
  #moment: Moment;
  #state: ConnectionState;
  #target: LocatedService | undefined;
  #lastId: string | undefined;
  #generation = 0;
  #attempt: Promise<LocatedService> | undefined;
  #failure: Failure | undefined;
  #release: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** A request has been sent, and none has been answered since. */
  #waits = false;
  /** Increases with each answer. */
  #answers = 0;

  constructor(service: SupervisedService, { moment }: SupervisorOptions) {
    this.#service = service;
    this.#moment = moment;
    this.#holds = moment === 'start';
    this.#state = { kind: 'starting', since: Date.now() };
  }

  get state(): ConnectionState {
    return this.#state;
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
    const { error, restUntil } = this.#failure ?? { error: undefined, restUntil: 0 };
    if (!this.#attempt && error && performance.now() < restUntil) return Promise.reject(error);
    return unlessAborted(this.#attempt ?? this.#begin(), signal);
  };

  readonly recover = async (lost: Target, signal: AbortSignal): Promise<boolean> => {
    // Another caller may have found it in the meantime.
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
    if (!this.#waits) return;
    this.#waits = false;
    clearTimeout(this.#timer);
    if (this.#target && this.#state.kind === 'silent') this.#setConnected(this.#target);
  };

  readonly retry = (): void => {
    if (this.#target || this.#attempt) return;
    void this.#begin();
  };

  /** Releases the service without locating it. Pending callers fail. */
  close(): void {
    this.#closing.abort(new Error('The connection to the local service was closed.'));
    this.#letGo();
    this.#target = undefined;
    this.#listeners.clear();
  }

  #set(state: ConnectionState): void {
    this.#state = state;
    this.#listeners.notify();
  }

  #setConnected({ note }: LocatedService): void {
    this.#set({ kind: 'connected', generation: this.#generation, note });
  }

  #begin(): Promise<LocatedService> {
    const attempt = this.#ensure();
    this.#attempt = attempt;
    // Those who wait get the failure; it is in the state as well.
    attempt.catch(() => {});
    return attempt;
  }

  async #ensure(): Promise<LocatedService> {
    const { signal } = this.#closing;
    const moment = this.#moment;
    this.#set({ kind: this.#generation > 0 ? 'restarting' : 'starting', since: Date.now() });
    // Only the first attempt may replace a running service: two screens must not keep replacing each other's.
    this.#moment = 'lost';
    try {
      signal.throwIfAborted();
      const target = await this.#service.ensure(moment, signal);
      signal.throwIfAborted();
      if (target.id !== this.#lastId) this.#generation += 1;
      this.#lastId = target.id;
      this.#target = target;
      this.#failure = undefined;
      this.#hold(target);
      this.#setConnected(target);
      return target;
    } catch (cause) {
      const error = asError(cause);
      const count = (this.#failure?.count ?? 0) + 1;
      const restMs = Math.min(longestRestMs, firstRestMs * 2 ** (count - 1));
      this.#failure = { error, restUntil: performance.now() + restMs, count };
      if (!signal.aborted) this.#set({ kind: 'failed', message: error.message, retryAt: Date.now() + restMs });
      throw error;
    } finally {
      this.#attempt = undefined;
    }
  }

  #hold(target: LocatedService): void {
    this.#letGo();
    if (!this.#holds) return;
    const since = performance.now();
    this.#release = this.#service.hold(target, farewell => {
      this.#release = undefined;
      if (this.#target === target) this.#ended(farewell, performance.now() - since);
    });
  }

  #letGo(): void {
    clearTimeout(this.#timer);
    this.#release?.();
    this.#release = undefined;
    this.#waits = false;
  }

  /** The service has ended: locate it immediately, unless it was ended on purpose. */
  #ended(farewell: EndReason, heldMs: number): void {
    this.#target = undefined;
    this.#waits = false;
    if (farewell === 'stopped') {
      this.#set({ kind: 'stopped' });
      return;
    }
    if (heldMs >= shortestHoldMs || farewell === 'replaced') {
      void this.#begin();
      return;
    }
    this.#later(this.retry, shortestHoldMs);
  }

  #waitForAnswer(target: LocatedService): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#later(() => void this.#check(target), checkAfterMs);
  }

  /** Checks whether a service that requests wait for is alive, and reports if it does not answer. */
  async #check(target: LocatedService): Promise<void> {
    const since = Date.now();
    const answers = this.#answers;
    const missed = await this.#service.isSilent(target).catch(() => undefined);
    if (this.#target !== target) return;
    // A service that has answered something in the meantime is busy, not silent.
    const silent = missed && answers === this.#answers;
    if (silent === undefined) {
      // A failed check reports nothing, and is repeated while requests wait.
      if (this.#waits) this.#later(() => void this.#check(target), checkAfterMs);
      return;
    }
    this.#waits = silent;
    const wasSilent = this.#state.kind === 'silent';
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
