/** How an exchange fails: a few plain facts, because got's own errors hold the request with its credentials. */
import type { NamedProxy } from '../config/proxy.ts';

export type WireFailureReason = 'network' | 'connect_timeout' | 'silence' | 'deadline' | 'aborted';

/** The abort reason of a signal whose deadline has passed, as opposed to the caller's own reasons. */
export const deadlineReached = Symbol('deadline');

export class WireFailure extends Error {
  readonly reason: WireFailureReason;
  /** Code of the operating system, of TLS or of Node. */
  readonly code: string | undefined;
  /** False if the connection was never made, so that the service cannot have seen the request. */
  readonly sent: boolean;
  /** The proxy, and the status with which it refused; or that its own certificate is the one that is not trusted. */
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

/** The failure of a request that is stopped before anything is sent. */
export function stopped(signal: AbortSignal): WireFailure {
  return new WireFailure(stopReason(signal), undefined, false);
}

/** Why a signal aborted. */
export function stopReason(signal: AbortSignal): WireFailureReason {
  return signal.reason === deadlineReached ? 'deadline' : 'aborted';
}

/** The code of a failure: 101 in place of an answer. */
export const switchedProtocols = 'SWITCHING_PROTOCOLS';

const certificateCode = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^ERR_TLS|^ERR_SSL|^EPROTO$|HOSTNAME_MISMATCH/;

/** Whether a Node error code means that a host could not prove its identity: retrying does not help. */
export function isCertificateError(code: string | undefined): boolean {
  return code !== undefined && certificateCode.test(code);
}
