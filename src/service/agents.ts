/** Connections that are kept and shared: how many, through which proxy, trusting which certificates. */

import { readFile } from 'node:fs/promises';
import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { isLoopback } from '../config/address.ts';
import { errorCode } from '../text/error-code.ts';
import { RequestError } from './errors.ts';

/** An agent for the protocol of the address that it was asked for. */
export type Agent = { readonly http: HttpAgent } | { readonly https: HttpsAgent };

/** Calls share a few connections; streams and uploads, which hold theirs for long, never make a call wait. */
export type AgentUse = 'call' | 'long';

const callSockets = 8;

export class Agents {
  readonly #caFile: string | undefined;
  readonly #agents = new Map<string, Promise<Agent>>();

  constructor(caFile: string | undefined) {
    this.#caFile = caFile;
  }

  /** An agent for this address. Proxy variables count for everything but this machine itself. */
  get(url: URL, use: AgentUse): Promise<Agent> {
    const direct = isLoopback(url.hostname);
    const key = `${use} ${url.protocol} ${direct ? 'direct' : 'proxied'}`;
    const known = this.#agents.get(key);
    if (known) return known;
    const agent = this.#create(url.protocol === 'https:', use, direct);
    this.#agents.set(key, agent);
    // A certificate file that could not be read may be there the next time.
    agent.catch(() => this.#agents.delete(key));
    return agent;
  }

  async #create(secure: boolean, use: AgentUse, direct: boolean): Promise<Agent> {
    const shared = {
      keepAlive: true,
      maxSockets: use === 'call' ? callSockets : Number.POSITIVE_INFINITY,
      ...(direct ? {} : { proxyEnv: process.env }),
    };
    if (!secure) return { http: new (process.getBuiltinModule('node:http').Agent)(shared) };
    const ca = await readCertificates(this.#caFile);
    // Written out so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch the check off.
    return {
      https: new (process.getBuiltinModule('node:https').Agent)({
        ...shared,
        rejectUnauthorized: true,
        ...(ca ? { ca } : {}),
      }),
    };
  }

  /** Closes every connection, those in use as well. New ones are made when they are needed. */
  async close(): Promise<void> {
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    for (const agent of await Promise.allSettled(agents)) {
      if (agent.status === 'rejected') continue;
      if ('http' in agent.value) agent.value.http.destroy();
      else agent.value.https.destroy();
    }
  }
}

/** The usual roots and those of the profile's file, or nothing where there is no file. */
async function readCertificates(caFile: string | undefined): Promise<string[] | undefined> {
  if (caFile === undefined) return undefined;
  try {
    const own = await readFile(caFile, 'utf8');
    // Older releases of Node do not tell which certificates they trust; those do not read NODE_EXTRA_CA_CERTS here.
    const tls = process.getBuiltinModule('node:tls');
    const { getCACertificates }: Partial<typeof tls> = tls;
    const usual = getCACertificates?.('default') ?? tls.rootCertificates;
    return [...usual, own];
  } catch (error) {
    const code = errorCode(error) ?? 'unreadable';
    throw new RequestError(
      `The certificate file ${caFile} could not be read (${code}). Nothing was sent. Check caFile in the profile.`,
      { code: 'ca_file_unreadable', param: 'caFile' },
    );
  }
}
