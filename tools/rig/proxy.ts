/**
 * The proxy between a program and a real local service, which injects all faults of answers. A fault depends only on
 * the plan, the request and its repetition, so that a plan gives the same answers in any order of requests.
 */
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { hashOf } from '../../src/base/hash.ts';
import { changed } from './answers.ts';
import { brokenEvent, deliver, type Fault, type Faults } from './faults.ts';

/** A request and the answer sent to it. */
export interface Exchange {
  readonly method: string;
  /** Path with the query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  requestBody: string;
  /** The answer, with its faults. Empty if it was broken below JSON, or streamed. */
  sent: string;
  fault: Fault | undefined;
}

interface ProxyOptions {
  /** The real service. */
  readonly target: string;
  /** Whether to refuse a request with a 429, because too much has been started. */
  readonly refuses: (exchange: Exchange) => boolean;
  readonly stallMs: number;
  /** Called with each request that is passed on to the service. */
  readonly onForward?: (exchange: Exchange) => void;
}

export interface FaultyProxy extends AsyncDisposable {
  readonly baseUrl: string;
  /** The foreign origin, to which answers redirect. */
  readonly elsewhere: string;
  /** The recent exchanges, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** Requests to the foreign origin. There must be none. */
  readonly strayed: readonly Exchange[];
  readonly counts: { answers: number; faults: number };
  /** Sets the faults of answers; with a part of a user agent, only of answers to that. */
  readonly setFaults: (faults: Faults, userAgent?: string) => void;
  readonly setTarget: (target: string) => void;
}

const startsWork = /^\/api\/v1\/(?:train|deploy|eval\/[^/]+\/start|benchmarks\/[^/]+\/(?:build|ingest))/;

/** Refuses requests that start work (runs, training, deployments) after `starts` of them. */
export function refusesAfter(starts: number): ProxyOptions['refuses'] {
  let left = starts;
  return ({ method, url }) => {
    if (method !== 'POST' || !startsWork.test(url)) return false;
    left -= 1;
    return left < 0;
  };
}

/** The request without the ids, which differ between two services. */
export function patternOf(method: string, url: string): string {
  return `${method} ${url.replace(/\?.*$/, '').replaceAll(/[a-z]+_[\w-]{6,}/g, '{id}')}`;
}

const credentialsOf = ({ headers }: Exchange): string[] =>
  [headers['x-api-key'], headers.authorization?.replace(/^Bearer /, '')].filter(value => typeof value === 'string');

const refused = { error: { type: 'rate_limit_error', code: 'rate_limited', message: 'Too much has been started.' } };

/** Maximum number of exchanges kept. */
const mostKept = 2_000;

export async function startProxy(options: ProxyOptions): Promise<FaultyProxy> {
  const { stallMs } = options;
  let { target } = options;
  const faultsFor = new Map<string, Faults>();
  const agent = new Agent({ keepAlive: true });
  const exchanges: Exchange[] = [];
  const strayed: Exchange[] = [];
  const counts = { answers: 0, faults: 0 };
  const asked = new Map<string, number>();

  const record = (incoming: IncomingMessage, list: Exchange[]): Exchange => {
    const { method = '', url = '', headers } = incoming;
    const exchange: Exchange = { method, url, headers, requestBody: '', sent: '', fault: undefined };
    list.push(exchange);
    if (list.length > mostKept) list.shift();
    return exchange;
  };

  const elsewhere = createServer((incoming, response) => {
    record(incoming, strayed);
    response.end('{}');
  });

  /** The fault of a request, which depends on the number of equal requests before it. */
  const faultOf = ({ method, url, headers }: Exchange): { fault: Fault | undefined; turn: number } => {
    const agent = [...faultsFor.keys()].find(name => String(headers['user-agent']).includes(name)) ?? '';
    const faults = faultsFor.get(agent) ?? [];
    const pattern = patternOf(method, url);
    const turn = (asked.get(pattern) ?? 0) + 1;
    asked.set(pattern, turn);
    const named = faults.find(fault => fault?.only !== undefined && new RegExp(fault.only).test(url));
    const fault = named ?? faults[hashOf(`${pattern} ${turn}`) % faults.length];
    return { fault: fault && (fault === named || fault.only === undefined) ? fault : undefined, turn };
  };

  /** Forwards a request. Rejects if the service is gone. */
  const forward = (exchange: Exchange, body: Buffer): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { method, url, headers } = exchange;
      const outgoing = sendRequest(new URL(url, target), { method, headers, agent }, resolve);
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  const stream = async (answer: IncomingMessage, response: ServerResponse, choice: number | undefined) => {
    response.writeHead(answer.statusCode ?? 200, answer.headers);
    response.on('close', () => answer.destroy());
    let turn = 0;
    for await (const part of answer) {
      const text = String(part);
      turn += 1;
      const lot = choice === undefined ? 1 : hashOf(`${choice} ${turn}`);
      response.write(lot % 5 === 0 ? brokenEvent(text, lot) : text);
      if (lot % 50 === 0) return void response.socket?.resetAndDestroy();
    }
    response.end();
  };

  const answerWith = async (
    exchange: Exchange,
    turn: number,
    answer: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const { fault } = exchange;
    const status = answer.statusCode ?? 200;
    const contentType = String(answer.headers['content-type'] ?? '');
    counts.answers += 1;
    if (fault) counts.faults += 1;
    if (contentType.startsWith('text/event-stream')) return stream(answer, response, fault && turn);
    const body = await buffer(answer);
    if (fault && !('json' in fault)) {
      const around = { elsewhere: addressOf(elsewhere), credentials: credentialsOf(exchange), stallMs };
      return deliver(fault, response, { status, contentType, body }, around);
    }
    const text = body.toString('utf8');
    exchange.sent = fault ? changed(text, fault.json) : text;
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...headers } = answer.headers;
    response.writeHead(status, headers);
    response.end(exchange.sent);
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const exchange = record(incoming, exchanges);
    const body = await buffer(incoming);
    exchange.requestBody = body.toString('utf8');
    if (options.refuses(exchange)) {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' });
      response.end(JSON.stringify(refused));
      return;
    }
    const { fault, turn } = faultOf(exchange);
    exchange.fault = fault;
    if (fault && 'request' in fault) {
      const meant = { status: 0, contentType: '', body: Buffer.alloc(0) };
      return deliver(fault, response, meant, { elsewhere: '', credentials: [], stallMs });
    }
    options.onForward?.(exchange);
    await answerWith(exchange, turn, await forward(exchange, body), response);
  };

  const server = createServer((incoming, response) => {
    response.on('error', () => {});
    // The service may be gone, and the program may hang up: neither is a failure of the proxy.
    handle(incoming, response).catch(() => void response.socket?.destroy());
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  for (const each of [server, elsewhere]) await new Promise<void>(resolve => each.listen(0, '127.0.0.1', resolve));

  return {
    baseUrl: addressOf(server),
    elsewhere: addressOf(elsewhere),
    exchanges,
    strayed,
    counts,
    setFaults: (faults, userAgent = '') => void faultsFor.set(userAgent, faults),
    setTarget: next => {
      target = next;
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of [server, elsewhere]) {
        each.closeAllConnections();
        await new Promise(resolve => each.close(resolve));
      }
      agent.destroy();
    },
  };
}

function addressOf(server: ReturnType<typeof createServer>): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
