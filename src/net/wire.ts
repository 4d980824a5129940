/**
 * One HTTP exchange through got, without redirects, retries, exceptions for error statuses, or hidden waits. It fails
 * with a `WireFailure`.
 */
import type { ClientRequest } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Request as GotStream, OptionsInit } from 'got';
import { errorCode } from '../base/errors.ts';
import type { Method } from '../contract/common.ts';
import { type Agent, isTrustedProxy } from './agents.ts';
import {
  isCertificateError,
  stoppedFailure,
  stopReason,
  switchedProtocols,
  WireFailure,
  type WireFailureReason,
} from './failure.ts';

export interface WireRequest {
  readonly method: Method;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A function creates a stream for each connection attempt. */
  readonly body?: Uint8Array | (() => Readable) | undefined;
  readonly agent: Agent;
  /** Resolves host names; the system's resolver by default. */
  readonly lookup?: LookupFunction | undefined;
  /** Timeout for DNS, connection and TLS together, in milliseconds. */
  readonly connectMs: number;
  /** Idle timeout in milliseconds; Infinity for none. */
  readonly silenceMs: number;
  /** If set, the open connection does not keep the process alive. */
  readonly background?: boolean;
  readonly signal: AbortSignal;
  /** Requests an uncompressed body, so that compression does not delay a stream's chunks. */
  readonly uncompressed?: boolean;
  /** Called with the number of body bytes sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface WireAnswer {
  readonly status: number;
  /** Names are in lower case; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decoded body. Leaving the loop early closes the connection. Throws `WireFailure`. */
  readonly chunks: () => AsyncGenerator<Uint8Array, void>;
  /** Closes the connection unless the body has been read. */
  readonly close: () => void;
}

/** got takes tens of milliseconds to load; the first frame must not wait for it. */
const loadGot = () => import('got');

/** TLS error codes for a certificate from an unknown issuer. */
const unknownIssuer = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Sends the request and waits for the response headers. If only the system trusts the certificate's issuer, it connects
 * again with the system's certificates, since nothing has been sent.
 *
 * @throws WireFailure
 */
export async function exchange(request: WireRequest): Promise<WireAnswer> {
  try {
    return await exchangeTrusting(request);
  } catch (error) {
    throw await namingProxy(error, request);
  }
}

async function exchangeTrusting(request: WireRequest): Promise<WireAnswer> {
  try {
    return await send(request);
  } catch (error) {
    const isUnknown = error instanceof WireFailure && !error.sent && unknownIssuer.has(error.code ?? '');
    const wider = isUnknown ? await request.agent.trustingSystem?.() : undefined;
    if (!wider) throw error;
    return send({ ...request, agent: wider });
  }
}

/** Finds out whose certificate was refused: Node's error is the same for the service and for an https proxy. */
async function namingProxy(error: unknown, { url, connectMs }: WireRequest): Promise<unknown> {
  if (!(error instanceof WireFailure) || !isCertificateError(error.code)) return error;
  const { proxy } = error;
  if (!proxy || !('url' in proxy.used) || !proxy.used.url.startsWith('https:')) return error;
  // An http request uses TLS only to the proxy.
  const isUntrusted = url.protocol === 'http:' || !(await isTrustedProxy(new URL(proxy.used.url), connectMs));
  return new WireFailure(error.reason, error.code, error.sent, { ...proxy, isUntrusted });
}

async function send(request: WireRequest): Promise<WireAnswer> {
  const { default: got } = await loadGot();
  const { signal, url, agent } = request;
  if (signal.aborted) throw stoppedFailure(signal);
  const body = typeof request.body === 'function' ? request.body() : request.body;
  const exchanged = new Exchange(request, got.stream(url, gotOptions(request, body)), body);
  const { statusCode: status, headers } = await exchanged.head();
  if (status === 101) throw exchanged.refuse(new WireFailure('network', switchedProtocols, exchanged.sent));
  if (status === 407 && agent.proxy) {
    // Without a tunnel, the response is the proxy's and the service has not seen the request.
    const proxy = { used: agent.proxy, status };
    throw exchanged.refuse(new WireFailure('network', 'proxy_authentication', false, proxy));
  }
  return {
    status,
    headers: joinHeaders(headers),
    chunks: () => exchanged.chunks(),
    close: () => exchanged.close(),
  };
}

function gotOptions(request: WireRequest, body: Uint8Array | Readable | undefined): OptionsInit {
  const { method, agent, lookup, uncompressed = false } = request;
  const isWhole = body instanceof Uint8Array;
  return {
    method,
    headers: {
      // Suppress got's own user agent.
      'user-agent': undefined,
      ...request.headers,
      ...(uncompressed ? { 'accept-encoding': 'identity' } : {}),
      ...(isWhole ? { 'content-length': String(body.byteLength) } : {}),
    },
    // Without a body, got waits for one to be piped in.
    ...(method === 'GET' ? {} : { body: isWhole ? piecesOf(body) : (body ?? '') }),
    agent: agent.protocols,
    ...(lookup && { dnsLookup: lookup }),
    decompress: !uncompressed,
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
  };
}

