/**
 * A proxy between the program and a real local service that corrupts the answers: in their JSON, HTTP or TCP. The
 * corruption depends only on the seed, the request and its repetition, so that a seed gives the same answers in any
 * order of requests.
 */
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Mutated, mutateJson } from './mutate.ts';
import type { Random } from './random.ts';
import {
  httpFaults,
  lostRequests,
  type Meant,
  mutateEvent,
  networkFaults,
  type Surroundings,
  tcpFaults,
} from './transport.ts';

/** A request and what was sent for it. */
export interface Exchange {
  /** When it arrived, by `performance.now()`. */
  readonly at: number;
  readonly method: string;
  /** Path with the query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  requestBody: string;
  status: number;
  /** The corrupted answer, or the original. Empty if it was broken below JSON, or streamed. */
  sent: string;
  /** The corruptions. Empty for an unchanged answer. */
  done: readonly string[];
}

/** Shares of the answers, each between 0 and 1. */
export interface Shares {
  readonly json: number;
  readonly http: number;
  readonly tcp: number;
  /** Broken as only a network does it. */
  readonly network?: number;
  /** Of the requests, which do not reach the service. */
  readonly lost?: number;
}

export const calm: Shares = { json: 0, http: 0, tcp: 0 };

export interface ProxyOptions {
  /** The real service. */
  readonly target: string;
  readonly random: Random;
  readonly shares: Shares;
  /** Requests that start work (runs, training, deployments) and are forwarded; the others are refused with a 429. */
  readonly mostStarts: number;
  readonly stallMs: number;
  /** Number of recent exchanges kept. */
  readonly keeps?: number;
  /** Called with each request that is passed on to the service. */
  readonly onForward?: (exchange: Exchange) => void;
  /** Mutates a JSON answer; at random by default. */
  readonly mutate?: (text: string, random: Random, exchange: Exchange) => Mutated;
}

export interface FaultyProxy {
  readonly baseUrl: string;
  /** The recent exchanges, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** Requests to the foreign origin, of which there must be none. */
  readonly strayed: readonly Exchange[];
  readonly counts: { answers: number; mutated: number };
  /** Requests in flight. */
  readonly open: () => number;
  readonly setShares: (shares: Shares) => void;
  readonly setTarget: (target: string) => void;
  readonly close: () => Promise<void>;
}

const startsWork = /^\/api\/v1\/(?:train|deploy|eval\/[^/]+\/start|benchmarks\/[^/]+\/(?:build|ingest))/;

/** The request without the ids, which differ between two services. */
export function patternOf(method: string, url: string): string {
  return `${method} ${url.replace(/\?.*$/, '').replaceAll(/[a-z]+_[\w-]{6,}/g, '{id}')}`;
}

function bodyOf(message: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    message.on('data', (part: Buffer) => parts.push(part));
    message.on('end', () => resolve(Buffer.concat(parts)));
    message.on('error', reject);
  });
}

const credentialsOf = ({ headers }: Exchange): string[] =>
  [headers['x-api-key'], headers.authorization?.replace(/^Bearer /, '')].filter(value => typeof value === 'string');

const refused = { error: { type: 'rate_limit_error', code: 'rate_limited', message: 'Too much has been started.' } };

