import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from './errors.ts';

/** Error codes for folders that cannot be opened or flushed, because of their mode, Windows or a network file system. */
const unflushable: readonly (string | undefined)[] = ['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP'];

/** Flushes a folder's entries to disk. @throws the system's error, unless the system cannot flush folders */
function syncFolder(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(path, 'r');
    fsyncSync(folder);
  } catch (error) {
    if (!unflushable.includes(errorCode(error))) throw error;
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

/**
 * Renames a flushed file within its folder. The new name survives a power loss, which could otherwise restore the old
 * one.
 *
 * @throws the system's error
 */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

/**
 * Writes a new file for this user only (0600) next to the old one, flushes it to disk and renames it. Even after a
 * power loss, the file has either its old or its complete new content; a `.part` file may be left over. Once this
 * returns, the new content is durable.
 *
 * @throws the system's error; the old content is then unchanged, or the disk could not confirm the new one
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const fresh = join(dirname(path), `.${randomUUID()}.part`);
  try {
    // Creates the file, and never follows a link that another user put there.
    const file = openSync(fresh, 'wx', 0o600);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameDurably(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
