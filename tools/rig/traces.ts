/** Searches requests, files, output and screens for credentials and typed secrets. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { typedTraces } from './desk.ts';
import type { Exchange, FaultyProxy } from './proxy.ts';
import { type Meant, SequenceReader } from './sequences.ts';
import { apiKey, secretValue } from './world.ts';

/** Texts that must never be written to the terminal. */
const secretTexts: readonly string[] = [apiKey, secretValue, ...typedTraces];

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

export const hasSecret = (text: string): boolean => secretTexts.some(secret => text.includes(secret));

/** Messages about the files below a folder that must not contain a secret, but do. */
export function filesWithSecrets(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !keepers.has(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => {
      const bytes = bytesIn(path);
      const found = secretTexts.filter(secret => bytes.includes(secret));
      return found.length > 0 && !(isKeptByChoice(path) && found.every(secret => typedTraces.includes(secret)));
    })
    .map(path => `a credential is in ${path}`);
}

/** The crash reports below a folder: the program catches an error in a view, and goes on. */
export function crashesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /crash-.*\.txt$/.test(name))
    .map(name => `the screen survives: ${readFileSync(join(folder, name), 'utf8').slice(0, 2_000)}`);
}

/** Messages about redirects to another origin that were followed. */
export const strayedIn = ({ strayed }: FaultyProxy): string[] =>
  strayed.map(({ method, url }) => `a redirect was followed: ${method} ${url}`);

/** A message if a request contains a credential that it must not contain. */
export function leakIn({ method, url, requestBody }: Exchange): string | undefined {
  if (hasSecret(url)) return `a credential is in the address of a ${method}`;
  // Creating a secret sends its value.
  const createsSecret = method === 'POST' && url === '/api/v1/secrets';
  return hasSecret(requestBody) && !createsSecret ? `a credential is in the body of ${method} ${url}` : undefined;
}

/** Whether a request changes something on the service. Completions change nothing. */
export const writes = ({ method, url }: Exchange): boolean => method !== 'GET' && !url.endsWith('/chat/completions');

/** Bytes at the end of a chunk that may be the beginning of a secret. */
const overlap = 64;

/** Checks output in chunks for unintended sequences, after `cleaned`, and for secrets. */
export function outputCheck(
  onUnmeant: (what: string) => void,
  { meant, cleaned = data => data }: { readonly meant?: Meant; readonly cleaned?: (data: string) => string } = {},
): (data: string) => void {
  const reader = new SequenceReader(onUnmeant, meant);
  let tail = '';
  return data => {
    const text = tail + data;
    tail = text.slice(-overlap);
    if (hasSecret(text)) onUnmeant('a credential');
    reader.take(cleaned(data));
  };
}
