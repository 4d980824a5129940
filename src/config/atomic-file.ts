import { open, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../text/errors.ts';
import { own } from '../text/own.ts';
import { makePrivateFolder } from './paths.ts';

/** A file that could not be written. The message says what state the file is in and what to do. */
export class FileError extends Error {
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
 * Replaces a file atomically: writes a temporary file in the same folder (mode 0600), flushes it to disk and renames
 * it. A symbolic link stays a link; its target is replaced. Missing folders are created with mode 0700.
 *
 * @throws FileError; the old content is then unchanged
 */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const temporary = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}.tmp`);
  try {
    await makePrivateFolder(dirname(target));
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    const code = errorCode(error) ?? '';
    const reason = own(reasons, code) ?? `the system says ${code || 'nothing more'}`;
    throw new FileError(`${path} was not saved; what was in it before is intact: ${reason}.`, path, code);
  }
}
