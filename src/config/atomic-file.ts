import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../text/errors.ts';
import { own } from '../text/own.ts';
import { makePrivateFolder, SharedError } from '../text/ownership.ts';
import { replaceFile } from '../text/replace-file.ts';

/** A file that could not be written. The message says what state the file is in and what to do. */
class FileError extends Error {
  override readonly name = 'FileError';
  readonly path: string;
  /** The system's error code, e.g. `ENOSPC`. */
  readonly code: string;

  constructor(message: string, path: string, code: string) {
    super(message);
    this.path = path;
    this.code = code;
  }
}

const reasons: Record<string, string> = {
  ENOSPC: 'the disk is full. Free some space and try again',
  EDQUOT: 'the disk quota is used up. Free some space and try again',
  EACCES: 'this user may not write there. Check the owner and the mode of the folder',
  EPERM: 'this user may not write there. Check the owner and the mode of the folder',
  EROFS: 'the file system is read-only',
  EEXIST: 'a part of the path is a file, not a folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'there is a folder of that name',
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
        : `${own(reasons, code) ?? `the system says ${code || 'nothing more'}`}.`;
    throw new FileError(`${path} was not saved; what was in it before is intact: ${reason}`, path, code);
  }
}
