/**
 * One supervised connection to a service that may end, or move to another port, while it is in use. All callers share it: the
 * first that misses the service starts it again, the others wait for the same attempt.
 */
import { unlessAborted } from '../text/abort.ts';
import type { Supervisor, Target } from './options.ts';

/** How the connection is, for a screen to show. Times are epoch milliseconds. */
export type ConnectionState =
  | {
      readonly kind: 'connected';
      /** Grows by one with each process that answers as the service. */
      readonly generation: number;
      /** Why this is not quite the service that was asked for, in a sentence. */
      readonly note: string | undefined;
    }
  | { readonly kind: 'starting' | 'restarting' | 'silent'; readonly since: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly message: string; readonly retryAt: number };

/** What a screen may know of a connection, and do about it. */
export interface ConnectionMonitor {
  readonly state: ConnectionState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Tries again at once where the last attempt failed, however short ago. */
  readonly retry: () => void;
}

/** A connection to an address that does not move. */
export const fixedConnection: ConnectionMonitor = {
  state: { kind: 'connected', generation: 1, note: undefined },
  subscribe: () => () => {},
  retry: () => {},
};

/** When the service is looked for: at the start of a screen or of a single command, or after it was lost. */
export type Moment = 'start' | 'command' | 'lost';

/** Why a service that was held has ended: on request, for another that replaces it, or without a word. */
export type EndReason = 'stopped' | 'replaced' | 'lost';

export interface LocatedService extends Target {
  /** The same for the same process: one that was lost for a moment only is no other service. */
  readonly id: string;
  readonly note?: string | undefined;
}

/** What is supervised. */
export interface SupervisedService {
  /**
   * Finds the service, or starts it.
   *
   * @throws Error in words for the user
   */
  readonly ensure: (moment: Moment, signal: AbortSignal) => Promise<LocatedService>;
  /** Keeps it from ending for lack of requests, until released. `onEnd` is called once, if it ends before. */
  readonly hold: (target: Target, onEnd: (farewell: EndReason) => void) => () => void;
  /** Whether it is there and does not answer, as one that is stopped or overloaded. */
  readonly isSilent: (target: Target) => Promise<boolean>;
}

export interface SupervisorOptions {
  /** `start` for a screen, which also holds the service; `command` for what asks a few times and ends. */
  readonly moment: 'start' | 'command';
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** After a failure the next attempt is made this much later at the earliest, and twice as late with each. */
const firstRestMs = 1_000;
const longestRestMs = 15_000;
/** A service that has not answered for so long is checked, so that one that hangs is noticed before requests time out. */
const checkAfterMs = 1_000;
/** A hold that ended sooner than this is not taken again before as much time has passed. */
const shortestHoldMs = 1_000;

interface Failure {
  readonly error: Error;
  readonly retryAt: number;
  readonly count: number;
}

export class SupervisedConnection implements Supervisor, ConnectionMonitor {
  readonly #service: SupervisedService;
  readonly #holds: boolean;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  #moment: Moment;
  #state: ConnectionState;
  #target: LocatedService | undefined;
  #lastId: string | undefined;
  #generation = 0;
  #attempt: Promise<LocatedService> | undefined;
  #failure: Failure | undefined;
  #release: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** A request has been sent and none been answered since. */
  #waits = false;
  /** Grows with each answer. */
  #answers = 0;

  constructor(service: SupervisedService, { moment, now = Date.now }: SupervisorOptions) {
    this.#service = service;
    this.#moment = moment;
    this.#holds = moment === 'start';
    this.#now = now;
    this.#state = { kind: 'starting', since: now() };
  }

  get state(): ConnectionState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Where the service is, as far as is known without asking. */
  get baseUrl(): string | undefined {
    return this.#target?.baseUrl;
  }

  readonly locate = (signal: AbortSignal): Promise<Target> => {
    if (this.#target) {
      this.#waitForAnswer(this.#target);
      return Promise.resolve(this.#target);
    }
    const { error, retryAt } = this.#failure ?? { error: undefined, retryAt: 0 };
    if (!this.#attempt && error && this.#now() < retryAt) return Promise.reject(error);
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

  /** Lets go of the service, without asking for it. What waits for it fails. */
  close(): void {
    this.#closing.abort(new Error('The connection to the local service was closed.'));
    this.#letGo();
    this.#target = undefined;
    this.#listeners.clear();
  }

  #set(state: ConnectionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
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
    this.#set({ kind: this.#generation > 0 ? 'restarting' : 'starting', since: this.#now() });
    // Only the first attempt may replace a service that runs: two screens must not replace each other's for ever.
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
      const error = cause instanceof Error ? cause : new Error(String(cause));
      const count = (this.#failure?.count ?? 0) + 1;
      const retryAt = this.#now() + Math.min(longestRestMs, firstRestMs * 2 ** (count - 1));
      this.#failure = { error, retryAt, count };
      if (!signal.aborted) this.#set({ kind: 'failed', message: error.message, retryAt });
      throw error;
    } finally {
      this.#attempt = undefined;
    }
  }

  #hold(target: LocatedService): void {
    this.#letGo();
    if (!this.#holds) return;
    const since = this.#now();
    this.#release = this.#service.hold(target, farewell => {
      this.#release = undefined;
      if (this.#target === target) this.#ended(farewell, this.#now() - since);
    });
  }

  #letGo(): void {
    clearTimeout(this.#timer);
    this.#release?.();
    this.#release = undefined;
    this.#waits = false;
  }

  /** The service has ended: it is looked for at once, unless somebody wanted it to end. */
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

  /** Finds out whether a service that requests wait for is there at all, and says so if it does not answer. */
  async #check(target: LocatedService): Promise<void> {
    const since = this.#now();
    const answers = this.#answers;
    const missed = await this.#service.isSilent(target).catch(() => undefined);
    if (this.#target !== target) return;
    // A service that has answered something meanwhile is busy, and not silent.
    const silent = missed && answers === this.#answers;
    if (silent === undefined) {
      // What cannot be found out is not said, and is looked for again while a request waits.
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
