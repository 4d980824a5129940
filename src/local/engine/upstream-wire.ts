/** How the upstream server is reached: through the proxy that the variables name, as every other program reaches it. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { proxyFor } from '../../config/proxy.ts';

export interface UpstreamRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Connections are kept, for each protocol and proxy. */
const agents = new Map<string, http.Agent>();

/** @throws Error if a variable names a proxy that cannot be used: nothing goes past a proxy unasked */
function agentFor(url: URL): http.Agent {
  const proxy = proxyFor(url, process.env);
  if (proxy && !('url' in proxy)) {
    throw new Error(
      `${proxy.variable} ${proxy.refusal}; set it to http://host:port, or add ${url.hostname} to NO_PROXY`,
    );
  }
  const key = `${url.protocol} ${proxy?.url ?? 'direct'}`;
  const options = { keepAlive: true, proxyEnv: proxy ? { http_proxy: proxy.url, https_proxy: proxy.url } : {} };
  const agent = agents.get(key) ?? new (url.protocol === 'https:' ? https : http).Agent(options);
  agents.set(key, agent);
  return agent;
}

/**
 * Sends a request and gives the answer once its head has come. A redirect is given as it is: followed, it would take
 * the key to a server that was not named.
 *
 * @throws Error if there is no answer
 */
export async function ask(address: string, request: UpstreamRequest): Promise<Response> {
  const { method = 'GET', headers, body, signal } = request;
  signal.throwIfAborted();
  const url = new URL(address);
  const client = url.protocol === 'https:' ? https : http;
  const sent = client.request(url, { method, headers, agent: agentFor(url), signal });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const { statusCode: status = 502, statusMessage: statusText = '' } = answer;
  const names = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const isEmpty = status === 204 || status === 205 || status === 304;
  if (isEmpty) answer.resume();
  const content = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
  return new Response(content, { status, statusText, headers: names });
}
