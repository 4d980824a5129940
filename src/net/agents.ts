/** Shared keep-alive connections: their number, their proxies, and the certificates that they trust. */

import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP } from 'node:net';
import { connect, getCACertificates } from 'node:tls';
import { errorCode } from '../base/errors.ts';
import { type NamedProxy, proxyFor } from '../config/proxy.ts';
import type { Environment } from '../text/terminal.ts';
import { isCertificateError } from './failure.ts';

/** The proxy or certificate settings cannot be used. */
export class RouteError extends Error {
  readonly code: 'proxy_unusable' | 'ca_file_unreadable';
  /** The variable or setting at fault. */
  readonly param: string;

  constructor(message: string, { code, param }: Pick<RouteError, 'code' | 'param'>) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

export interface Agent {
  /** Node's agent for the protocol of the requested address. */
  readonly protocols: { readonly http: HttpAgent } | { readonly https: HttpsAgent };
  readonly proxy: NamedProxy | undefined;
  /** The same route, also trusting the system's certificates; missing if they are already trusted or add none. */
  readonly trustingSystem?: () => Promise<Agent | undefined>;
}

/**
 * Uploads, streams and writes have their own pools, so that a hung poll cannot delay them, and they cannot delay a
 * read. Uploads reuse only connections to addresses that passed the upload check.
 */
export type AgentUse = 'read' | 'write' | 'long' | 'upload';

const readSockets = 8;

export class Agents {
  readonly #caFile: string | undefined;
  readonly #agents = new Map<string, Promise<Agent>>();
  #systemCertificates: readonly string[] = [];

  constructor(caFile: string | undefined) {
    this.#caFile = caFile;
  }

  /**
   * The agent for an address.
   *
   * @throws RouteError if a variable names an unusable proxy, or the certificate file cannot be read
   */
  get(url: URL, use: AgentUse): Promise<Agent> {
    const proxy = proxyFor(url, process.env);
    const key = `${use} ${url.protocol} ${proxy ? JSON.stringify(proxy) : 'direct'}`;
    const existing = this.#agents.get(key);
    if (existing) return existing;
    const agent = this.#create(url, use, proxy);
    this.#agents.set(key, agent);
    // Forget a failure: the certificate file may exist next time.
    agent.catch(() => this.#agents.delete(key));
    return agent;
  }

  async #create(url: URL, use: AgentUse, proxy: NamedProxy | undefined): Promise<Agent> {
    const shared = {
      keepAlive: true,
      maxSockets: use === 'read' ? readSockets : Number.POSITIVE_INFINITY,
      // The proxy is already chosen, so Node must not evaluate the variables again.
      proxyEnv: proxyVariables(proxy, url.hostname),
    };
    if (url.protocol !== 'https:') {
      return { proxy, protocols: { http: new HttpAgent(shared) } };
    }
    const own = await readCertificates(this.#caFile);
    const added = [...this.#systemCertificates, ...own];
    const ca = added.length > 0 ? [...getCACertificates('default'), ...added] : [];
    const https = new HttpsAgent({
      ...shared,
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable the check.
      rejectUnauthorized: true,
      ...(ca.length > 0 ? { ca } : {}),
    });
    if (this.#systemCertificates.length > 0) return { proxy, protocols: { https } };
    return { proxy, protocols: { https }, trustingSystem: () => this.#trustSystem(url, use) };
  }

  /** Reading the system's certificates takes 100 ms, so this happens only if Node's own do not suffice. */
  async #trustSystem(url: URL, use: AgentUse): Promise<Agent | undefined> {
    if (this.#systemCertificates.length === 0) {
      this.#systemCertificates = systemCertificates();
      if (this.#systemCertificates.length === 0) return undefined;
      // Open connections finish on their own.
      for (const key of this.#agents.keys()) if (key.includes(' https: ')) this.#agents.delete(key);
    }
    return this.get(url, use);
  }

  /** Closes every connection, including those in use. New ones are made on demand. */
  async close(): Promise<void> {
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    for (const agent of await Promise.allSettled(agents)) {
      if (agent.status === 'rejected') continue;
      const { protocols } = agent.value;
      if ('http' in protocols) protocols.http.destroy();
      else protocols.https.destroy();
    }
  }
}

/** The proxy in Node's format. @throws RouteError for an unusable one: no request bypasses a proxy */
function proxyVariables(proxy: NamedProxy | undefined, host: string): { http_proxy?: string; https_proxy?: string } {
  if (!proxy) return {};
  if ('url' in proxy) return { http_proxy: proxy.url, https_proxy: proxy.url };
  throw new RouteError(
    `${proxy.variable} ${proxy.refusal}. Nothing was sent. Set it to http://host:port, or add ${host} to NO_PROXY.`,
    { code: 'proxy_unusable', param: proxy.variable },
  );
}

/**
 * The certificates that the system trusts in addition to Node's: from its store, or from SSL_CERT_FILE and
 * SSL_CERT_DIR.
 */
export function systemCertificates(): string[] {
  const own = new Set(getCACertificates('default'));
  return [...new Set(getCACertificates('system'))].filter(certificate => !own.has(certificate));
}

/** Problems with SSL_CERT_FILE and SSL_CERT_DIR, as sentences. Node ignores them silently. */
export function certificateProblems(environment: Environment): string[] {
  const trusted = 'its certificates are not trusted.';
  const [file, folder] = [environment['SSL_CERT_FILE'], environment['SSL_CERT_DIR']];
  // Only Linux reads these variables.
  if (process.platform !== 'linux') return [];
  const problems: string[] = [];
  try {
    if (file && !certificateMark.test(readFileSync(file, 'latin1'))) {
      problems.push(`SSL_CERT_FILE names ${file}, which holds no certificate in PEM form: ${trusted}`);
    }
  } catch (error) {
    problems.push(`SSL_CERT_FILE names ${file}, which cannot be read (${errorCode(error)}): ${trusted}`);
  }
  const folders = folder ? folder.split(':').filter(Boolean) : [];
  for (const path of folders.filter(each => !existsSync(each))) {
    problems.push(`SSL_CERT_DIR names ${path}, which does not exist: ${trusted}`);
  }
  return problems;
}

const certificateMark = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/;

async function readCertificates(caFile: string | undefined): Promise<string[]> {
  if (caFile === undefined) return [];
  let text: string;
  try {
    text = await readFile(caFile, 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? 'unreadable';
    throw new RouteError(
      `The certificate file ${caFile} could not be read (${code}). Nothing was sent. Check the file, or the setting that names it.`,
      { code: 'ca_file_unreadable', param: 'caFile' },
    );
  }
  // Node ignores anything else, such as a key.
  if (certificateMark.test(text)) return [text];
  throw new RouteError(
    `The file ${caFile} holds no certificate in PEM form. Nothing was sent. Check the file, or the setting that names it.`,
    { code: 'ca_file_unreadable', param: 'caFile' },
  );
}

/** Whether Node trusts an https proxy's certificate. Connects as Node does, but sends nothing. */
export function isTrustedProxy({ hostname, port }: URL, connectMs: number): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const name = isIP(host) === 0 ? { servername: host } : {};
  return new Promise(resolve => {
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: true, ...name });
    const end = (trusted: boolean) => {
      socket.destroy();
      resolve(trusted);
    };
    socket.once('secureConnect', () => end(true));
    socket.once('error', (error: unknown) => end(!isCertificateError(errorCode(error))));
    socket.setTimeout(connectMs, () => end(true));
  });
}
