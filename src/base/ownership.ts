/** Whether a folder or a file belongs only to this user. */
import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './errors.ts';
import { shellWord } from './shell-word.ts';

/** The access that other users must not have: to read a secret, or to change a trusted file. */
export type Danger = 'read' | 'change';

const dangers = {
  read: { mask: 0o077, words: 'read or changed' },
  change: { mask: 0o022, words: 'changed' },
};

export interface Sharing {
  /** Completes a sentence that begins with the path. */
  readonly words: string;
  /** A sentence that names the command to run. */
  readonly fix: string;
}

/**
 * How other users can access the file or folder; undefined if they cannot. Windows has no file modes to check. Root may
 * own anything.
 */
export function sharingOf(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  danger: Danger,
  chmod: string,
): Sharing | undefined {
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  if (uid !== me && uid !== 0) {
    return { words: `belongs to another user (uid ${uid})`, fix: 'Run benchtop as that user' };
  }
  const { mask, words } = dangers[danger];
  if ((mode & mask) === 0) return undefined;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return { words: `can be ${words} by other users (mode ${shown})`, fix: `Run: chmod ${chmod} ${shellWord(path)}` };
}

/**
 * Thrown for a folder or file that others share, or that is of the wrong type. The message names the command to run.
 */
export class SharedError extends Error {
  override readonly name = 'SharedError';

  constructor(path: string, { words, fix }: Sharing) {
    super(`${path} ${words}. ${fix}`);
  }
}

/** How other users can change a folder or the link to it. @throws the system's error if stat fails */
export function folderSharing(path: string): Sharing | undefined {
  const target = statSync(path);
  if (!target.isDirectory()) return { words: 'is not a folder', fix: 'Move it away' };
  // A link's mode means nothing; only its owner may change it.
  const link = lstatSync(path);
  return (
    sharingOf(path, target, 'change', 'go-rwx') ??
    (link.isSymbolicLink() ? sharingOf(path, { uid: link.uid, mode: 0 }, 'change', '') : undefined)
  );
}

/**
 * How other users can access a file that only this program writes; undefined if they cannot, or if it does not exist. A
 * link counts as sharing: it leads to another file.
 */
export function fileSharing(path: string, danger: Danger): Sharing | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  if (!found.isFile()) return { words: 'is not a plain file', fix: 'Delete it' };
  return sharingOf(path, found, danger, danger === 'read' ? '600' : 'go-w');
}

/** Creates the missing folders one by one: below /proc, Node's own `recursive` never ends. */
function makeFolders(path: string): void {
  const make = (): void => {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  };
  if (statSync(path, { throwIfNoEntry: false })) return;
  try {
    make();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolders(dirname(path));
    make();
  }
}

/**
 * Creates a folder and its parents for this user only (0700). An existing one keeps its mode.
 *
 * @throws SharedError if others can change it, the system's error if it cannot be created
 */
export function makePrivateFolder(path: string): void {
  makeFolders(path);
  const sharing = folderSharing(path);
  if (sharing) throw new SharedError(path, sharing);
}

/** Sets one of this user's folders to 0700. Does nothing if it is missing, a link, or somebody else's. */
export function tightenFolder(path: string): void {
  try {
    const found = lstatSync(path);
    const isOwn = found.isDirectory() && found.uid === process.getuid?.();
    if (isOwn && (found.mode & dangers.read.mask) !== 0) chmodSync(path, 0o700);
  } catch {
    // The code that uses the folder reports the problem.
  }
}
