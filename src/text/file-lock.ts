/** A lock that the processes of one machine share, as a file. */
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from './errors.ts';

/** What SQLite answers if another process holds a lock (SQLITE_BUSY, SQLITE_LOCKED). */
const lockedCodes: readonly (number | undefined)[] = [5, 6];

/**
 * Takes the lock for this process until it ends, however it ends: the operating system gives the lock up with the
 * process. The file (0600) holds no data and stays. Returns the function that gives the lock up, or undefined if it is
 * taken.
 *
 * @throws Error of SQLite or the system if the file cannot be used
 */
export function takeLock(path: string): (() => void) | undefined {
  let lock: DatabaseSync | undefined;
  try {
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
