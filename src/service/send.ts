/** Sends a call, with retries until an attempt succeeds or no retry is allowed. */

import { retryAfter } from '../base/retry-waits.ts';
import { RouteError } from '../net/agents.ts';
import { deadlineReached, WireFailure } from '../net/failure.ts';
import { exchange, type WireAnswer, type WireRequest } from '../net/wire.ts';
import { requestIdOf } from './answer-error.ts';
import type { Clock } from './clock.ts';
import { serviceLost } from './connection.ts';
import { NetworkError, RequestError, ServiceError } from './errors.ts';
import type { Gates, RateLimitGate } from './gate.ts';
import type { ServiceOptions, Timeouts } from './options.ts';
import {
  type Attempts,
  decide,
  isTransient,
  noAttempts,
  type Outcome,
  type Repeatability,
  remedyFor,
} from './retry.ts';
import { type TraceOptions, traceAnswer, traceRequest } from './trace.ts';
import { type CallFacts, errorOfFailure, hostUnavailable, outcomeOfFailure, serviceNotFound } from './wire-error.ts';

/** How long a GET may wait for its response before this is reported, in milliseconds. */
const slowMs = 3_000;

/** The parts of a request that each attempt sets itself. */
export type AttemptRequest = Omit<WireRequest, 'url' | 'method' | 'signal' | keyof Timeouts>;

/** A call: its address, its request, how to read the response, and how to recover from a failure. */
export interface Call<Value> extends Repeatability {
  readonly operation: string;
  /** Whether this is a poll: not retried, and last in the gate's queue. */
  readonly background: boolean;
  readonly timeouts: Timeouts;
  readonly time: TimeLimit;
  /** The parts that the tracer may show. */
  readonly traced: Pick<TraceOptions, 'endpoint' | 'body'>;
  /** Facts for errors. */
  readonly facts: (tries: Attempts) => CallFacts;
  /** The address of the next attempt. @throws ServiceError */
  readonly locate: (tries: Attempts) => Promise<URL>;
  /** The request for the next attempt. @throws ServiceError, RouteError, WireFailure once the call is aborted */
  readonly request: (tries: Attempts) => Promise<AttemptRequest>;
  /** Called with each response before its body is read. */
  readonly answered: (answer: WireAnswer, facts: CallFacts) => void;
  /** Reads a response, regardless of its status. @throws ServiceError for a refusal, WireFailure */
  readonly read: (answer: WireAnswer, facts: CallFacts) => Promise<Value>;
  /** The error for a failed connection that the call itself caused: retrying does not help. */
  readonly failed?: (facts: CallFacts) => ServiceError | undefined;
  /** Called after a lost connection. Returns whether the service was found again. */
  readonly recover: () => Promise<boolean>;
  /** Called after a redirect. Returns whether the next attempt goes there: another address on the same origin. */
  readonly follow?: () => boolean;
  /** Called after a credential was refused. True if a different one was read, otherwise the error to throw. */
  readonly renew?: (refusal: ServiceError) => Promise<true | ServiceError>;
}

/** How an attempt ended. Without an `outcome`, it is the last one. */
type Attempt<Value> = {
  readonly tries: Attempts;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
} & (
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly error: ServiceError;
      readonly outcome: Outcome | undefined;
      readonly headers: Readonly<Record<string, string>>;
    }
);

/** The state that all calls to a service share. */
export interface Sending {
  readonly options: Pick<ServiceOptions, 'logger' | 'tracer' | 'onSlow'>;
  readonly gates: Gates;
  readonly clock: Clock;
}

/** Sends the call, with retries, and returns its value. @throws ServiceError */
export async function send<Value>(call: Call<Value>, { options, gates, clock }: Sending): Promise<Value> {
  const { operation, method, background, time } = call;
  let tries = noAttempts;
  /** The last attempt's error, unless its refused credential has been renewed. */
  let last: ServiceError | undefined;
  for (;;) {
    const found = await locate(call, tries, clock);
    if ('tries' in found) {
      tries = found.tries;
      continue;
    }
    const { url } = found;
    const gate = gates.of(url.host);
    const inTime = await gate.pass({ signal: time.signal, endsAt: time.endsAt, background });
    const { aborted } = time.signal;
    if (aborted || !inTime)
      throw (!aborted && last) || hostUnavailable(call.facts(tries), gate, time.signal, call.timeouts);

    const startedAt = clock.monotonic();
    const attempt = await run(call, url, tries, options);
    report(operation, attempt, gate, clock.now());
    const { status, requestId } = attempt;
    const ms = Math.round(clock.monotonic() - startedAt);
    const line = { operation, method, path: url.pathname, attempt: tries.attempts + 1, ms, status, requestId };
    if (attempt.ok) {
      options.logger?.(line);
      return attempt.value;
    }

    const { error, outcome, headers } = attempt;
    tries = attempt.tries;
    const remedy = remedyFor(tries, outcome);
    const renewal = remedy === 'renew' ? await call.renew?.(error) : undefined;
    const followed = remedy === 'follow' && call.follow?.() === true;
    const remedied = renewal === true || followed || (remedy === 'recover' && (await call.recover()));
    const gateMs = gate.remaining();
    const [leftMs, random, now] = [time.endsAt - clock.monotonic(), clock.random(), clock.now()];
    const next = decide({ call, tries, outcome, headers, remedied, gateMs, leftMs, random, now });
    const isRetry = next.again && next.by === 'retry';
    if (!next.again || (isRetry && !gate.takeRetry())) {
      options.logger?.({ ...line, error: error.kind });
      throw renewal instanceof ServiceError ? renewal : error;
    }
    tries = next.tries;
    const retryInMs = isRetry ? Math.round(next.waitMs + gateMs) : 0;
    options.logger?.({ ...line, error: error.kind, retryInMs, ...(isRetry && { retry: tries.retries }) });
    if (next.by === 'recovery') gate.restarted();
    if (next.by !== 'renewal') last = error;
    if (next.waitMs > 0) await clock.sleep(next.waitMs, time.signal);
  }
}

