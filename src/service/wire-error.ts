/** Errors without a response: failed connections, and requests that were never sent. */

import { capitalised } from '../base/capitalised.ts';
import { own } from '../base/own-property.ts';
import type { Redact } from '../config/redaction.ts';
import type { Auth, Method } from '../contract/common.ts';
import {
  isCertificateError,
  isFinal,
  isInvalidHeader,
  stoppedFailure,
  switchedProtocols,
  type WireFailure,
} from '../net/failure.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import {
  CancelledError,
  type ErrorDetails,
  NetworkError,
  RateLimitError,
  RequestError,
  ServerError,
  type ServiceError,
  TimeoutError,
} from './errors.ts';
import type { RateLimitGate } from './gate.ts';
import type { Timeouts } from './options.ts';
import { mayHaveTakenEffect, type Outcome } from './retry.ts';

const unreachedReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'was not found in DNS',
  EAI_AGAIN: 'could not be looked up: DNS does not respond',
  ENETUNREACH: 'cannot be reached: there is no route to it',
  EHOSTUNREACH: 'cannot be reached',
};

/** The outcome of a failed connection; undefined if the caller stopped the attempt. */
export function outcomeOfFailure(failure: WireFailure): Outcome | undefined {
  const { reason, sent } = failure;
  if (reason === 'aborted' || reason === 'deadline') return undefined;
  if (reason !== 'network') return { kind: 'timeout', sent };
  return { kind: 'network', sent, final: isFinal(failure) };
}

/** @param answered HTTP status if response headers had arrived */
export function errorOfFailure(
  failure: WireFailure,
  facts: CallFacts,
  limits: Timeouts,
  answered?: { readonly status: number; readonly requestId: string | undefined },
): ServiceError {
  const { reason, sent } = failure;
  const code = failure.code ?? (reason === 'network' ? 'CONNECTION_LOST' : reason);
  const outcomeUnknown = isOutcomeUnknown(facts, { kind: 'network', sent });
  const details: ErrorDetails = { ...facts.details, ...answered, code, outcomeUnknown };
  const after = outcomeUnknown
    ? outcomeAdvice(facts)
    : sent
      ? (facts.lostAdvice ?? 'Nothing was changed.')
      : 'Nothing was sent.';
  const { host } = facts;
  const proxy = proxyOf(failure);
  const via = proxy ? ` through ${proxy.name}` : '';
  switch (reason) {
    case 'aborted':
      return new CancelledError(`Cancelled. ${after}`, details);
    case 'connect_timeout':
      return new TimeoutError(
        `${host} did not accept a connection${via} within ${inSeconds(limits.connectMs)}. ${after} ${facts.unreachedAdvice ?? 'Check the network and the base URL.'}`,
        details,
      );
    case 'silence':
      return new TimeoutError(
        `${host} was silent${via} for ${inSeconds(limits.silenceMs)}${answered ? ' in the middle of its response' : ''}. ${after}`,
        details,
      );
    case 'deadline':
      return new TimeoutError(`${host} did not respond in full within the time limit. ${after}`, details);
    case 'network':
      break;
  }
  if (isInvalidHeader(code)) {
    return new RequestError('A header contains characters that cannot be sent. Nothing was sent.', details);
  }
  if (isCertificateError(code)) return new NetworkError(certificateMessage(failure, host, code, after), details);
  if (!sent) {
    const message = proxy ? proxyMessage(proxy, host, code, after) : unreachedMessage(facts, code, after);
    return new NetworkError(message, details);
  }
  if (code === switchedProtocols) {
    const message = `${host} answered with an unexpected 101 Switching Protocols. ${after} Check the base URL.`;
    return new NetworkError(message, details);
  }
  const when = answered ? 'in the middle of the response' : 'before a response arrived';
  return new NetworkError(`The connection to ${host}${via} was lost ${when} (${code}). ${after}`, details);
}

function unreachedMessage({ host, unreachedAdvice }: CallFacts, code: string, after: string): string {
  const what = own(unreachedReasons, code) ?? 'cannot be reached';
  const advice = unreachedAdvice ?? 'Check the network, the proxy settings and the base URL.';
  return `${host} ${what} (${code}). ${after} ${advice}`;
}

interface Proxy {
  /** Without its user and password. */
  readonly name: string;
  readonly variable: string;
  /** The status with which it refused. */
  readonly status: number | undefined;
}

function proxyOf({ proxy }: WireFailure): Proxy | undefined {
  if (!proxy || !('host' in proxy.used)) return undefined;
  const { host, variable } = proxy.used;
  return { name: `the proxy ${host} (${variable})`, variable, status: proxy.status };
}

/** Names the host with the untrusted certificate, and how to trust it. */
function certificateMessage(failure: WireFailure, host: string, code: string, after: string): string {
  const proxy = proxyOf(failure);
  if (proxy && failure.proxy?.isUntrusted) {
    // Node checks a proxy's certificate only against its own.
    return `${capitalised(proxy.name)} could not prove its identity (${code}). ${after} If it uses a certificate of your own, name its file in NODE_EXTRA_CA_CERTS; if it does not use TLS, set ${proxy.variable} to http://HOST:PORT.`;
  }
  const replaced = proxy
    ? ` ${capitalised(proxy.name)} may have replaced the certificate with its own: name its file then.`
    : '';
  return `${host} could not prove its identity (${code}). ${after} If it uses a certificate of your own, name its file with --ca-file, as caFile in the profile, or in SSL_CERT_FILE (Linux) or NODE_EXTRA_CA_CERTS; if it does not use TLS, the base URL is wrong.${replaced}`;
}

