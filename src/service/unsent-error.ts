/** Errors of attempts that were not made. A write may have happened in an attempt before. */
import { NetworkError, RateLimitError, ServerError, type ServiceError } from './errors.ts';
import { type CallFacts, inSeconds, outcomeAdvice, sentence } from './facts.ts';
import type { RateLimitGate } from './gate.ts';
import { stopped } from './http.ts';
import type { Timeouts } from './options.ts';
import { errorOfFailure } from './wire-error.ts';

const after = ({ mayHaveHappened }: CallFacts): string => (mayHaveHappened ? outcomeAdvice : 'Nothing was sent.');

/**
 * The error of a call for which the service was not found, with what is known of the attempts before: a write may have
 * happened in one of them.
 *
 * @param facts of the attempts that were made
 */
export function unlocated(error: unknown, facts: CallFacts, signal: AbortSignal, limits: Timeouts): unknown {
  if (signal.aborted) return errorOfFailure(stopped(signal), facts, limits);
  if (!(error instanceof NetworkError)) return error;
  const details = { ...facts.details, code: error.code, outcomeUnknown: facts.mayHaveHappened };
  return new NetworkError(`${sentence(error.message)} ${after(facts)}`, details);
}

/** The error of a call that is over, or would be, before its host takes requests again. */
export function heldBack(facts: CallFacts, gate: RateLimitGate, signal: AbortSignal, limits: Timeouts): ServiceError {
  if (signal.aborted) return errorOfFailure(stopped(signal), facts, limits);
  const retryAfterMs = Math.ceil(gate.remaining());
  const state = gate.state();
  const isLimited = state.kind === 'open' || state.reason === 'rate_limit';
  const what = isLimited ? 'limits the rate of requests' : 'has failed several times in a row';
  const message = `${facts.host} ${what}. ${after(facts)} Try again in ${inSeconds(retryAfterMs)}.`;
  const details = { ...facts.details, retryAfterMs, outcomeUnknown: facts.mayHaveHappened };
  return isLimited
    ? new RateLimitError(message, { ...details, code: 'rate_limited' })
    : new ServerError(message, { ...details, code: 'service_failing' });
}