export async function startProxy(options: ProxyOptions): Promise<FaultyProxy> {
  const { random, stallMs, keeps = 2_000, mutate = mutateJson } = options;
  let { shares, target, mostStarts } = options;
  const agent = new Agent({ keepAlive: true });
  const exchanges: Exchange[] = [];
  const strayed: Exchange[] = [];
  const counts = { answers: 0, mutated: 0 };
  const asked = new Map<string, number>();
  let open = 0;

  const record = (incoming: IncomingMessage, list: Exchange[]): Exchange => {
    const { method = '', url = '', headers } = incoming;
    const exchange: Exchange = {
      at: performance.now(),
      method,
      url,
      headers,
      requestBody: '',
      status: 0,
      sent: '',
      done: [],
    };
    list.push(exchange);
    if (list.length > keeps) list.shift();
    return exchange;
  };

  const elsewhere = createServer((incoming, response) => {
    record(incoming, strayed);
    response.end('{}');
  });

  /** The chance of a request, which depends on how many there were like it. */
  const chanceOf = (pattern: string): Random => {
    const count = (asked.get(pattern) ?? 0) + 1;
    asked.set(pattern, count);
    return random.fork(`${pattern} ${count}`);
  };

  /** Forwards a request. Rejects if the service is gone. */
  const forward = (exchange: Exchange, body: Buffer): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { method, url, headers } = exchange;
      const outgoing = sendRequest(new URL(url, target), { method, headers, agent }, resolve);
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  const stream = async (answer: IncomingMessage, response: ServerResponse, chance: Random, bad: boolean) => {
    response.writeHead(answer.statusCode ?? 200, answer.headers);
    response.on('close', () => answer.destroy());
    for await (const part of answer) {
      const text = String(part);
      response.write(bad && chance.chance(0.2) ? mutateEvent(text, chance) : text);
      if (bad && chance.chance(0.02)) return void response.socket?.resetAndDestroy();
    }
    response.end();
  };

  const answerWith = async (exchange: Exchange, answer: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chance = chanceOf(patternOf(exchange.method, exchange.url));
    const status = answer.statusCode ?? 200;
    const contentType = String(answer.headers['content-type'] ?? '');
    const lot = chance.next();
    const streams = contentType.startsWith('text/event-stream');
    exchange.status = status;
    counts.answers += 1;
    const isBroken = lot >= 1 - (shares.network ?? 0);
    const isBad = isBroken || lot < shares.tcp + shares.http + shares.json;
    if (isBad) counts.mutated += 1;
    if (streams) {
      exchange.done = isBad ? ['events'] : [];
      return stream(answer, response, chance, isBad);
    }
    const meant: Meant = { status, contentType, body: await bodyOf(answer) };
    const around: Surroundings = { elsewhere: addressOf(elsewhere), credentials: credentialsOf(exchange), stallMs };
    if (isBroken || lot < shares.tcp + shares.http) {
      const faults = isBroken ? networkFaults : lot < shares.tcp ? tcpFaults : httpFaults;
      const [name, deliver] = chance.pick(Object.entries(faults));
      exchange.done = [name];
      return deliver({ response, meant, random: chance, around });
    }
    const text = meant.body.toString('utf8');
    const mutated = isBad ? mutate(text, chance, exchange) : { text, done: [] };
    exchange.sent = mutated.text;
    exchange.done = mutated.done;
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...headers } = answer.headers;
    response.writeHead(status, headers);
    response.end(mutated.text);
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const exchange = record(incoming, exchanges);
    const body = await bodyOf(incoming);
    exchange.requestBody = body.toString('utf8');
    if (exchange.method === 'POST' && startsWork.test(exchange.url)) {
      mostStarts -= 1;
      if (mostStarts < 0) {
        response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' });
        response.end(JSON.stringify(refused));
        return;
      }
    }
    const lost = shares.lost ? chanceOf(`lost ${patternOf(exchange.method, exchange.url)}`) : undefined;
    if (lost?.chance(shares.lost ?? 0)) {
      const [name, deliver] = lost.pick(Object.entries(lostRequests));
      exchange.done = [name];
      const meant = { status: 0, contentType: '', body: Buffer.alloc(0) };
      return deliver({ response, meant, random: lost, around: { elsewhere: '', credentials: [], stallMs } });
    }
    options.onForward?.(exchange);
    await answerWith(exchange, await forward(exchange, body), response);
  };

  const server = createServer((incoming, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    response.on('error', () => {});
    // The service may be gone, and the program may hang up: neither is a failure of the proxy.
    handle(incoming, response).catch(() => void response.socket?.destroy());
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  for (const each of [server, elsewhere]) await new Promise<void>(resolve => each.listen(0, '127.0.0.1', resolve));

  return {
    baseUrl: addressOf(server),
    exchanges,
    strayed,
    counts,
    open: () => open,
    setShares: next => {
      shares = next;
    },
    setTarget: next => {
      target = next;
    },
    close: async () => {
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