/**
 * Finds the service. A lost service may come back, so a failure is retried after a wait, like a lost connection.
 *
 * @throws ServiceError if no retry is allowed
 */
async function locate(
  call: Call<unknown>,
  tries: Attempts,
  clock: Clock,
): Promise<{ readonly url: URL } | { readonly tries: Attempts }> {
  const { time, timeouts } = call;
  try {
    return { url: await call.locate(tries) };
  } catch (cause) {
    const error = serviceNotFound(cause, call.facts(tries), time.signal, timeouts);
    const isLost = error instanceof NetworkError && error.code === serviceLost;
    const outcome: Outcome | undefined = isLost ? { kind: 'network', sent: false } : undefined;
    const [leftMs, random, now] = [time.endsAt - clock.monotonic(), clock.random(), clock.now()];
    const next = decide({ call, tries, outcome, headers: {}, remedied: false, gateMs: 0, leftMs, random, now });
    if (!next.again) throw error;
    await clock.sleep(next.waitMs, time.signal);
    return { tries: next.tries };
  }
}

async function run<Value>(
  call: Call<Value>,
  url: URL,
  before: Attempts,
  { tracer, onSlow }: Sending['options'],
): Promise<Attempt<Value>> {
  const { operation, method, timeouts, time } = call;
  let tries = before;
  let answer: WireAnswer | undefined;
  let head: { readonly status: number; readonly requestId: string | undefined } | undefined;
  try {
    const request = { ...(await call.request(tries)), method, url, ...timeouts, signal: time.signal };
    tries = { ...before, attempts: before.attempts + 1 };
    const facts = call.facts(tries);
    const traced = { ...call.traced, tracer, redact: facts.redact };
    traceRequest(request, traced);
    const slow = onSlow && method === 'GET' ? setTimeout(onSlow, slowMs, operation, 0) : undefined;
    answer = traceAnswer(await exchange(request).finally(() => clearTimeout(slow)), traced);
    head = { status: answer.status, requestId: requestIdOf(answer.headers, facts.redact) };
    call.answered(answer, facts);
    return { ...head, ok: true, value: await call.read(answer, facts), tries };
  } catch (error) {
    const facts = call.facts(tries);
    const failed = (reason: ServiceError, outcome?: Outcome, headers: WireAnswer['headers'] = {}): Attempt<Value> => {
      const mayHaveHappened = tries.mayHaveHappened || reason.outcomeUnknown;
      return { ...head, ok: false, error: reason, outcome, headers, tries: { ...tries, mayHaveHappened } };
    };
    if (error instanceof WireFailure) {
      const own = call.failed?.(facts);
      return own ? failed(own) : failed(errorOfFailure(error, facts, timeouts, head), outcomeOfFailure(error));
    }
    if (error instanceof RouteError) throw new RequestError(error.message, error);
    if (!(error instanceof ServiceError) || !answer) throw error;
    const { status, headers } = answer;
    if (status < 300) return failed(error, { kind: 'not_understood' });
    return failed(error, { kind: 'answer', status }, status < 400 ? {} : headers);
  }
}

/** Reports how an attempt ended to its host's gate. */
function report(operation: string, attempt: Attempt<unknown>, gate: RateLimitGate, now: number): void {
  if (attempt.ok) gate.succeeded();
  // An abort by the caller does not mean that the host has failed.
  else if (!attempt.outcome) gate.abandoned();
  if (attempt.ok || !attempt.outcome) return;
  const { outcome, error, headers } = attempt;
  const isLimited = outcome.kind === 'answer' && (outcome.status === 429 || error.kind === 'rate_limit');
  if (isLimited) gate.limit(retryAfter(headers, now));
  else if (!isTransient(outcome)) gate.answered();
  else if (!('sent' in outcome) || outcome.sent) gate.failed(operation);
  else gate.unreachable();
}

/** A call's signal. It aborts with the caller's signal, or with `deadlineReached` when time is up. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** On the monotonic clock. */
  readonly endsAt: number;
  /** Removes the deadline; afterwards only the caller's signal aborts the call. */
  readonly lift: () => void;
  /** Releases the caller's signal and the timer. */
  readonly end: () => void;
}

/** @param now on the monotonic clock */
export function limitTime(caller: AbortSignal | undefined, ms: number | undefined, now: number): TimeLimit {
  const controller = new AbortController();
  const cancel = () => {
    const reason: unknown = caller?.reason;
    // Aborted by `AbortSignal.timeout`, not by the user.
    const isTimeout = reason instanceof DOMException && reason.name === 'TimeoutError';
    controller.abort(isTimeout ? deadlineReached : undefined);
  };
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
