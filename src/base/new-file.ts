/** Creates files for the user: under safe names, never over existing files, and either completely or not at all. */
import { randomUUID } from 'node:crypto';
import { accessSync, constants, lstatSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { errorCode } from './errors.ts';
import { trimEnd } from './trim.ts';
import { writeReason } from './write-reason.ts';

/** In characters; below every file system's limit. */
export const longestFileName = 120;

/** Trims dots and hyphens at both ends, so that `../x` leaves no trace of a path. */
export function nameSafe(text: string): string {
  const safe = text.slice(0, longestFileName).replace(/[^A-Za-z0-9._-]+/g, '-');
  return trimEnd(safe, '.-').replace(/^[.-]+/, '');
}

/**
 * A file name from any text, e.g. an id from the wire plus an extension: only `A-Z a-z 0-9 . _ -`, no folder, at most
 * 120 characters. A long name is cut before the extension.
 */
export function safeFileName(name: string): string {
  const extension = nameSafe(extname(name));
  const tail = extension === '' ? '' : `.${extension}`;
  const head = nameSafe(name.slice(0, name.length - extname(name).length)) || 'benchtop';
  return `${head.slice(0, longestFileName - tail.length)}${tail}`;
}

/** Thrown when a new file could not be written. An existing file is unchanged. */
export class NewFileError extends Error {
  override readonly name = 'NewFileError';
}

/** Throws if the path is a folder or already exists, even as a dangling link. */
function checkFree(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (path.endsWith('/') || found?.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
  if (found) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
}

function problem(path: string, error: unknown): string {
  const code = errorCode(error);
  if (code === 'EISDIR') return `${path} is a folder`;
  return code === 'EEXIST' ? `${path} already exists` : `${path} cannot be written: ${writeReason(error)}`;
}

/** Why no new file can be written here; undefined if it seems possible. */
export function newFileProblem(path: string): string | undefined {
  try {
    checkFree(path);
    accessSync(`${dirname(path)}/.`, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return problem(path, error);
  }
}

/** How many characters to write at a time. */
const batchLength = 256 * 1024;

type Parts = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

async function* batched(parts: Parts): AsyncGenerator<Uint8Array | string> {
  let batch = '';
  for await (const part of parts) {
    const isText = typeof part === 'string';
    if (isText) batch += part;
    if (isText && batch.length < batchLength) continue;
    yield batch;
    batch = '';
    if (!isText) yield part;
  }
  yield batch;
}

/**
 * Writes a new file for this user only (0600), either completely or not at all, even if the program ends first: it has
 * a temporary name until it is complete. Key presses are handled in the meantime. Returns the absolute path.
 *
 * @throws NewFileError if it exists or cannot be written, and any error from the parts
 */
export async function writeNewFile(name: string, parts: Parts): Promise<string> {
  const path = resolve(name);
  const failed = (cause: unknown): never => {
    throw new NewFileError(problem(path, cause), { cause });
  };
  try {
    checkFree(name);
  } catch (error) {
    failed(error);
  }
  const unfinished = join(dirname(path), `.benchtop-${randomUUID()}.part`);
  const remove = (): void => rmSync(unfinished, { force: true });
  process.once('exit', remove);
  try {
    const file: FileHandle = await open(unfinished, 'wx', 0o600).catch(failed);
    try {
      for await (const batch of batched(parts)) await file.writeFile(batch).catch(failed);
    } finally {
      await file.close();
    }
    await publish(unfinished, path).catch(failed);
  } finally {
    process.off('exit', remove);
    remove();
  }
  return path;
}

/** Gives a file its final name. A plain rename would replace a file created there in the meantime. */
async function publish(unfinished: string, path: string): Promise<void> {
  await (await open(path, 'wx', 0o600)).close();
  try {
    await rename(unfinished, path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
