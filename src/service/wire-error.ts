/** Makes an error of a connection that failed: by its code, never by the words of a library. */
import { own } from '../text/own.ts';
import {
  CancelledError,
  type ErrorDetails,
  NetworkError,
  RequestError,
  type ServiceError,
  TimeoutError,
} from './errors.ts';
import { type CallFacts, inSeconds, outcomeAdvice } from './facts.ts';
import type { WireFailure } from './http.ts';
import type { Timeouts } from './options.ts';
import type { Outcome } from './retry.ts';

const tlsCode = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^ERR_TLS|^ERR_SSL|^EPROTO$|HOSTNAME_MISMATCH/;

const unreached: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'is not known to the name service',
  EAI_AGAIN: 'could not be looked up: the name service does not answer',
  ENETUNREACH: 'cannot be reached: there is no network that leads to it',
  EHOSTUNREACH: 'cannot be reached',
};

/** The outcome of an attempt whose connection failed; undefined where the caller stopped it. */
export function outcomeOfFailure({ fault, code, sent, proxy }: WireFailure): Outcome | undefined {
  if (fault === 'aborted' || fault === 'deadline') return undefined;
  if (fault !== 'network') return { kind: 'timeout', sent };
  // A proxy that refuses with such a status does so again; one that found nobody behind it may find somebody.
  const isRefused = proxy?.status !== undefined && proxy.status < 500;
  return { kind: 'network', sent, final: isRefused || isFinal(code) };
}

/** Whether trying again cannot help: the certificate and the header stay as they are. */
function isFinal(code: string | undefined): boolean {
  return code !== undefined && (tlsCode.test(code) || isRefusedHere(code));
}

/** Node refused to send a header. */
function isRefusedHere(code: string): boolean {
  return code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN' || code === 'ERR_HTTP_INVALID_HEADER_VALUE';
}

/**
 * @param answered HTTP status where the head of an answer had come
 */
export function errorOfFailure(
  failure: WireFailure,
  facts: CallFacts,
  limits: Timeouts,
  answered?: { readonly status: number; readonly requestId: string | undefined },
): ServiceError {
  const { fault, sent } = failure;
  const code = failure.code ?? (fault === 'network' ? 'CONNECTION_LOST' : fault);
  const outcomeUnknown = (facts.isWrite && sent) || facts.mayHaveHappened;
  const details: ErrorDetails = { ...facts.details, ...answered, code, outcomeUnknown };
  const after = outcomeUnknown
    ? outcomeAdvice
    : sent
      ? (facts.lostAdvice ?? 'Nothing was changed.')
      : 'Nothing was sent.';
  const { host } = facts;
  const proxy = proxyWords(failure);
  const via = proxy ? ` through ${proxy.name}` : '';
  switch (fault) {
    case 'aborted':
      return new CancelledError(`Cancelled. ${after}`, details);
    case 'connect_timeout':
      return new TimeoutError(
        `${host} did not take a connection${via} within ${inSeconds(limits.connectMs)}. ${after} Check the network and the base URL.`,
        details,
      );
    case 'silence':
      return new TimeoutError(
        `${host} was silent${via} for ${inSeconds(limits.silenceMs)}${answered ? ' in the middle of its answer' : ''}. ${after}`,
        details,
      );
    case 'deadline':
      return new TimeoutError(`${host} gave no whole answer in the time set for it. ${after}`, details);
    case 'network':
      break;
  }
  if (isRefusedHere(code)) {
    return new RequestError('A header holds characters that cannot be sent. Nothing was sent.', details);
  }
  if (tlsCode.test(code)) {
    return new NetworkError(
      `${host} could not prove who it is (${code}). ${after} If it uses a certificate of your own, name its file as caFile in the profile; if it speaks no TLS, the base URL is wrong.${proxy ? ` ${capital(proxy.name)} may have put its own certificate in place: name its file then.` : ''}`,
      details,
    );
  }
  if (!sent && proxy) return new NetworkError(proxyMessage(proxy, failure, host, code, after), details);
  if (!sent) {
    const what = own(unreached, code) ?? 'cannot be reached';
    return new NetworkError(
      `${host} ${what} (${code}). ${after} Check the network, the proxy settings and the base URL.`,
      details,
    );
  }
  const when = answered ? 'in the middle of the answer' : 'before an answer came';
  return new NetworkError(`The connection to ${host}${via} was lost ${when} (${code}). ${after}`, details);
}

interface ProxyWords {
  /** Without its user and its password. */
  readonly name: string;
  readonly variable: string;
}

function proxyWords({ proxy }: WireFailure): ProxyWords | undefined {
  if (!proxy || !('host' in proxy.used)) return undefined;
  const { host, variable } = proxy.used;
  return { name: `the proxy ${host} (${variable})`, variable };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Why a request did not get beyond the proxy. */
function proxyMessage(
  { name, variable }: ProxyWords,
  { proxy }: WireFailure,
  host: string,
  code: string,
  after: string,
): string {
  const subject = capital(name);
  if (proxy?.status === 407) {
    return `${subject} asks for a user and a password. ${after} Put them into ${variable}: http://USER:PASSWORD@HOST:PORT.`;
  }
  const advice = `Check ${variable}, or add ${host} to NO_PROXY.`;
  if (code === 'ERR_PROXY_TUNNEL') {
    const status = proxy?.status === undefined ? code : `status ${proxy.status}`;
    return `${subject} did not connect to ${host} (${status}). ${after} ${advice}`;
  }
  return `${subject} ${own(unreached, code) ?? 'cannot be reached'} (${code}). ${after} ${advice}`;
}