/** The error for a request that did not get past the proxy. */
function proxyMessage({ name, variable, status }: Proxy, host: string, code: string, after: string): string {
  const subject = capitalised(name);
  if (status === 407) {
    return `${subject} asks for a user and a password. ${after} Put them into ${variable}, before the host: USER:PASSWORD@HOST:PORT.`;
  }
  const advice = `Check ${variable}, or add ${host} to NO_PROXY.`;
  if (code === 'ERR_PROXY_TUNNEL') {
    const why = status === undefined ? code : `status ${status}`;
    return `${subject} did not connect to ${host} (${why}). ${after} ${advice}`;
  }
  return `${subject} ${own(unreachedReasons, code) ?? 'cannot be reached'} (${code}). ${after} ${advice}`;
}

const outcomeText = (facts: CallFacts): string => (facts.mayHaveHappened ? outcomeAdvice(facts) : 'Nothing was sent.');

/**
 * The error if the service was not found. An earlier attempt at a write may have been carried out.
 *
 * @param facts the facts about the attempts so far
 */
export function serviceNotFound(error: unknown, facts: CallFacts, signal: AbortSignal, limits: Timeouts): unknown {
  if (signal.aborted) return errorOfFailure(stoppedFailure(signal), facts, limits);
  if (!(error instanceof NetworkError)) return error;
  const details = { ...facts.details, code: error.code, outcomeUnknown: facts.mayHaveHappened };
  return new NetworkError(`${sentence(error.message)} ${outcomeText(facts)}`, details);
}

/** The error if a call's deadline comes before its host accepts requests again. */
export function hostUnavailable(
  facts: CallFacts,
  gate: RateLimitGate,
  signal: AbortSignal,
  limits: Timeouts,
): ServiceError {
  if (signal.aborted) return errorOfFailure(stoppedFailure(signal), facts, limits);
  // A poll is sent again when the gate opens. The user sees the wait that the host asked for.
  const retryAfterMs = Math.ceil(facts.isPolled ? gate.remaining() : gate.requested());
  const state = gate.state();
  const isLimited = state.kind === 'open' || state.reason === 'rate_limit';
  const what = isLimited ? 'limits the rate of requests' : 'is failing';
  const advice = facts.isPolled ? '' : ` Try again in ${inSeconds(retryAfterMs)}.`;
  const message = `${facts.host} ${what}. ${outcomeText(facts)}${advice}`;
  const details = { ...facts.details, retryAfterMs, outcomeUnknown: facts.mayHaveHappened };
  return isLimited
    ? new RateLimitError(message, { ...details, code: 'rate_limited' })
    : new ServerError(message, { ...details, code: 'service_failing' });
}

export interface CallFacts {
  readonly method: Method;
  /** Whether the call changes something on the service. */
  readonly isWrite: boolean;
  /** Whether repeating it has no further effect. */
  readonly isIdempotent?: boolean;
  /** Whether nothing is stored yet after such a write. */
  readonly storesNothing?: boolean | undefined;
  /** Advice if the response was lost and the call changes nothing. */
  readonly lostAdvice?: string;
  /** Advice if the host cannot be reached; by default, to check the profile's base URL. */
  readonly unreachedAdvice?: string;
  /** Path without the query. */
  readonly path: string;
  /** Host and port. */
  readonly host: string;
  readonly auth: Auth;
  readonly redact: Redact;
  /** Whether an earlier attempt at this write may have reached the service. */
  readonly mayHaveHappened: boolean;
  /** Advice on a refused field that may have another name on this service. */
  readonly fieldAdvice?: string | undefined;
  /** The subject of a 404: a record (the default), a resource named in the query or the body, or only a path. */
  readonly subject?: 'record' | 'input' | 'path';
  /** Whether this is a poll: the caller retries on its own, and shows when. */
  readonly isPolled?: boolean;
  /** The fields that all of this attempt's errors share. */
  readonly details: Pick<ErrorDetails, 'operation' | 'attempts' | 'idempotencyKey' | 'partial' | 'namedOrigin'>;
}

/** Whether a write may have happened, in this attempt or an earlier one. */
export function isOutcomeUnknown({ isWrite, storesNothing, mayHaveHappened }: CallFacts, outcome: Outcome): boolean {
  return mayHaveHappened || (isWrite && !storesNothing && mayHaveTakenEffect(outcome));
}

export const outcomeAdvice = ({ isIdempotent = false }: CallFacts): string =>
  isIdempotent
    ? 'It may have happened anyway. It is safe to repeat.'
    : 'It may have happened anyway: check before you repeat it.';

const maxMessageLength = 2_000;

/** Text from the wire as a sentence, sanitised and limited in length. */
export function sentence(text: string): string {
  const trimmed = sanitiseLine(text).trim();
  const clipped = trimmed.length > maxMessageLength ? `${trimmed.slice(0, maxMessageLength)}…` : trimmed;
  return clipped === '' || /[.!?…:]$/.test(clipped) ? clipped : `${clipped}.`;
}

/** A wait in words, rounded up so that a retry does not come too early. */
export function inSeconds(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const seconds = Math.ceil(ms / 1_000);
  if (seconds <= 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes <= 120) return `${minutes} min`;
  const hours = Math.ceil(minutes / 60);
  return hours <= 48 ? `${hours} h` : 'more than two days';
}
