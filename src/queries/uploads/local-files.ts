/** Local files to choose for an upload. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { settingPath } from '../../config/paths.ts';
import { errorMessage } from '../../text/errors.ts';

export interface Entry {
  readonly name: string;
  readonly path: string;
  readonly kind: 'folder' | 'file';
  /** Bytes of a file. */
  readonly size: number | undefined;
}

export interface Listing {
  readonly folder: string;
  readonly entries: readonly Entry[];
  /** Why the folder cannot be read, if so. */
  readonly error: string | undefined;
}

/** `~` is the user's home. */
export const wholePath = (path: string): string => settingPath(path, process.cwd());

/** The fingerprint of a file; undefined if it does not exist. */
export function fingerprintAt(path: string): string | undefined {
  try {
    return fingerprintOfFile(statSync(path));
  } catch {
    return undefined;
  }
}

export const fingerprintOfFile = ({ size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): string =>
  `${size} ${mtimeMs}`;

/** Folders first, by name; hidden ones are left out. */
export function listFolder(path: string, wanted: (name: string) => boolean): Listing {
  const folder = wholePath(path);
  try {
    const found = readdirSync(folder).flatMap((name): Entry[] => {
      const whole = join(folder, name);
      const facts = statSync(whole, { throwIfNoEntry: false });
      if (name.startsWith('.') || !facts) return [];
      if (facts.isDirectory()) return [{ name: `${name}/`, path: whole, kind: 'folder', size: undefined }];
      return facts.isFile() && wanted(name) ? [{ name, path: whole, kind: 'file', size: facts.size }] : [];
    });
    const rank = (entry: Entry): string => `${entry.kind === 'folder' ? 0 : 1} ${entry.name.toLowerCase()}`;
    const entries = found.sort((left, right) => (rank(left) < rank(right) ? -1 : 1));
    return { folder, entries, error: undefined };
  } catch (error) {
    return { folder, entries: [], error: errorMessage(error) };
  }
}

export function parentOf(folder: string): string {
  return dirname(folder);
}

/** Maximum words in a name, and characters of a searched text. */
const longestName = 12;
const longestText = 2_000;
const mostTexts = 100_000;

/** Every string in a value, at any depth. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value.slice(0, longestText);
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* textsIn(item);
}

/** The paths that occur as words in the value, quoted or not, each once. */
export function pathsNamedIn(value: unknown, paths: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  let texts = 0;
  for (const text of textsIn(value)) {
    texts += 1;
    if (texts > mostTexts) break;
    const words = text.split(/\s+/);
    for (let first = 0; first < words.length; first += 1) {
      for (let last = first; last < Math.min(words.length, first + longestName); last += 1) {
        const run = words.slice(first, last + 1).join(' ');
        for (const name of [run, run.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')]) {
          if (paths.has(name)) found.add(name);
        }
      }
    }
  }
  return [...found];
}
