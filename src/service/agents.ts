/** Connections that are kept and shared: how many, through which proxy, trusting which certificates. */

import { readFile } from 'node:fs/promises';
import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { type NamedProxy, proxyFor } from '../config/proxy.ts';
import { errorCode } from '../text/errors.ts';
import type { Environment } from '../text/terminal.ts';
import { RequestError } from './errors.ts';

/** A way to an address. */
export interface Agent {
  /** For the protocol of the address that it was asked for. */
  readonly protocols: { readonly http: HttpAgent } | { readonly https: HttpsAgent };
  /** The proxy in between. */
  readonly proxy: NamedProxy | undefined;
  /** The same way, trusting the certificates of the system as well; missing if they are trusted or add none. */
  readonly trustingSystem?: () => Promise<Agent | undefined>;
}

/** Calls share a few connections; streams and uploads, which hold theirs for long, never make a call wait. */
export type AgentUse = 'call' | 'long';

const callSockets = 8;

export class Agents {
  readonly #caFile: string | undefined;
  readonly #environment: Environment;
  readonly #agents = new Map<string, Promise<Agent>>();
  #systemCertificates: readonly string[] = [];

  constructor(caFile: string | undefined, environment: Environment = process.env) {
    this.#caFile = caFile;
    this.#environment = environment;
  }

  /**
   * An agent for this address.
   *
   * @throws RequestError if a variable names a proxy that cannot be used, or the file of certificates cannot be read
   */
  get(url: URL, use: AgentUse): Promise<Agent> {
    const proxy = proxyFor(url, this.#environment);
    const key = `${use} ${url.protocol} ${proxy ? JSON.stringify(proxy) : 'direct'}`;
    const known = this.#agents.get(key);
    if (known) return known;
    const agent = this.#create(url, use, proxy);
    this.#agents.set(key, agent);
    // A certificate file that could not be read may be there the next time.
    agent.catch(() => this.#agents.delete(key));
    return agent;
  }

  async #create(url: URL, use: AgentUse, proxy: NamedProxy | undefined): Promise<Agent> {
    const shared = {
      keepAlive: true,
      maxSockets: use === 'call' ? callSockets : Number.POSITIVE_INFINITY,
      // What the variables say has been decided: all that is left for Node is the way through the proxy.
      proxyEnv: proxyVariables(proxy, url.hostname),
    };
    if (url.protocol !== 'https:') {
      return { proxy, protocols: { http: new (process.getBuiltinModule('node:http').Agent)(shared) } };
    }
    const own = await readCertificates(this.#caFile);
    const added = [...this.#systemCertificates, ...own];
    const ca = added.length > 0 ? [...process.getBuiltinModule('node:tls').getCACertificates('default'), ...added] : [];
    const https = new (process.getBuiltinModule('node:https').Agent)({
      ...shared,
      // Written out so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch the check off.
      rejectUnauthorized: true,
      ...(ca.length > 0 ? { ca } : {}),
    });
    if (this.#systemCertificates.length > 0) return { proxy, protocols: { https } };
    return { proxy, protocols: { https }, trustingSystem: () => this.#trustSystem(url, use) };
  }

  /** Reading them takes a tenth of a second, so they are read when Node's own do not suffice. */
  async #trustSystem(url: URL, use: AgentUse): Promise<Agent | undefined> {
    if (this.#systemCertificates.length === 0) {
      this.#systemCertificates = systemCertificates();
      if (this.#systemCertificates.length === 0) return undefined;
      // Connections in use are left to end by themselves.
      for (const key of this.#agents.keys()) if (key.includes(' https: ')) this.#agents.delete(key);
    }
    return this.get(url, use);
  }

  /** Closes every connection, those in use as well. New ones are made when they are needed. */
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

/** The proxy as Node takes it. @throws RequestError for one that it cannot use: nothing goes past a proxy unasked */
function proxyVariables(proxy: NamedProxy | undefined, host: string): { http_proxy?: string; https_proxy?: string } {
  if (!proxy) return {};
  if ('url' in proxy) return { http_proxy: proxy.url, https_proxy: proxy.url };
  throw new RequestError(
    `${proxy.variable} ${proxy.refusal}. Nothing was sent. Set it to http://host:port, or add ${host} to NO_PROXY.`,
    { code: 'proxy_unusable', param: proxy.variable },
  );
}

/** The certificates that the system trusts and Node does not: of its store, or of SSL_CERT_FILE and SSL_CERT_DIR. */
export function systemCertificates(): string[] {
  const { getCACertificates } = process.getBuiltinModule('node:tls');
  const known = new Set(getCACertificates('default'));
  return [...new Set(getCACertificates('system'))].filter(certificate => !known.has(certificate));
}

/** What the profile's file holds; nothing if there is no file. */
async function readCertificates(caFile: string | undefined): Promise<string[]> {
  if (caFile === undefined) return [];
  let text: string;
  try {
    text = await readFile(caFile, 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? 'unreadable';
    throw new RequestError(
      `The certificate file ${caFile} could not be read (${code}). Nothing was sent. Check caFile in the profile.`,
      { code: 'ca_file_unreadable', param: 'caFile' },
    );
  }
  // Node takes no notice of anything else, such as a key.
  if (/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(text)) return [text];
  throw new RequestError(
    `The file ${caFile} holds no certificate in PEM form. Nothing was sent. Check caFile in the profile.`,
    { code: 'ca_file_unreadable', param: 'caFile' },
  );
}