/** A got request with its timeouts. */
class Exchange {
  readonly #request: WireRequest;
  readonly #stream: GotStream;
  /** Whether a connection was made, so that the service may have seen the request. */
  sent = false;
  #stopReason: WireFailureReason | undefined;
  #switched = false;
  #clearSilence = (): void => {};

  constructor(request: WireRequest, stream: GotStream, body: Uint8Array | Readable | undefined) {
    this.#request = request;
    this.#stream = stream;
    const { signal, connectMs } = request;
    const cancel = () => this.#stop(stopReason(signal));
    signal.addEventListener('abort', cancel, { once: true });
    stream.once('close', () => {
      this.#clearSilence();
      if (body && !(body instanceof Uint8Array)) body.destroy();
      signal.removeEventListener('abort', cancel);
    });
    // Callers get errors from `head` and `chunks`; an earlier error without a listener would end the process.
    stream.on('error', () => {});
    stream.on('request', (outgoing: ClientRequest) => {
      // Node 22 reports a refused tunnel twice, but got listens for one error only.
      outgoing.on('error', () => {});
      if (request.background) outgoing.on('socket', socket => socket.unref());
      // After a 101 that names a protocol, no response follows.
      outgoing.once('upgrade', (_, socket) => {
        this.#switched = true;
        socket.destroy();
        stream.destroy(new Error('101'));
      });
      watchConnection(outgoing, connectMs, {
        onConnected: () => {
          this.sent = true;
        },
        onTimeout: () => this.#stop('connect_timeout'),
      });
    });
    stream.on('uploadProgress', ({ transferred }) => {
      if (stream.response) return;
      this.#limitSilence();
      request.onSent?.(transferred);
    });
  }

  /** Waits for the response headers. @throws WireFailure */
  async head(): Promise<{ readonly statusCode: number; readonly headers: NodeJS.Dict<string | string[]> }> {
    this.#limitSilence();
    try {
      return await new Promise((resolve, reject) => {
        this.#stream.once('response', resolve);
        this.#stream.once('error', (error: unknown) => reject(this.#failure(error)));
        this.#stream.once('close', () => reject(this.#failure(undefined)));
      });
    } finally {
      this.#clearSilence();
    }
  }

  async *chunks(): AsyncGenerator<Uint8Array, void> {
    const parts: AsyncIterator<Uint8Array> = this.#stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        this.#limitSilence();
        const part = await parts.next();
        this.#clearSilence();
        if (part.done) return;
        yield part.value;
      }
    } catch (error) {
      throw this.#failure(error);
    } finally {
      this.#clearSilence();
      this.close();
    }
  }

  close(): void {
    this.#stream.destroy();
  }

  /** Closes the connection, and returns the failure to throw. */
  refuse(failure: WireFailure): WireFailure {
    this.close();
    return failure;
  }

  #stop(reason: WireFailureReason): void {
    this.#stopReason ??= reason;
    this.#stream.destroy(new Error(reason));
  }

  /** Starts or restarts the idle timeout. */
  #limitSilence(): void {
    this.#clearSilence();
    this.#clearSilence = callAfter(this.#request.silenceMs, () => this.#stop('silence'));
  }

  #failure(error: unknown): WireFailure {
    if (this.#switched) return new WireFailure('network', switchedProtocols, this.sent);
    const { proxy } = this.#request.agent;
    const refusal = proxy && { used: proxy, status: tunnelStatus(error) };
    const code = this.#stopReason ? undefined : errorCode(error);
    return new WireFailure(this.#stopReason ?? 'network', code, this.sent, refusal);
  }
}

/** The status with which a proxy refused to open a tunnel. */
function tunnelStatus(error: unknown): number | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const isTunnel = errorCode(cause) === 'ERR_PROXY_TUNNEL' && cause instanceof Error && 'statusCode' in cause;
  return isTunnel && typeof cause.statusCode === 'number' ? cause.statusCode : undefined;
}

const pieceBytes = 65_536;

/**
 * Chunks the body. got 16.1 destroys a request with a single buffer if the response begins before the next turn of the
 * event loop (`_finalizeStaleChunkedWrite`), which truncates the response.
 */
function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.byteLength; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

/** Tracks a request until it is connected. A reused connection counts as connected. */
function watchConnection(
  outgoing: ClientRequest,
  connectMs: number,
  { onConnected, onTimeout }: { readonly onConnected: () => void; readonly onTimeout: () => void },
): void {
  outgoing.once('socket', socket => {
    if (!socket.connecting) return onConnected();
    const callOff = callAfter(connectMs, onTimeout);
    const isTls = (candidate: object): candidate is TLSSocket => 'encrypted' in candidate;
    socket.once(isTls(socket) ? 'secureConnect' : 'connect', () => {
      callOff();
      onConnected();
    });
    socket.once('close', callOff);
    outgoing.once('close', callOff);
  });
}

/**
 * Calls back after this delay unless cancelled. Lets data that arrived while the process was busy or asleep be
 * processed first.
 */
function callAfter(ms: number, callback: () => void): () => void {
  if (ms === Number.POSITIVE_INFINITY) return () => {};
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    lastLook = setImmediate(callback);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(lastLook);
  };
}

function joinHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]),
  );
}
