/** The attempts of a call: each waits for the gate of its host, and is repeated if that may be done in time. */
import type { Method } from '../contract/common.ts';
import type { Clock } from './clock.ts';
import type { ServiceError } from './errors.ts';
import type { Gates, RateLimitGate } from './gate.ts';
import { deadlineReached } from './http.ts';
import type { Logger, LogLine } from './options.ts';
import { decideRetry, isLost, isTransient, maximumRecoveries, mayRepeat, type Outcome, retryAfter } from './retry.ts';

/** How an attempt ended. Without an `outcome` there is no retry. */
export type AttemptResult<Value> = { readonly status?: number | undefined; readonly requestId?: string | undefined } & (
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly error: ServiceError;
      readonly outcome: Outcome | undefined;
      readonly headers: Readonly<Record<string, string>>;
    }
);

/** The address of an attempt. */
export interface Destination {
  /** Path without the query. */
  readonly path: string;
  /** Host and port. */
  readonly host: string;
}

/** What the attempts of a call have in common. */
export interface AttemptedCall {
  readonly operation: string;
  readonly method: Method;
  /** Whether the call changes something on the service. */
  readonly isWrite: boolean;
  /** A repeat is harmless: by a key that the service honours, or by the body. */
  readonly repeatable: boolean;
  /** The request has an idempotency key, which the service may not honour. */
  readonly keyed?: boolean;
  /** Not retried, and last in line at the gate. */
  readonly background: boolean;
  readonly time: TimeLimit;
  readonly gates: Gates;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/** What may make an attempt worth repeating at once. */
export interface Remedies {
  /** Called after a lost connection. Whether the service was found again, so that no wait is needed. */
  readonly recover: () => Promise<boolean>;
  /** Called after a refused credential. Whether a new one has been read since, which the next attempt uses. */
  readonly renew?: (refusal: ServiceError) => Promise<boolean>;
}

/** Decides when the host takes the next attempt of a call, and whether there is one. */
export class Attempts {
  readonly #call: AttemptedCall;
  #number = 0;
  #retries = 0;
  #recoveries = 0;
  #renewed = false;
  /** Error of the last attempt, unless it was of a credential that has been renewed since. */
  #last: ServiceError | undefined;

  constructor(call: AttemptedCall) {
    this.#call = call;
  }

  /** Number of the last attempt begun; the first is 1. */
  get number(): number {
    return this.#number;
  }

  /**
   * Waits until the host takes an attempt. Returns what has to be called with its result: it waits for the next
   * attempt, and says whether there is to be one.
   *
   * @param heldBack makes the error of a call that is over, or would be, before its host takes requests again
   * @throws ServiceError
   */
  async begin<Value>(
    where: Destination,
    heldBack: (gate: RateLimitGate) => ServiceError,
  ): Promise<(result: AttemptResult<Value>, remedies: Remedies) => Promise<boolean>> {
    const { time, background, clock } = this.#call;
    const gate = this.#call.gates.of(where.host);
    const inTime = await gate.pass({ signal: time.signal, endsAt: time.endsAt, background });
    if (time.signal.aborted) throw heldBack(gate);
    if (!inTime) throw this.#last ?? heldBack(gate);
    this.#number += 1;
    const startedAt = clock.monotonic();
    return (result, remedies) => this.#isRepeated(result, remedies, { ...where, gate, startedAt });
  }

