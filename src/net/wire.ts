/**
 * One HTTP exchange through got: no redirects, no retries, no thrown statuses, no hidden waits. Failures are
 * `WireFailure`s.
 */
import type { ClientRequest } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Method } from '../contract/common.ts';
import { errorCode } from '../text/errors.ts';
import { type Agent, isTrustedProxy } from './agents.ts';
import {
  isCertificateError,
  stopped,
  stopReason,
  switchedProtocols,
  WireFailure,
  type WireFailureReason,
} from './failure.ts';

export interface WireRequest {
  readonly method: Method;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is made for each connection that is tried. */
  readonly body?: Uint8Array | (() => Readable) | undefined;
  readonly agent: Agent;
  /** Finds the addresses that a connection is made to; by default the system. */
  readonly lookup?: LookupFunction | undefined;
  /** Time limit for DNS, connection and TLS together, in milliseconds. */
  readonly connectMs: number;
  /** Time limit for silence, in milliseconds; infinite for none. */
  readonly silenceMs: number;
  /** The open connection does not keep the process alive. */
  readonly background?: boolean;
  readonly signal: AbortSignal;
  /** Asks for an uncompressed body, so that no compressor delays the parts of a stream. */
  readonly uncompressed?: boolean;
  /** Called with the number of body bytes sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface WireAnswer {
  readonly status: number;
  /** Lower-case names; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decoded body. Leaving the loop early closes the connection. Throws `WireFailure`. */
  readonly chunks: () => AsyncGenerator<Uint8Array, void>;
  /** Closes the connection unless the body has been read. */
  readonly close: () => void;
}

/** got takes tens of milliseconds to load; the first frame must not wait for it. */
const loadGot = () => import('got');

/** TLS error codes for a certificate of an unknown issuer. */
const unknownIssuer = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Sends the request and waits for the response headers. If only the system trusts the certificate's issuer, the
 * connection is made again with the system's certificates, since nothing had been sent.
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

/** A refused certificate is that of the service or of an https proxy: Node's error is the same. */
async function namingProxy(error: unknown, { url, connectMs }: WireRequest): Promise<unknown> {
  if (!(error instanceof WireFailure) || !isCertificateError(error.code)) return error;
  const { proxy } = error;
  if (!proxy || !('url' in proxy.used) || !proxy.used.url.startsWith('https:')) return error;
  // A request for http has TLS on the way to the proxy only.
  const isUntrusted = url.protocol === 'http:' || !(await isTrustedProxy(new URL(proxy.used.url), connectMs));
  return new WireFailure(error.reason, error.code, error.sent, { ...proxy, isUntrusted });
}

async function send(request: WireRequest): Promise<WireAnswer> {
  const { default: got } = await loadGot();
  const { signal } = request;
  if (signal.aborted) throw stopped(signal);

  const { method, url, agent, uncompressed = false } = request;
  const body = typeof request.body === 'function' ? request.body() : request.body;
  const stream = got.stream(url, {
    method,
    headers: {
      // got would name itself.
      'user-agent': undefined,
      ...request.headers,
      ...(uncompressed ? { 'accept-encoding': 'identity' } : {}),
      ...(body instanceof Uint8Array ? { 'content-length': String(body.byteLength) } : {}),
    },
    // Without a body got waits for one to be piped in.
    ...(method === 'GET' ? {} : { body: body instanceof Uint8Array ? piecesOf(body) : (body ?? '') }),
    agent: agent.protocols,
    ...(request.lookup && { dnsLookup: request.lookup }),
    decompress: !uncompressed,
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
  });

  let ended: WireFailureReason | undefined;
  let sent = false;
  const stop = (reason: WireFailureReason) => {
    ended ??= reason;
    stream.destroy(new Error(reason));
  };
  let switched = false;
  const failure = (error: unknown) => {
    if (switched) return new WireFailure('network', switchedProtocols, sent);
    const proxy = agent.proxy && { used: agent.proxy, status: tunnelStatus(error) };
    return new WireFailure(ended ?? 'network', ended ? undefined : errorCode(error), sent, proxy);
  };

  let quiet = () => {};
  const listen = () => {
    quiet();
    quiet = after(request.silenceMs, () => stop('silence'));
  };
  const cancel = () => stop(stopReason(signal));
  signal.addEventListener('abort', cancel, { once: true });
  stream.once('close', () => {
    quiet();
    if (body && !(body instanceof Uint8Array)) body.destroy();
    signal.removeEventListener('abort', cancel);
  });
  // Callers get the error from the promises below; without a listener, an earlier error would end the process.
  stream.on('error', () => {});
  stream.on('request', (outgoing: ClientRequest) => {
    // Node 22 reports a refused tunnel twice, and got listens for one error.
    outgoing.on('error', () => {});
    if (request.background) outgoing.on('socket', socket => socket.unref());
    // A 101 that names a protocol: no answer follows it.
    outgoing.once('upgrade', (_, socket) => {
      switched = true;
      socket.destroy();
      stream.destroy(new Error('101'));
    });
    watchConnection(outgoing, request.connectMs, {
      onConnected: () => {
        sent = true;
      },
      onTimeout: () => stop('connect_timeout'),
    });
  });
  stream.on('uploadProgress', ({ transferred }) => {
    if (stream.response) return;
    listen();
    request.onSent?.(transferred);
  });

  listen();
  const head = await new Promise<{ statusCode: number; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('error', (error: unknown) => reject(failure(error)));
    stream.once('close', () => reject(failure(undefined)));
  });
  quiet();
  if (head.statusCode === 101) {
    stream.destroy();
    throw new WireFailure('network', switchedProtocols, sent);
  }
  if (head.statusCode === 407 && agent.proxy) {
    stream.destroy();
    // Without a tunnel the proxy answers in place of the service, which has not seen the request.
    throw new WireFailure('network', 'proxy_authentication', false, { used: agent.proxy, status: 407 });
  }

  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    const parts: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        listen();
        const part = await parts.next();
        quiet();
        if (part.done) return;
        yield part.value;
      }
    } catch (error) {
      throw failure(error);
    } finally {
      quiet();
      stream.destroy();
    }
  }
  return { status: head.statusCode, headers: joinHeaders(head.headers), chunks, close: () => stream.destroy() };
}

/** The status with which a proxy refused to open a tunnel. */
function tunnelStatus(error: unknown): number | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const isTunnel = errorCode(cause) === 'ERR_PROXY_TUNNEL' && cause instanceof Error && 'statusCode' in cause;
  return isTunnel && typeof cause.statusCode === 'number' ? cause.statusCode : undefined;
}

/** What got sends at a time. */
const pieceBytes = 65_536;

/**
 * Pieces rather than one buffer: got 16.1 destroys a request with a buffer if its answer begins before the next turn of
 * the event loop (`_finalizeStaleChunkedWrite`), and the answer breaks off with it.
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
    const callOff = after(connectMs, onTimeout);
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
 * Calls back after this delay unless cancelled. Data that arrived while the process was busy or asleep is processed
 * before the timeout fires.
 */
function after(ms: number, callback: () => void): () => void {
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
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
