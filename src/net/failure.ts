/** Failures of an exchange, reduced to a few facts: got's own errors hold the request with its credentials. */
import type { NamedProxy } from '../config/proxy.ts';

export type WireFailureReason = 'network' | 'connect_timeout' | 'silence' | 'deadline' | 'aborted';

/** The abort reason for a deadline that has passed, as opposed to the caller's own reasons. */
export const deadlineReached = Symbol('deadline');

export class WireFailure extends Error {
  readonly reason: WireFailureReason;
  /** Error code from the operating system, TLS or Node. */
  readonly code: string | undefined;
  /** False if the connection was never made, so that the service cannot have seen the request. */
  readonly sent: boolean;
  /** The proxy, with the status of its refusal, or whether its own certificate is untrusted. */
  readonly proxy:
    | { readonly used: NamedProxy; readonly status: number | undefined; readonly isUntrusted?: boolean }
    | undefined;

  constructor(reason: WireFailureReason, code: string | undefined, sent: boolean, proxy?: WireFailure['proxy']) {
    super(code ?? reason);
    this.reason = reason;
    this.code = code;
    this.sent = sent;
    this.proxy = proxy;
  }
}

/** The failure of a request that was aborted before anything was sent. */
export function stoppedFailure(signal: AbortSignal): WireFailure {
  return new WireFailure(stopReason(signal), undefined, false);
}

export function stopReason(signal: AbortSignal): WireFailureReason {
  return signal.reason === deadlineReached ? 'deadline' : 'aborted';
}

/** Failure code for a 101 response. */
export const switchedProtocols = 'SWITCHING_PROTOCOLS';

const certificateCode = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^ERR_TLS|^ERR_SSL|^EPROTO$|HOSTNAME_MISMATCH/;

/** Whether a Node error code is about a host's certificate, so that a retry does not help. */
export function isCertificateError(code: string | undefined): boolean {
  return code !== undefined && certificateCode.test(code);
}

/** Whether this is Node's error code for a header that it refuses to send. */
export function isInvalidHeader(code = ''): boolean {
  return code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN' || code === 'ERR_HTTP_INVALID_HEADER_VALUE';
}

/** Whether a retry does not help. */
export function isFinal({ code, proxy }: WireFailure): boolean {
  // A refusal by the proxy is permanent; a proxy that did not find the service may find it later.
  const isRefused = proxy?.status !== undefined && proxy.status < 500;
  // Retrying changes neither the certificate nor the header nor the server.
  return isRefused || isCertificateError(code) || isInvalidHeader(code) || code === switchedProtocols;
}
