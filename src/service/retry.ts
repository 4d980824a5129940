/** Decides whether and when to retry, as a pure function. All times are in milliseconds. */
import { backoff, isTransientStatus, maxRetries, maxRetryAfterMs, retryAfter } from '../base/retry-waits.ts';
import type { Method } from '../contract/common.ts';

/** How an attempt failed. */
export type Outcome =
  /** `refused` if the error envelope names a refusal, regardless of the status. */
  | { readonly kind: 'answer'; readonly status: number; readonly refused?: boolean }
  /** The connection failed. `sent` is false if it was never made: the service cannot have seen the request. */
  | { readonly kind: 'network'; readonly sent: boolean; readonly final?: boolean }
  | { readonly kind: 'timeout'; readonly sent: boolean }
  /** A response arrived that violates the contract. */
  | { readonly kind: 'not_understood' };

/** A call's attempts so far. */
export interface Attempts {
  /** How many requests were made. */
  readonly attempts: number;
  /** How many were repeated after a wait. */
  readonly retries: number;
  /** How many were repeated after the service was lost and found again; not counted as retries. */
  readonly recoveries: number;
  /** Whether the credential was refused and has been re-read. */
  readonly renewed: boolean;
  /** Whether a redirect has been followed. */
  readonly redirected: boolean;
  /** Whether an attempt at this write may have reached the service. */
  readonly mayHaveHappened: boolean;
}

export const noAttempts: Attempts = {
  attempts: 0,
  retries: 0,
  recoveries: 0,
  renewed: false,
  redirected: false,
  mayHaveHappened: false,
};

/** Whether a call is safe to repeat. */
export interface Repeatability {
  readonly method: Method;
  /** Whether the call changes something on the service. */
  readonly isWrite: boolean;
  /** Whether repeating is harmless, because of an idempotency key that the service honours, or because of the body. */
  readonly repeatable: boolean;
  /** Whether the request has an idempotency key, which the service may not honour. */
  readonly keyed?: boolean;
}

