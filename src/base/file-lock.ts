/** A lock file shared by the processes on one machine. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from './errors.ts';
import { fileSharing, makePrivateFolder, SharedError } from './ownership.ts';

/** SQLite's result codes when another process holds a lock (SQLITE_BUSY, SQLITE_LOCKED). */
const lockedCodes: readonly (number | undefined)[] = [5, 6];

/**
 * Takes the lock until this process exits; the operating system releases it even after a kill. The file (0600) holds no
 * data and stays. Returns a function that releases the lock; undefined if another process holds it.
 *
 * @throws SharedError if others share the file, SQLite's or the system's error if it is unusable
 */
export function takeLock(path: string): (() => void) | undefined {
  let lock: DatabaseSync | undefined;
  try {
    // SQLite and chmod would both follow a link.
    const sharing = fileSharing(path, 'change');
    if (sharing) throw new SharedError(path, sharing);
    lock = new DatabaseSync(path);
    chmodSync(path, 0o600);
    lock.exec('pragma locking_mode = exclusive; begin exclusive;');
    return () => lock?.close();
  } catch (error) {
    lock?.close();
    if (lockedCodes.includes(sqliteCode(error))) return undefined;
    throw error;
  }
}

/**
 * Takes one of a folder's named locks: a file in `locks`.
 *
 * @throws as `takeLock` does
 */
export function takeNamedLock(folder: string, name: string): (() => void) | undefined {
  const locks = join(folder, 'locks');
  makePrivateFolder(locks);
  return takeLock(join(locks, name));
}
