/** Plans the upload of a benchmark folder: its manifest and its files. */

import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { errorCode, errorMessage } from '../base/errors.ts';
import { parseExactly } from '../base/exact-json.ts';
import { isRecord } from '../base/own-property.ts';
import { describeIssues } from '../contract/issues.ts';
import { type Manifest, manifest as manifestSchema } from '../contract/manifest.ts';
import { parseWhole } from '../contract/proto-field.ts';

export const manifestName = 'manifest.json';

/** The folder cannot be uploaded; the message names the offending file. Nothing was sent. */
export class FolderError extends Error {
  override readonly name = 'FolderError';

  /** Whether the folder does not exist. */
  get isMissing(): boolean {
    return errorCode(this.cause) === 'ENOENT';
  }
}

export interface LocalFile {
  /** Relative to the folder, separated by `/`. */
  readonly path: string;
  readonly absolute: string;
  /** In bytes. */
  readonly size: number;
  /** Modification time, in epoch milliseconds. */
  readonly mtimeMs: number;
}

export interface UploadPlan {
  readonly folder: string;
  readonly name: string;
  readonly manifest: Manifest;
  /** SHA-256 of the manifest. */
  readonly manifestFingerprint: string;
  readonly taskCount: number;
  readonly files: readonly LocalFile[];
  readonly bytes: number;
  /** Notes for the user about files that were left out. */
  readonly notes: readonly string[];
}

const maxFiles = 100_000;
/** Maximum number of manifest errors in a message; the rest are only counted. */
const maxProblems = 20;
const largestManifest = 64 * 1024 * 1024;

/** A file's fingerprint: its size and modification time. */
export const fileFingerprint = ({ size, mtimeMs }: Pick<LocalFile, 'size' | 'mtimeMs'>): string => `${size} ${mtimeMs}`;

/** Reads a folder: validates its manifest and lists its files. @throws FolderError */
export async function planUpload(path: string, most = maxFiles): Promise<UploadPlan> {
  const folder = await realpath(path).catch((error: unknown) => {
    throw new FolderError(`The folder cannot be read: ${errorMessage(error)}`, { cause: error });
  });
  const { manifest, mark } = await readManifest(join(folder, manifestName));
  const hidden: string[] = [];
  const files: LocalFile[] = [];
  await walk(folder, folder, { files, hidden, most });
  if (files.length === 0) files.push(await onlyManifest(folder, manifest));
  const label = manifest['label'];
  return {
    folder,
    name: typeof label === 'string' && label !== '' ? label : manifest.name,
    manifest,
    manifestFingerprint: mark,
    taskCount: manifest.tasks.length,
    files: files.sort((left, right) => (left.path < right.path ? -1 : 1)),
    bytes: files.reduce((sum, file) => sum + file.size, 0),
    notes:
      hidden.length === 0 ? [] : [`Left out: ${hidden.length} hidden ${hidden.length === 1 ? 'entry' : 'entries'}`],
  };
}

/**
 * The manifest of a folder that has no other files. It is sent as a file, because the service assigns the id along with
 * the first file.
 *
 * @throws FolderError if a task needs a file
 */
async function onlyManifest(folder: string, { tasks }: Manifest): Promise<LocalFile> {
  for (const { name, files } of tasks) {
    const [file] = Array.isArray(files) ? files : [];
    if (file !== undefined) {
      throw new FolderError(
        `The folder has no files except ${manifestName}, where task ${name} names ${file}. Add it.`,
      );
    }
  }
  const absolute = join(folder, manifestName);
  const { size, mtimeMs } = await stat(absolute);
  return { path: manifestName, absolute, size, mtimeMs };
}

async function readManifest(path: string): Promise<{ readonly manifest: Manifest; readonly mark: string }> {
  const facts = await stat(path).catch(() => undefined);
  if (!facts?.isFile()) {
    throw new FolderError(`The folder has no ${manifestName}, which names the benchmark and lists its tasks.`);
  }
  if (facts.size > largestManifest) throw new FolderError(`${manifestName} is too large: ${facts.size} bytes.`);
  let json: unknown;
  try {
    json = parseExactly(await readFile(path, 'utf8'));
  } catch (error) {
    throw new FolderError(`${manifestName} is not JSON: ${errorMessage(error)}`);
  }
  if (!isRecord(json)) throw new FolderError(`${manifestName} must contain an object.`);
  const read = parseWhole(manifestSchema, json);
  if (!read.success) {
    const problems = describeIssues(read.error.issues, json, maxProblems);
    throw new FolderError(`${manifestName} cannot be sent: ${problems}. Correct it and try again.`);
  }
  return { manifest: read.data, mark: createHash('sha256').update(JSON.stringify(json)).digest('hex') };
}

interface Found {
  readonly files: LocalFile[];
  /** Hidden paths, which are not uploaded. */
  readonly hidden: string[];
  /** Maximum number of files. */
  readonly most: number;
}

/** Follows symbolic links that stay inside the folder. */
async function walk(root: string, folder: string, found: Found): Promise<void> {
  const { files, hidden, most } = found;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.')) {
      hidden.push(path);
      continue;
    }
    const shown = relative(root, path).split(sep).join('/').normalize('NFC');
    if (shown === manifestName) continue;
    await checkLink(root, path, shown, entry);
    if (/[\u0000-\u001f\u007f\\]/.test(shown)) {
      throw new FolderError(`${JSON.stringify(shown)} has a character in its name that cannot be uploaded. Rename it.`);
    }
    const facts = await stat(path);
    if (facts.isDirectory()) {
      if (entry.isSymbolicLink()) {
        throw new FolderError(`${shown} is a link to a folder, which would be uploaded twice.`);
      }
      await walk(root, path, found);
    } else if (facts.isFile()) {
      files.push({ path: shown, absolute: path, size: facts.size, mtimeMs: facts.mtimeMs });
      if (files.length > most) throw new FolderError(`The folder has more than ${most} files.`);
    }
  }
}

/** @throws FolderError for a broken link, or a link that leads out of the folder */
async function checkLink(root: string, path: string, shown: string, entry: Dirent): Promise<void> {
  if (!entry.isSymbolicLink()) return;
  const real = await realpath(path).catch((error: unknown) => {
    throw new FolderError(`${shown} is a broken link: ${errorMessage(error)}`);
  });
  if (real !== root && !real.startsWith(root + sep)) {
    throw new FolderError(`${shown} is a link out of the folder, to ${real}. Replace it with a copy, or remove it.`);
  }
}
