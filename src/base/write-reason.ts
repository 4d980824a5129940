/** Why files cannot be written, in words. */
import { errorCode } from './errors.ts';
import { own } from './own-property.ts';

const reasons: Record<string, string> = {
  ENOSPC: 'the disk is full. Free some space and try again',
  EDQUOT: 'the disk quota is used up. Free some space and try again',
  EACCES: 'this user may not write there. Check the owner and the mode of the folder',
  EPERM: 'this user may not write there. Check the owner and the mode of the folder',
  EROFS: 'the file system is read-only',
  ENOENT: 'the folder does not exist',
  EEXIST: 'part of the path is a file, not a folder',
  ENOTDIR: 'part of the path is a file, not a folder',
  EISDIR: 'there is a folder with that name',
  ENAMETOOLONG: 'the name is too long',
  // Node refuses only NUL characters.
  ERR_INVALID_ARG_VALUE: 'the path contains an invalid character',
};

/** Why a file could not be written, without a full stop. */
export function writeReason(error: unknown): string {
  const code = errorCode(error) ?? '';
  return own(reasons, code) ?? (code === '' ? 'the system gives no reason' : `the system reports ${code}`);
}
