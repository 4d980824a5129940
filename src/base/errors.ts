/** Reads facts from anything that was thrown, including errors from another realm (`node:vm`). */

/** Modules load lazily, so an upgrade may have replaced the program's files before one is first needed. */
export const partMissing = 'A part of benchtop is missing: it may have been upgraded. Quit and start it again.';

const isPartMissing = (thrown: unknown): boolean => /^(ERR_)?MODULE_NOT_FOUND$/.test(errorCode(thrown) ?? '');

/** The error itself; for any other thrown value, an error made from it. */
export function asError(thrown: unknown): Error {
  if (isPartMissing(thrown)) return new Error(partMissing, { cause: thrown });
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

export function errorMessage(thrown: unknown): string {
  if (isPartMissing(thrown)) return partMissing;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The message with the stack trace, for a log. */
export function errorStack(thrown: unknown): string {
  return (thrown instanceof Error && thrown.stack) || errorMessage(thrown);
}

/** The code of a system or Node error, e.g. `ENOENT`; undefined if there is none. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether an SQLite file is damaged (SQLITE_CORRUPT, SQLITE_NOTADB) rather than locked or inaccessible. */
export function isDamagedDatabase(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 11 || code === 26;
}

/** The primary result code of an SQLite error (sqlite.org/rescode.html); undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** Whether a write failed because the disk or the quota is full. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT' || sqliteCode(error) === 13;
}

/**
 * SQLite result codes whose causes lie outside the program: busy, locked, no memory, read-only, I/O, corrupt, full,
 * cannot open, locking protocol, not a database (sqlite.org/rescode.html).
 */
const externalCodes: ReadonlySet<number | undefined> = new Set([5, 6, 7, 8, 10, 11, 13, 14, 15, 26]);

/** Whether the database or the disk failed, in which case a retry may succeed. */
export function isStorageError(error: unknown): boolean {
  return externalCodes.has(sqliteCode(error)) || isDiskFull(error);
}
