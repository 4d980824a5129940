/** Searches requests, files and screens for credentials and typed secrets. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Exchange, FaultyProxy } from './proxy.ts';
import { typedTraces } from './typist.ts';
import { apiKey, secretValue } from './world.ts';

/** Texts that must never be written to the terminal. */
export const secretTexts: readonly string[] = [apiKey, secretValue, ...typedTraces];

/** Files that may hold a key. */
const keepers = new Set(['api-key', 'service.json']);

/** Empty if the file is gone: SQLite's journal files come and go. */
function bytesIn(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/** The user may have chosen to keep a key in the settings; others must not be able to read them then. */
function isKeptByChoice(path: string): boolean {
  return basename(path) === 'config.json' && (statSync(path).mode & 0o077) === 0;
}

export const traces = {
  isIn: (text: string): boolean => secretTexts.some(secret => text.includes(secret)),

  /** The files below a folder that hold one and should not, in words. */
  inFiles: (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && !keepers.has(entry.name))
      .map(entry => join(entry.parentPath, entry.name))
      .filter(path => {
        const bytes = bytesIn(path);
        const found = secretTexts.filter(secret => bytes.includes(secret));
        return found.length > 0 && !(isKeptByChoice(path) && found.every(secret => typedTraces.includes(secret)));
      })
      .map(path => `a credential is in ${path}`),
};

/** Creating a secret sends its value. */
const createsSecret = ({ method, url }: Exchange): boolean => method === 'POST' && url === '/api/v1/secrets';

/** Requests that sent a credential to another origin, or to the wrong place. */
export function leaks({ exchanges, strayed }: FaultyProxy): string[] {
  return [
    ...strayed.map(({ method, url }) => `a redirect was followed: ${method} ${url}`),
    ...exchanges
      .filter(({ url }) => traces.isIn(url))
      .map(({ method }) => `a credential is in the address of a ${method}`),
    ...exchanges
      .filter(exchange => traces.isIn(exchange.requestBody) && !createsSecret(exchange))
      .map(({ method, url }) => `a credential is in the body of ${method} ${url}`),
  ];
}

/** Whether a request changes something on the service. Completions change nothing. */
export function writesIn({ exchanges }: FaultyProxy): string[] {
  return exchanges
    .filter(({ method, url }) => method !== 'GET' && !url.endsWith('/chat/completions'))
    .map(({ method, url }) => `${method} ${url}`);
}
