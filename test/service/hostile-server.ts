/**
 * A server on loopback that misbehaves by script: each request takes the next behaviour, the last one repeats. It
 * closes when the test ends.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { createService, type Service } from '../../src/service/index.ts';
import type { LogLine, ServiceOptions } from '../../src/service/options.ts';
import type { TraceEvent } from '../../src/service/trace.ts';
import { listenOnNewPort } from '../listen.ts';

export interface SeenRequest {
  readonly method: string;
  /** Path with the query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Settles when the connection of this request has been closed. */
  readonly closed: Promise<void>;
}

export type Behaviour = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

export interface HostileServer {
  readonly url: string;
  /** The requests so far. */
  readonly requests: readonly SeenRequest[];
  /** How many connections were made. */
  readonly connections: () => number;
}

export async function hostileServer(...script: readonly Behaviour[]): Promise<HostileServer> {
  const requests: SeenRequest[] = [];
  let connections = 0;
  let next = 0;
  const server = createServer((incoming: IncomingMessage, response) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    response.once('close', resolve);
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(parts).toString(), closed };
      requests.push(request);
      const behaviour = script[Math.min(next, script.length - 1)];
      next += 1;
      void behaviour?.(response, request);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  const port = await listenOnNewPort(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, requests, connections: () => connections };
}

type Headers = Record<string, string>;

/** An ordinary answer. */
export function json(body: unknown, status = 200, headers: Headers = {}): Behaviour {
  return response => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function text(body: string, status = 200, headers: Headers = {}): Behaviour {
  return response => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers });
    response.end(body);
  };
}

/** An error in the envelope of `/api/v1`. */
export function refusal(
  status: number,
  type: string,
  code: string,
  more: object = {},
  headers: Headers = {},
): Behaviour {
  return json(
    { error: { type, code, message: `it says ${code}`, param: null, doc_url: '', ...more } },
    status,
    headers,
  );
}

/** Resets the connection before any answer. */
export const resetAtOnce: Behaviour = response => {
  response.socket?.resetAndDestroy();
};

/** Sends this much of a longer body, then resets the connection. */
export function resetAfter(start: string, headers: Headers = {}): Behaviour {
  return response => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000', ...headers });
    response.write(start, () => setImmediate(() => response.socket?.resetAndDestroy()));
  };
}

/** Sends parts of a body one after the other, each as soon as the one before is out, and leaves the answer open. */
export function open(parts: readonly (string | Uint8Array)[], headers: Headers = {}): Behaviour {
  return async response => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    for (const part of parts) await new Promise<void>(resolve => response.write(part, () => resolve()));
  };
}

/** The same, and then the end of the answer. */
export function stream(parts: readonly (string | Uint8Array)[], headers: Headers = {}): Behaviour {
  return async (response, request) => {
    await open(parts, headers)(response, request);
    response.end();
  };
}

/** Takes the request and never answers. */
export const silent: Behaviour = () => {};

export const apiKey = 'organization-key-0123456789';
export const inferenceToken = 'inference-token-0123456789';

export interface TestService {
  readonly service: Service;
  /** The waits between attempts, in milliseconds; none is really waited. */
  readonly waits: readonly number[];
  readonly log: readonly LogLine[];
  readonly trace: readonly TraceEvent[];
}

export function serviceAt(baseUrl: string, options: Partial<ServiceOptions> = {}): TestService {
  const waits: number[] = [];
  const log: LogLine[] = [];
  const trace: TraceEvent[] = [];
  let slept = 0;
  const service = createService({
    baseUrl,
    apiKey: async () => apiKey,
    inferenceToken: async () => inferenceToken,
    userAgent: 'benchtop/test',
    // Detecting it would take requests.
    generation: 'document',
    logger: line => log.push(line),
    tracer: event => trace.push(event),
    clock: {
      now: Date.now,
      monotonic: () => slept,
      random: () => 0.5,
      sleep: async ms => {
        waits.push(Math.round(ms));
        slept += ms;
      },
    },
    ...options,
  });
  onTestFinished(() => service.close());
  return { service, waits, log, trace };
}

/** The error that a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}
