/** Files of this machine, as they are chosen for an upload. */

import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
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
  /** Why the folder cannot be read, where it cannot. */
  readonly fault: string | undefined;
}

/** `~` is the home of the user. */
export function wholePath(path: string): string {
  return resolve(path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path);
}

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
    return { folder, entries, fault: undefined };
  } catch (error) {
    return { folder, entries: [], fault: errorMessage(error) };
  }
}

export function parentOf(folder: string): string {
  return dirname(folder);
}
