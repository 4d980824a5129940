/** Decides whether and when to retry: one pure function. All times are in milliseconds. */
import type { Method } from '../contract/common.ts';

/** How an attempt failed. */
export type Outcome =
  /** `refused` if the service's own words say so, whatever the status. */
  | { readonly kind: 'answer'; readonly status: number; readonly refused?: boolean }
  /** The connection failed. `sent` is false if it was never made, so that the service cannot have seen the request. */
  | { readonly kind: 'network'; readonly sent: boolean; readonly final?: boolean }
  | { readonly kind: 'timeout'; readonly sent: boolean }
  /** An answer arrived that violates the contract. */
  | { readonly kind: 'not_understood' };

/** What has been tried for a call so far. */
export interface Tries {
  /** Requests made. */
  readonly attempts: number;
  /** Of these, repeats after a wait. */
  readonly retries: number;
  /** Repeats after the service was lost and found again; they do not count as retries. */
  readonly recoveries: number;
  /** The credential was refused, and has been read again. */
  readonly renewed: boolean;
  /** An attempt of this write may have reached the service. */
  readonly mayHaveHappened: boolean;
}

export const untried: Tries = { attempts: 0, retries: 0, recoveries: 0, renewed: false, mayHaveHappened: false };

/** What makes a call safe to repeat. */
export interface Repeatability {
  readonly method: Method;
  /** Whether the call changes something on the service. */
  readonly isWrite: boolean;
  /** A repeat is harmless: by a key that the service honours, or by the body. */
  readonly repeatable: boolean;
  /** The request has an idempotency key, which the service may not honour. */
  readonly keyed?: boolean;
}

/** A failed attempt, and all that decides about the next one. */
export interface Situation {
  readonly call: Repeatability & {
    /** A poll: the next poll is the retry. */
    readonly background: boolean;
  };
  readonly tries: Tries;
  /** Undefined if the caller stopped it, or no attempt can succeed. */
  readonly outcome: Outcome | undefined;
  /** Headers of the answer, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The remedy that `remedyFor` named has worked. */
  readonly remedied: boolean;
  /** Until the host takes requests again. */
  readonly gateMs: number;
  /** Until the deadline of the call. */
  readonly leftMs: number;
  /** A number in [0, 1). */
  readonly random: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

export type StopReason =
  | 'stopped'
  | 'poll'
  | 'attempts'
  | 'service_says_no'
  | 'final'
  | 'not_repeatable'
  | 'wait_too_long'
  | 'deadline';

export type Decision =
  | { readonly again: false; readonly reason: StopReason }
  /** The wait is the call's own; the gate of the host adds its own. `tries` counts the repeat. */
  | {
      readonly again: true;
      readonly by: 'renewal' | 'recovery' | 'retry';
      readonly waitMs: number;
      readonly tries: Tries;
    };

/** How often a call is retried after a wait. */
export const maximumRetries = 2;
const maximumRecoveries = 2;
/** A longer wait is left to the user. */
const longestWait = 60_000;
const firstBackoff = 500;
const longestBackoff = 8_000;
const jitterShare = 0.25;

const repeatableMethods: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE']);

/** What may make a failed call worth repeating at once: reading its credential again, or finding the lost service. */
export function remedyFor(tries: Tries, outcome: Outcome | undefined): 'renew' | 'recover' | undefined {
  if (outcome?.kind === 'answer' && outcome.status === 401) return tries.renewed ? undefined : 'renew';
  return isLost(outcome) && tries.recoveries < maximumRecoveries ? 'recover' : undefined;
}

/** Whether a failed call is sent again, and after which wait. */
export function decide({ call, tries, outcome, headers, remedied, gateMs, leftMs, random, now }: Situation): Decision {
  const stop = (reason: StopReason): Decision => ({ again: false, reason });
  if (!outcome) return stop('stopped');
  const remedy = remedied ? remedyFor(tries, outcome) : undefined;
  // A request with a refused credential was not carried out, so even a write may be repeated.
  if (remedy === 'renew') return { again: true, by: 'renewal', waitMs: 0, tries: { ...tries, renewed: true } };
  if (remedy === 'recover' && (!call.isWrite || mayRepeat(call, outcome))) {
    return { again: true, by: 'recovery', waitMs: 0, tries: { ...tries, recoveries: tries.recoveries + 1 } };
  }
  if (call.background) return stop('poll');
  if (tries.retries >= maximumRetries) return stop('attempts');
  const word = serviceWord(headers);
  if (word === false) return stop('service_says_no');
  if (word === undefined && !isTransient(outcome)) return stop('final');
  if (word === undefined && !mayRepeat(call, outcome)) return stop('not_repeatable');
  const asked = retryAfter(headers, now);
  if (asked !== undefined && asked > longestWait) return stop('wait_too_long');
  const retries = tries.retries + 1;
  // A closed gate knows how long; the call's own wait is for failures unknown to it. No wait at all would send every
  // retry at the same moment.
  const waitMs = gateMs > 0 ? 0 : asked || backoff(retries, random);
  if (waitMs + gateMs >= leftMs) return stop('deadline');
  // A credential that was not renewed is not read again.
  const renewed = tries.renewed || remedyFor(tries, outcome) === 'renew';
  return { again: true, by: 'retry', waitMs, tries: { ...tries, retries, renewed } };
}

/** Whether repeating the request cannot make it happen twice. */
function mayRepeat({ method, repeatable, keyed = false }: Repeatability, outcome: Outcome): boolean {
  if (repeatable || repeatableMethods.has(method)) return true;
  // A limited rate refuses a start before it is carried out.
  if (keyed && outcome.kind === 'answer' && outcome.status === 429) return true;
  return (outcome.kind === 'network' || outcome.kind === 'timeout') && !outcome.sent;
}

/** Whether the service was unreachable or went away before answering, rather than answering badly or slowly. */
function isLost(outcome: Outcome | undefined): boolean {
  return (
    outcome !== undefined && (outcome.kind === 'network' ? !outcome.final : outcome.kind === 'timeout' && !outcome.sent)
  );
}

/** Whether the same request may succeed later. A conflict (409) is an answer, not an accident. */
export function isTransient(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'answer':
      return outcome.status === 408 || outcome.status === 429 || (outcome.status >= 500 && outcome.status !== 501);
    case 'network':
      return !outcome.final;
    case 'timeout':
      return true;
    case 'not_understood':
      return false;
  }
}