  async #isRepeated<Value>(
    result: AttemptResult<Value>,
    { recover, renew }: Remedies,
    { path, gate, startedAt }: Destination & { readonly gate: RateLimitGate; readonly startedAt: number },
  ): Promise<boolean> {
    const { operation, method, isWrite, time, clock, logger } = this.#call;
    const { status, requestId } = result;
    const ms = Math.round(clock.monotonic() - startedAt);
    const line: LogLine = { operation, method, path, attempt: this.#number, ms, status, requestId };
    report(result, gate, clock.now());
    if (result.ok) {
      logger?.(line);
      return false;
    }
    const { outcome, error } = result;
    // A request with a refused credential was not carried out, so even a write may be repeated.
    if (renew && !this.#renewed && outcome?.kind === 'answer' && outcome.status === 401) {
      this.#renewed = true;
      if (await renew(error)) {
        logger?.({ ...line, error: error.kind, retryInMs: 0 });
        return true;
      }
    }
    this.#last = error;
    const recovered = this.#recoveries < maximumRecoveries && isLost(outcome) && (await recover());
    if (recovered && (!isWrite || mayRepeat({ ...this.#call, outcome }))) {
      this.#recoveries += 1;
      gate.restarted();
      logger?.({ ...line, error: error.kind, retryInMs: 0 });
      return true;
    }
    this.#retries += 1;
    const wait = waitBefore(this.#call, gate, this.#retries, result);
    const retryInMs = wait && Math.round(wait.ownMs + wait.gateMs);
    logger?.({ ...line, error: error.kind, retryInMs, ...(wait && { retry: this.#retries }) });
    if (!wait) return false;
    if (wait.ownMs > 0) await clock.sleep(wait.ownMs, time.signal);
    return true;
  }
}

/** Reports the result of an attempt to the gate of its host. */
function report<Value>(result: AttemptResult<Value>, gate: RateLimitGate, now: number): void {
  const outcome = result.ok ? undefined : result.outcome;
  if (result.ok) gate.succeeded();
  // Cancelled by the caller: that says nothing about the host.
  if (result.ok || !outcome) return;
  const asked = retryAfter(result.headers, now);
  const isLimited = outcome.kind === 'answer' && (outcome.status === 429 || result.error.kind === 'rate_limit');
  if (isLimited) gate.limit(asked);
  else if (isTransient(outcome) && asked !== undefined) gate.failed(asked);
  else if (!isTransient(outcome)) gate.answered();
  else if (!('sent' in outcome) || outcome.sent) gate.failed();
  else gate.unreachable();
}

type Waits = { readonly ownMs: number; readonly gateMs: number };

/** The wait before the next attempt: in the call itself, and at the gate; undefined if there is none. */
function waitBefore(
  { method, repeatable, keyed, background, time, clock }: AttemptedCall,
  gate: RateLimitGate,
  attempt: number,
  { outcome, headers }: Extract<AttemptResult<never>, { ok: false }>,
): Waits | undefined {
  if (!outcome || background) return undefined;
  const decision = decideRetry({
    attempt,
    method,
    repeatable,
    ...(keyed && { keyed }),
    outcome,
    headers,
    random: clock.random(),
    now: clock.now(),
  });
  if (!decision.retry) return undefined;
  const gateMs = gate.remaining();
  // A host that limits the rate says how long; the call's own wait is for failures unknown to the gate.
  const ownMs = gateMs > 0 ? 0 : decision.delayMs;
  if (clock.monotonic() + ownMs + gateMs >= time.endsAt) return undefined;
  return gate.takeRetry() ? { ownMs, gateMs } : undefined;
}

/** The signal of a call: it aborts with the caller's, or with `deadlineReached` when time is up. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** On the monotonic clock. */
  readonly endsAt: number;
  /** Removes the deadline; only the caller's signal counts from then on. */
  readonly lift: () => void;
  /** Releases the caller's signal and the timer. */
  readonly end: () => void;
}

/** @param now on the monotonic clock */
export function limitTime(caller: AbortSignal | undefined, ms: number | undefined, now: number): TimeLimit {
  const controller = new AbortController();
  const cancel = () => controller.abort(isTimeout(caller?.reason) ? deadlineReached : undefined);
  if (caller?.aborted) cancel();
  caller?.addEventListener('abort', cancel, { once: true });
  const timer = ms === undefined ? undefined : setTimeout(() => controller.abort(deadlineReached), ms);
  return {
    signal: controller.signal,
    endsAt: ms === undefined ? Number.POSITIVE_INFINITY : now + ms,
    lift: () => clearTimeout(timer),
    end: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', cancel);
    },
  };
}

/** Whether the signal was aborted by `AbortSignal.timeout`, not by the user. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
