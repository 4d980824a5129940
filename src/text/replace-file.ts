/** Replaces a file atomically. */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Writes a new file for this user only (0600) next to the file, flushes it to disk and renames it. The file has its old
 * content or all of the new one, even after a crash, which may leave the new file: `.part` is the end of its name.
 *
 * @throws the error of the system; the old content is then unchanged
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const fresh = join(dirname(path), `.${randomUUID()}.part`);
  try {
    // Creates the file; never follows a link that another user put there.
    const file = openSync(fresh, 'wx', 0o600);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
