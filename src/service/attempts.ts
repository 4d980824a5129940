/** Makes a request until it succeeds, may not be repeated, or its time is over. */
import type { Method } from '../contract/common.ts';
import type { ServiceError } from './errors.ts';
import { deadlineReached } from './http.ts';
import type { Clock } from './options.ts';
import type { Logger, LogLine } from './redaction.ts';
import { decideRetry, isLost, maximumRecoveries, mayRepeat, type Outcome, type RetryBudget } from './retry.ts';

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

/** What the attempts of a call share, wherever they go. */
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
  readonly time: TimeLimit;
  readonly budget: RetryBudget;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  /** Where the next attempt goes. */
  readonly locate: () => Promise<Where>;
  /** Makes the attempt of this number; the first is 1. */
  readonly run: (attempt: number, where: Where) => Promise<AttemptResult<Value>>;
  /** After the connection was lost: whether what was lost has been found again, so that nothing needs to be waited for. */
  readonly recover: (where: Where) => Promise<boolean>;
}

/** @throws ServiceError of the last attempt */
export async function withRetries<Value, Where extends Destination>(plan: AttemptPlan<Value, Where>): Promise<Value> {
  const { operation, method, clock, time, budget } = plan;
  let retries = 0;
  let recoveries = 0;
  for (let attempt = 1; ; attempt += 1) {
    const where = await plan.locate();
    const { host, path } = where;
    const startedAt = clock.now();
    const result = await plan.run(attempt, where);
    const { status, requestId } = result;
    const line: LogLine = { operation, method, path, attempt, ms: clock.now() - startedAt, status, requestId };
    if (result.ok) {
      budget.succeeded(host);
      plan.logger?.(line);
      return result.value;
    }
    const { error, outcome } = result;
    const recovered = recoveries < maximumRecoveries && isLost(outcome) && (await plan.recover(where));
    if (recovered && (!plan.isWrite || mayRepeat({ ...plan, outcome }))) {
      recoveries += 1;
      plan.logger?.({ ...line, error: error.kind, retryInMs: 0 });
      continue;
    }
    retries += 1;
    const retryInMs = delayBefore(plan, host, retries, result);
    plan.logger?.({ ...line, error: error.kind, retryInMs });
    if (retryInMs === undefined) throw error;
    // If aborted during the wait, the next attempt throws CancelledError and sends nothing.
    await clock.sleep(retryInMs, time.signal);
  }
}

function delayBefore<Value>(
  {
    method,
    repeatable,
    time,
    budget,
    clock,
  }: Pick<AttemptPlan<Value, Destination>, 'method' | 'repeatable' | 'time' | 'budget' | 'clock'>,
  host: string,
  attempt: number,
  { outcome, headers }: Extract<AttemptResult<Value>, { ok: false }>,
): number | undefined {
  if (!outcome) return undefined;
  const now = clock.now();
  const decision = decideRetry({ attempt, method, repeatable, outcome, headers, random: clock.random(), now });
  if (!decision.retry || now + decision.delayMs >= time.endsAt) return undefined;
  return budget.take(host) ? decision.delayMs : undefined;
}

/** The signal of a call: it aborts when the caller's does, or with `deadlineReached` when the time is over. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly endsAt: number;
  /** From here on only the caller's signal counts. */
  readonly lift: () => void;
  /** Lets go of the caller's signal and the timer. */
  readonly end: () => void;
}

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

/** Whether a signal was aborted by `AbortSignal.timeout`, and not because nobody wants the answer any more. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** Waits by a timer. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