/** Not implemented, and no room to store what was sent: both say that nothing was done. */
const refusedBy: ReadonlySet<number> = new Set([501, 507]);

/**
 * Whether the service may have carried out the request despite the failure. Also one that says itself that it failed
 * does not say how far it got.
 */
export function mayHaveTakenEffect(outcome: Outcome | undefined): boolean {
  if (!outcome) return false;
  if (outcome.kind === 'answer') {
    const { status, refused } = outcome;
    // A proxy that gave up waiting may say 408.
    return !refused && (status === 408 || status >= 500) && !refusedBy.has(status);
  }
  return outcome.kind === 'not_understood' || outcome.sent;
}

/**
 * The service's own word about a retry. Some deployments brand the header (`Service-Should-Retry`), so any name that
 * ends in `-should-retry` counts; if several contradict each other, the cautious one wins.
 */
function serviceWord(headers: Readonly<Record<string, string>>): boolean | undefined {
  const words = Object.entries(headers)
    .filter(([name]) => name.endsWith('-should-retry'))
    .map(([, value]) => value.trim().toLowerCase());
  if (words.includes('false')) return false;
  return words.includes('true') ? true : undefined;
}

/** The wait requested by an answer: `Retry-After-Ms`, or `Retry-After` in seconds or as an HTTP date. */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const milliseconds = amount(headers['retry-after-ms']);
  if (milliseconds !== undefined) return milliseconds;
  const text = headers['retry-after'];
  const seconds = amount(text);
  if (seconds !== undefined) return seconds * 1_000;
  // Date.parse also accepts "-5" and other stray numbers as years; an HTTP date names its weekday or month.
  const date = text && /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function amount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*(\d+(\.\d*)?|\.\d+)\s*$/.test(text) ? Number(text) : undefined;
}

/** The wait after this many failures in a row, from 1. @param random in [0, 1) */
export function backoff(attempt: number, random: number): number {
  const whole = Math.min(longestBackoff, firstBackoff * 2 ** (attempt - 1));
  return Math.round(whole * (1 - jitterShare + jitterShare * random));
}

/**
 * The retry budget of a host, shared by all callers, so that everything that polls does not make a failing service
 * worse. A retry costs 1, a success gives back a part (as in gRPC's retry throttling).
 */
export class RetryBudget {
  readonly #capacity: number;
  readonly #refund: number;
  #tokens: number;

  constructor({ capacity = 10, refund = 0.2 }: { readonly capacity?: number; readonly refund?: number } = {}) {
    this.#capacity = capacity;
    this.#refund = refund;
    this.#tokens = capacity;
  }

  /** Takes one retry; false if none is left. */
  take(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  succeeded(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + this.#refund);
  }
}
