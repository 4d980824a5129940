import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../base/errors.ts';
import { own } from '../base/own-property.ts';
import { makePrivateFolder, SharedError } from '../base/ownership.ts';
import { replaceFile } from '../base/replace-file.ts';

/** The message says whether the file has changed, and what to do. */
class FileError extends Error {
  override readonly name = 'FileError';
}

const reasons: Record<string, string> = {
  ENOSPC: 'the disk is full. Free some space and try again',
  EDQUOT: 'the disk quota is used up. Free some space and try again',
  EACCES: 'this user may not write there. Check the owner and the mode of the folder',
  EPERM: 'this user may not write there. Check the owner and the mode of the folder',
  EROFS: 'the file system is read-only',
  EEXIST: 'part of the path is a file, not a folder',
  ENOTDIR: 'part of the path is a file, not a folder',
  EISDIR: 'there is a folder with that name',
};

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
    const code = errorCode(error) ?? '';
    const reason =
      error instanceof SharedError
        ? error.message
        : `${own(reasons, code) ?? (code === '' ? 'the system gives no reason' : `the system reports ${code}`)}.`;
    throw new FileError(`${path} was not saved; its old content is intact: ${reason}`);
  }
}
