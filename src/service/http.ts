/**
 * One HTTP exchange through got: no redirects, no retries, no thrown statuses, no hidden waiting. Failures are
 * `WireFailure`s of a few plain facts, because got's own errors hold the request with its credentials.
 */

import type { ClientRequest } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Method } from '../contract/common.ts';
import { errorCode } from '../text/error-code.ts';
import type { Agent } from './agents.ts';

export interface WireRequest {
  readonly method: Method;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | NodeJS.ReadableStream | undefined;
  readonly agent: Agent;
  /** Milliseconds for the lookup of the name, the connection and TLS together. */
  readonly connectMs: number;
  /** Milliseconds without any sign of life, while one is waited for. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Ask for a body as it is, so that no compressor holds back the parts of a stream. */
  readonly uncompressed?: boolean;
  /** Called with the bytes of the body sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface WireAnswer {
  readonly status: number;
  /** Names in lower case; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decoded body. Leaving the loop early closes the connection. Throws `WireFailure`. */
  readonly chunks: () => AsyncGenerator<Uint8Array, void>;
  /** Closes the connection unless the body has been read. */
  readonly close: () => void;
}

export type WireFault = 'network' | 'connect_timeout' | 'silence' | 'deadline' | 'aborted';

/** Reason of a signal that stops a request because its time is over, and not because the caller wants it no more. */
export const deadlineReached = Symbol('deadline');

export class WireFailure extends Error {
  readonly fault: WireFault;
  /** Code of the operating system, of TLS or of Node. */
  readonly code: string | undefined;
  /** False where the connection was never made, so that the service cannot have seen the request. */
  readonly sent: boolean;

  constructor(fault: WireFault, code: string | undefined, sent: boolean) {
    super(code ?? fault);
    this.fault = fault;
    this.code = code;
    this.sent = sent;
  }
}

/** How a request fails that is stopped before anything is sent. */
export function stopped(signal: AbortSignal): WireFailure {
  return new WireFailure(stopReason(signal), undefined, false);
}

function stopReason(signal: AbortSignal): WireFault {
  return signal.reason === deadlineReached ? 'deadline' : 'aborted';
}

/** got takes tens of milliseconds to load; the first frame must not wait for it. */
const loadGot = () => import('got');

/**
 * Sends the request and waits for the head of the answer.
 *
 * @throws WireFailure
 */
export async function exchange(request: WireRequest): Promise<WireAnswer> {
  const { default: got } = await loadGot();
  const { signal } = request;
  if (signal.aborted) throw stopped(signal);

  const { method, url, body, agent, uncompressed = false } = request;
  const stream = got.stream(url, {
    method,
    headers: { ...request.headers, ...(uncompressed ? { 'accept-encoding': 'identity' } : {}) },
    // Without a body got waits for one to be piped in.
    ...(method === 'GET' ? {} : { body: toBody(body) }),
    agent,
    decompress: !uncompressed,
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
  });

  let fault: WireFault | undefined;
  let sent = false;
  const stop = (reason: WireFault) => {
    fault ??= reason;
    stream.destroy(new Error(reason));
  };
  const failure = (error: unknown) => new WireFailure(fault ?? 'network', fault ? undefined : errorCode(error), sent);

  let quiet = () => {};
  const listen = () => {
    quiet();
    quiet = after(request.silenceMs, () => stop('silence'));
  };
  const cancel = () => stop(stopReason(signal));
  signal.addEventListener('abort', cancel, { once: true });
  stream.once('close', () => {
    quiet();
    signal.removeEventListener('abort', cancel);
  });
  // Callers get the error from the promises below; without a listener, an error between them would end the process.
  stream.on('error', () => {});
  stream.on('request', (outgoing: ClientRequest) =>
    watchConnection(outgoing, request.connectMs, {
      onConnected: () => {
        sent = true;
      },
      onTimeout: () => stop('connect_timeout'),
    }),
  );
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

function toBody(body: WireRequest['body']) {
  return body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : (body ?? '');
}

/** Follows a request until it is connected. A connection that is reused is connected already. */
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
 * Calls back after this long unless it is called off. What had arrived while the process was busy or asleep is seen
 * before the time is judged to be over.
 */
function after(ms: number, callback: () => void): () => void {
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
