/** Lists local files to choose from for an upload. */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorMessage } from '../base/errors.ts';
import { settingPath } from '../config/paths.ts';

export interface Entry {
  readonly name: string;
  readonly path: string;
  readonly kind: 'folder' | 'file';
  /** In bytes; undefined for a folder. */
  readonly size: number | undefined;
}

export interface Listing {
  readonly folder: string;
  readonly entries: readonly Entry[];
  /** Why the folder cannot be read; undefined if it can. */
  readonly error: string | undefined;
}

export const wholePath = (path: string): string => settingPath(path, process.cwd());

/** Lists a folder without hidden entries, folders first, then by name. */
export function listFolder(path: string, accepts: (name: string) => boolean): Listing {
  const folder = wholePath(path);
  try {
    const found = readdirSync(folder).flatMap((name): Entry[] => {
      const whole = join(folder, name);
      const facts = statSync(whole, { throwIfNoEntry: false });
      if (name.startsWith('.') || !facts) return [];
      if (facts.isDirectory()) return [{ name: `${name}/`, path: whole, kind: 'folder', size: undefined }];
      return facts.isFile() && accepts(name) ? [{ name, path: whole, kind: 'file', size: facts.size }] : [];
    });
    const rank = (entry: Entry): string => `${entry.kind === 'folder' ? 0 : 1} ${entry.name.toLowerCase()}`;
    const entries = found.sort((left, right) => (rank(left) < rank(right) ? -1 : 1));
    return { folder, entries, error: undefined };
  } catch (error) {
    return { folder, entries: [], error: errorMessage(error) };
  }
}

/** Maximum words in a path. */
const longestName = 12;
/** Maximum characters of a string to search. */
const longestText = 2_000;
const maxTexts = 100_000;

/** Every string inside a value, at any depth. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value.slice(0, longestText);
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* textsIn(item);
}

/** The distinct paths that occur as words in the value, quoted or not. */
export function pathsNamedIn(value: unknown, paths: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  let texts = 0;
  for (const text of textsIn(value)) {
    texts += 1;
    if (texts > maxTexts) break;
    const words = text.split(/\s+/);
    for (let first = 0; first < words.length; first += 1) {
      for (let last = first; last < Math.min(words.length, first + longestName); last += 1) {
        const run = words.slice(first, last + 1).join(' ');
        for (const name of [run, run.replaceAll(/^[^\p{L}\p{N}]+|(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/gu, '')]) {
          if (paths.has(name)) found.add(name);
        }
      }
    }
  }
  return [...found];
}

/**
 * The absolute path with links resolved, so that a file and a link to it count as the same upload. A missing file keeps
 * its path.
 */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