/** A failed attempt, and everything that decides whether to make another. */
export interface Situation {
  readonly call: Repeatability & {
    /** Whether this is a poll: the next poll is the retry. */
    readonly background: boolean;
  };
  readonly tries: Attempts;
  /** Undefined if the caller aborted the call, or no attempt can succeed. */
  readonly outcome: Outcome | undefined;
  /** The response's headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the remedy from `remedyFor` has worked. */
  readonly remedied: boolean;
  /** Time until the host's gate opens. */
  readonly gateMs: number;
  /** Time until the call's deadline. */
  readonly leftMs: number;
  /** A number in [0, 1). */
  readonly random: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

type StopReason =
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
  /** `waitMs` is added to the gate's wait. `tries` counts the repeat. */
  | {
      readonly again: true;
      readonly by: 'renewal' | 'recovery' | 'redirect' | 'retry';
      readonly waitMs: number;
      readonly tries: Attempts;
    };

const maxRecoveries = 2;

const repeatableMethods: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE']);

export const isRepeatable = (method: Method): boolean => repeatableMethods.has(method);

/** The statuses that redirect a GET, and the statuses that redirect any request with its method and body. */
const movesGet: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const movesAll: ReadonlySet<number> = new Set([307, 308]);

/** Whether to follow a redirect: a write that could happen twice is not repeated, although 307 and 308 allow it. */
function mayFollow(call: Repeatability, status: number): boolean {
  if (call.method === 'GET') return movesGet.has(status);
  return movesAll.has(status) && (!call.isWrite || mayRepeat(call, { kind: 'answer', status }));
}

/**
 * The remedy after which a failed call may be repeated at once: re-read its credential, find the lost service, or
 * follow a redirect.
 */
export function remedyFor(tries: Attempts, outcome: Outcome | undefined): 'renew' | 'recover' | 'follow' | undefined {
  if (outcome?.kind === 'answer' && movesGet.has(outcome.status)) return tries.redirected ? undefined : 'follow';
  if (outcome?.kind === 'answer' && outcome.status === 401) return tries.renewed ? undefined : 'renew';
  return isLost(outcome) && tries.recoveries < maxRecoveries ? 'recover' : undefined;
}

/** Whether to send a failed call again, and after how long. */
export function decide({ call, tries, outcome, headers, remedied, gateMs, leftMs, random, now }: Situation): Decision {
  const stop = (reason: StopReason): Decision => ({ again: false, reason });
  if (!outcome) return stop('stopped');
  const remedy = remedied ? remedyFor(tries, outcome) : undefined;
  // A request with a refused credential was not carried out, so even a write may be repeated.
  if (remedy === 'renew') return { again: true, by: 'renewal', waitMs: 0, tries: { ...tries, renewed: true } };
  if (remedy === 'follow' && outcome.kind === 'answer' && mayFollow(call, outcome.status)) {
    return { again: true, by: 'redirect', waitMs: 0, tries: { ...tries, redirected: true } };
  }
  if (remedy === 'recover' && (!call.isWrite || mayRepeat(call, outcome))) {
    return { again: true, by: 'recovery', waitMs: 0, tries: { ...tries, recoveries: tries.recoveries + 1 } };
  }
  if (call.background) return stop('poll');
  if (tries.retries >= maxRetries) return stop('attempts');
  const shouldRetry = shouldRetryHeader(headers);
  if (shouldRetry === false) return stop('service_says_no');
  if (!shouldRetry && !isTransient(outcome)) return stop('final');
  if (!mayRepeat(call, outcome, shouldRetry)) return stop('not_repeatable');
  const requestedMs = retryAfter(headers, now);
  if (requestedMs !== undefined && requestedMs > maxRetryAfterMs) return stop('wait_too_long');
  const retries = tries.retries + 1;
  // A closed gate sets the wait. Otherwise back off, even for `Retry-After: 0`: retries must not all start at once.
  const waitMs = gateMs > 0 ? 0 : requestedMs || backoff(retries, random);
  if (waitMs + gateMs >= leftMs) return stop('deadline');
  // If the credential did not change, it is not read a second time.
  const renewed = tries.renewed || remedyFor(tries, outcome) === 'renew';
  return { again: true, by: 'retry', waitMs, tries: { ...tries, retries, renewed } };
}

/**
 * Whether the request can be repeated without happening twice. A service that asks for a retry (`wanted`) may still
 * have carried out the request: behind a proxy, it may not know.
 */
function mayRepeat(
  { method, isWrite, repeatable, keyed = false }: Repeatability,
  outcome: Outcome,
  wanted = false,
): boolean {
  if (repeatable || isRepeatable(method) || (wanted && !isWrite)) return true;
  // A rate limit refuses a request before it is carried out.
  if ((keyed || wanted) && outcome.kind === 'answer' && outcome.status === 429) return true;
  return (outcome.kind === 'network' || outcome.kind === 'timeout') && !outcome.sent;
}

/** Whether the service was unreachable or went away before it responded, as opposed to a bad or slow response. */
function isLost(outcome: Outcome | undefined): boolean {
  return (
    outcome !== undefined && (outcome.kind === 'network' ? !outcome.final : outcome.kind === 'timeout' && !outcome.sent)
  );
}

/** Whether the same request may succeed later. A conflict (409) is not transient. */
export function isTransient(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'answer':
      return isTransientStatus(outcome.status);
    case 'network':
      return !outcome.final;
    case 'timeout':
      return true;
    case 'not_understood':
      return false;
  }
}

/** Not Implemented and Insufficient Storage mean that nothing was done. */
const refusedBy: ReadonlySet<number> = new Set([501, 507]);

/**
 * Whether the service may have carried out the request despite the failure. A 5xx does not show how far the service
 * got.
 */
export function mayHaveTakenEffect(outcome: Outcome | undefined): boolean {
  if (!outcome) return false;
  if (outcome.kind === 'answer') {
    const { status, refused } = outcome;
    // A proxy may answer 408 when it stops waiting; See Other may point to the result.
    return !refused && (status === 303 || status === 408 || status >= 500) && !refusedBy.has(status);
  }
  return outcome.kind === 'not_understood' || outcome.sent;
}

/**
 * The should-retry header. Some deployments brand it (`Service-Should-Retry`), so any name that ends in `-should-retry`
 * counts; `false` wins over `true`.
 */
function shouldRetryHeader(headers: Readonly<Record<string, string>>): boolean | undefined {
  const values = Object.entries(headers)
    .filter(([name]) => name.endsWith('-should-retry'))
    .map(([, value]) => value.trim().toLowerCase());
  if (values.includes('false')) return false;
  return values.includes('true') ? true : undefined;
}

const budgetCapacity = 10;
const budgetRefund = 0.2;

/**
 * A host's retry budget, shared by all callers, so that retries do not overload a failing service. A retry costs
 * 1, a success refunds part of it (as in gRPC's retry throttling).
 */
export class RetryBudget {
  #tokens = budgetCapacity;

  /** Takes one retry; false if none is left. */
  take(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  succeeded(): void {
    this.#tokens = Math.min(budgetCapacity, this.#tokens + budgetRefund);
  }
}
