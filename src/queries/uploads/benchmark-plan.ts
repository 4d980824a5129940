/** What of a folder is uploaded as a benchmark: its manifest and its files. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export const manifestName = 'manifest.json';

/** A folder that cannot be uploaded as it is: which file, and why. Nothing was sent. */
export class FolderFault extends Error {
  override readonly name = 'FolderFault';
}

export interface LocalFile {
  /** From the folder down, with `/` between. */
  readonly path: string;
  readonly absolute: string;
  readonly size: number;
  /** When it was changed last; epoch milliseconds. */
  readonly changed: number;
}

export interface UploadPlan {
  readonly folder: string;
  readonly name: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly taskCount: number;
  readonly files: readonly LocalFile[];
  readonly bytes: number;
  /** What was left out, in words. */
  readonly notes: readonly string[];
}

const mostFiles = 100_000;

/** @throws FolderFault */
export async function planUpload(path: string): Promise<UploadPlan> {
  const folder = await realpath(path).catch((error: unknown) => {
    throw new FolderFault(`The folder cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const manifest = await readManifest(join(folder, manifestName));
  const hidden: string[] = [];
  const files: LocalFile[] = [];
  await walk(folder, folder, files, hidden);
  const tasks = manifest['tasks'];
  const name = manifest['label'] ?? manifest['name'];
  return {
    folder,
    name: typeof name === 'string' && name !== '' ? name : relative(join(folder, '..'), folder),
    manifest,
    taskCount: Array.isArray(tasks) ? tasks.length : 0,
    files: files.sort((left, right) => (left.path < right.path ? -1 : 1)),
    bytes: files.reduce((sum, file) => sum + file.size, 0),
    notes: hidden.length === 0 ? [] : [`${hidden.length} hidden files and folders are left out`],
  };
}

async function readManifest(path: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    throw new FolderFault(`The folder has no ${manifestName}, which names the benchmark and lists its tasks.`);
  }
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  } catch (error) {
    throw new FolderFault(`${manifestName} is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new FolderFault(`${manifestName} must hold an object.`);
}

/** Symbolic links are followed as long as they stay inside the folder. */
async function walk(root: string, folder: string, files: LocalFile[], hidden: string[]): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (name.startsWith('.')) {
      hidden.push(path);
      continue;
    }
    const shown = relative(root, path).split(sep).join('/').normalize('NFC');
    if (shown === manifestName) continue;
    const real = await realpath(path);
    if (real !== root && !real.startsWith(root + sep)) {
      throw new FolderFault(`${shown} leads out of the folder, to ${real}. Put a copy of it there, or take it away.`);
    }
    if (/[\u0000-\u001f\u007f\\]/.test(shown)) {
      throw new FolderFault(`${JSON.stringify(shown)} has a character in its name that cannot be uploaded. Rename it.`);
    }
    const facts = await stat(path);
    if (facts.isDirectory()) {
      if (real !== path) throw new FolderFault(`${shown} is a link to a folder, which would be uploaded twice.`);
      await walk(root, path, files, hidden);
    } else if (facts.isFile()) {
      files.push({ path: shown, absolute: path, size: facts.size, changed: facts.mtimeMs });
      if (files.length > mostFiles) throw new FolderFault(`The folder has more than ${mostFiles} files.`);
    }
  }
}
