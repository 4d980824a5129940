/** Makes a request until it succeeds, may not be repeated, or its time is over. */
import type { Method } from '../contract/common.ts';
import type { Clock } from './clock.ts';
import type { ServiceError } from './errors.ts';
import type { Gates, RateLimitGate } from './gate.ts';
import { deadlineReached } from './http.ts';

import type { Logger, LogLine } from './options.ts';
import { decideRetry, isLost, isTransient, maximumRecoveries, mayRepeat, type Outcome, retryAfter } from './retry.ts';

/** How one attempt ended. Without an `outcome` there is no other one. */
export type AttemptResult<Value> = { readonly status?: number | undefined; readonly requestId?: string | undefined } & (
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly error: ServiceError;
      readonly outcome: Outcome | undefined;
      readonly headers: Readonly<Record<string, string>>;
    }
);

/** Where an attempt goes. */
export interface Destination {
  /** Path without the query. */
  readonly path: string;
  /** Host and port. */
  readonly host: string;
}

export interface AttemptPlan<Value, Where extends Destination> {
  readonly operation: string;
  readonly method: Method;
  /** Whether the call changes something at the service. */
  readonly isWrite: boolean;
  /** The request carries an idempotency key, or a body whose repeat is harmless. */
  readonly repeatable: boolean;
  /** Not retried, and last in line at the gate. */
  readonly background: boolean;
  readonly time: TimeLimit;
  readonly gates: Gates;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  /** Where the next attempt goes. */
  readonly locate: () => Promise<Where>;
  /** Makes the attempt of this number; the first is 1. */
  readonly run: (attempt: number, where: Where) => Promise<AttemptResult<Value>>;
  /** After the connection was lost: whether what was lost has been found again, so that nothing needs to be waited for. */
  readonly recover: (where: Where) => Promise<boolean>;
  /**
   * After the credential was refused: undefined if another one has been read since, which the next attempt carries;
   * otherwise the error to end with.
   */
  readonly renew: (where: Where, refusal: ServiceError) => Promise<ServiceError | undefined>;
  /** The error of a call that is over, or would be, before its host takes requests again. */
  readonly heldBack: (where: Where, gate: RateLimitGate) => ServiceError;
}

/** @throws ServiceError of the last attempt */
export async function withRetries<Value, Where extends Destination>(plan: AttemptPlan<Value, Where>): Promise<Value> {
  const { operation, method, clock, time, background } = plan;
  let retries = 0;
  let recoveries = 0;
  let renewed = false;
  let last: ServiceError | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const where = await plan.locate();
    const { host, path } = where;
    const gate = plan.gates.of(host);
    const inTime = await gate.pass({ signal: time.signal, endsAt: time.endsAt, background });
    if (time.signal.aborted) throw plan.heldBack(where, gate);
    if (!inTime) throw last ?? plan.heldBack(where, gate);
    const startedAt = clock.monotonic();
    const result = await plan.run(attempt, where);
    const ms = Math.round(clock.monotonic() - startedAt);
    const line: LogLine = { operation, method, path, attempt, ms, status: result.status, requestId: result.requestId };
    report(result, gate, clock.now());
    if (result.ok) {
      plan.logger?.(line);
      return result.value;
    }
    const { outcome } = result;
    let { error } = result;
    // What was refused for its credential was not carried out, so that a write may be sent again as well.
    if (!renewed && outcome?.kind === 'answer' && outcome.status === 401) {
      renewed = true;
      const refusal = await plan.renew(where, error);
      if (!refusal) {
        plan.logger?.({ ...line, error: error.kind, retryInMs: 0 });
        continue;
      }
      error = refusal;
    }
    last = error;
    const recovered = recoveries < maximumRecoveries && isLost(outcome) && (await plan.recover(where));
    if (recovered && (!plan.isWrite || mayRepeat({ ...plan, outcome }))) {
      recoveries += 1;
      gate.restarted();
      plan.logger?.({ ...line, error: error.kind, retryInMs: 0 });
      continue;
    }
    retries += 1;
    const wait = waitBefore(plan, gate, retries, result);
    const retryInMs = wait && Math.round(wait.ownMs + wait.gateMs);
    plan.logger?.({ ...line, error: error.kind, retryInMs });
    if (!wait) throw error;
    if (wait.ownMs > 0) await clock.sleep(wait.ownMs, time.signal);
  }
}

/** What the gate of the host is to know of an attempt. */
function report<Value>(result: AttemptResult<Value>, gate: RateLimitGate, now: number): void {
  const outcome = result.ok ? undefined : result.outcome;
  if (result.ok) gate.succeeded();
  // Stopped by the caller: that says nothing of the host.
  if (result.ok || !outcome) return;
  const asked = retryAfter(result.headers, now);
  const limited = outcome.kind === 'answer' && outcome.status === 429;
  if (limited || (isTransient(outcome) && asked !== undefined)) gate.limit(asked);
  else if (!isTransient(outcome)) gate.answered();
  // A connection that is not made costs the host nothing, and says nothing of its load.
  else if (!('sent' in outcome) || outcome.sent) gate.failed();
}

type Waits = { readonly ownMs: number; readonly gateMs: number };

/** What is waited for before the next attempt: by the call itself, and at the gate; undefined if there is none. */
function waitBefore<Value, Where extends Destination>(
  { method, repeatable, background, time, clock }: AttemptPlan<Value, Where>,
  gate: RateLimitGate,
  attempt: number,
  { outcome, headers }: Extract<AttemptResult<Value>, { ok: false }>,
): Waits | undefined {
  if (!outcome || background) return undefined;
  const decision = decideRetry({
    attempt,
    method,
    repeatable,
    outcome,
    headers,
    random: clock.random(),
    now: clock.now(),
  });
  if (!decision.retry) return undefined;
  const gateMs = gate.remaining();
  // A host that limits says how long; the wait of the call itself is for failures of which the gate knows nothing.
  const ownMs = gateMs > 0 ? 0 : decision.delayMs;
  if (clock.monotonic() + ownMs + gateMs >= time.endsAt) return undefined;
  return gate.takeRetry() ? { ownMs, gateMs } : undefined;
}

/** The signal of a call: it aborts when the caller's does, or with `deadlineReached` when the time is over. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** On the monotonic clock. */
  readonly endsAt: number;
  /** From here on only the caller's signal counts. */
  readonly lift: () => void;
  /** Lets go of the caller's signal and the timer. */
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

/** Whether a signal was aborted by `AbortSignal.timeout`, and not because the answer is not wanted any more. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
