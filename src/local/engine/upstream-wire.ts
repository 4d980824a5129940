/** Sends requests to the upstream server, through the proxy named by the usual variables. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { proxyFor } from '../../config/proxy.ts';

export interface UpstreamRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** Connections are kept, by protocol and proxy. */
const agents = new Map<string, http.Agent>();

/** @throws Error if a variable names an unusable proxy: no request bypasses a proxy */
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
 * Sends a request and returns the response once its headers have arrived. Redirects are not followed: that would send
 * the key to a server the user did not name.
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
