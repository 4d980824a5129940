import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makePrivateFolder, SharedError } from '../base/ownership.ts';
import { replaceFile } from '../base/replace-file.ts';
import { writeReason } from '../base/write-reason.ts';

/** The message reports whether the file has changed, and gives advice. */
class FileError extends Error {
  override readonly name = 'FileError';
}

/**
 * Replaces a file atomically, readable by this user only. A symbolic link stays a link; its target is replaced. Missing
 * folders are created with mode 0700.
 *
 * @throws FileError; the old content is then unchanged
 */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  try {
    makePrivateFolder(dirname(target));
    replaceFile(target, text);
  } catch (error) {
    const reason = error instanceof SharedError ? error.message : `${writeReason(error)}.`;
    throw new FileError(`${path} was not saved; its old content is intact: ${reason}`);
  }
}
