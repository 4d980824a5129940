/**
 * Files of benchmarks that are being uploaded. A file is named by the hash of its path, so that no path leads out of
 * the folder. It is written to a temporary file, which is renamed once complete.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renameDurably } from '../../base/replace-file.ts';
import { sha256 } from './ids.ts';

/** The bytes received differ from those declared. Nothing was stored. */
export class UploadMismatch extends Error {
  override readonly name = 'UploadMismatch';
}

/** A declared file. */
export interface DeclaredFile {
  readonly path: string;
  readonly content_type: string;
  readonly size_bytes: number;
}

/** A received file. */
export interface StoredFile extends DeclaredFile {
  readonly sha256: string;
}

/** The upload was removed, or never started. Nothing was stored. */
export class UnknownUpload extends Error {
  override readonly name = 'UnknownUpload';
}

/** The benchmark accepts no more files: it has been ingested, or is being ingested now. Nothing was stored. */
export class UploadClosed extends Error {
  override readonly name = 'UploadClosed';

  constructor() {
    super('This benchmark takes no more files: it has been ingested, or is being ingested now.');
  }
}

/** Lists the declared files, one per line; if a path appears twice, the last line wins. */
const declarations = 'declared.jsonl';
/** The suffix of a folder that is being removed. */
const sweptSuffix = '.swept';

const dayMs = 24 * 60 * 60 * 1000;

export class UploadFolder {
  readonly #root: string;
  /** How many ingests are reading each benchmark's files. */
  readonly #beingRead = new Map<string, number>();

  constructor(dataFolder: string) {
    this.#root = join(dataFolder, 'uploads');
  }

  #folder(benchId: string): string {
    return join(this.#root, sha256(benchId).slice(0, 32));
  }

  #place(benchId: string, path: string): string {
    return join(this.#folder(benchId), sha256(path));
  }

  /** Whether files have been declared for a benchmark and not removed since. */
  has(benchId: string): boolean {
    return existsSync(join(this.#folder(benchId), declarations));
  }

  /** Records the declared files, so that ingest can name those that are missing. */
  declare(benchId: string, files: readonly DeclaredFile[]): void {
    const folder = this.#folder(benchId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Start each entry on a new line, because a crash may have cut off the last one.
    const bytes = Buffer.from(files.map(file => `\n${JSON.stringify(file)}`).join(''));
    const target = openSync(join(folder, declarations), 'a', 0o600);
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(target, bytes, written);
      fsyncSync(target);
    } finally {
      closeSync(target);
    }
  }

  /** A benchmark's declared files, ordered by path. */
  declared(benchId: string): DeclaredFile[] {
    if (!this.has(benchId)) return [];
    const files = readFileSync(join(this.#folder(benchId), declarations), 'utf8')
      .split('\n')
      .flatMap(declaredOn);
    const byPath = new Map(files.map(file => [file.path, file]));
    return [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
  }

  /** Runs work that reads a benchmark's files, and prevents them from being replaced meanwhile. */
  async whileUnchanged<Result>(benchId: string, work: () => Promise<Result>): Promise<Result> {
    this.#beingRead.set(benchId, (this.#beingRead.get(benchId) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const readers = (this.#beingRead.get(benchId) ?? 1) - 1;
      if (readers > 0) this.#beingRead.set(benchId, readers);
      else this.#beingRead.delete(benchId);
    }
  }

  /**
   * Receives a file.
   *
   * @param isIngested whether the benchmark has been ingested, which may happen while the bytes arrive
   * @throws UploadMismatch for fewer or more bytes than `size`, UnknownUpload if the upload is unknown, UploadClosed
   */
  async receive(
    benchId: string,
    path: string,
    size: number,
    bytes: AsyncIterable<Uint8Array> | readonly Uint8Array[],
    isIngested: () => boolean,
  ): Promise<void> {
    const refuseClosed = (): void => {
      if (isIngested() || this.#beingRead.has(benchId)) throw new UploadClosed();
    };
    refuseClosed();
    const place = this.#place(benchId, path);
    const fresh = `${place}.${randomUUID()}.part`;
    if (!this.has(benchId)) throw new UnknownUpload(`The upload ${benchId} is unknown.`);
    const file = await open(fresh, 'wx', 0o600);
    try {
      let received = 0;
      for await (const part of bytes) {
        received += part.byteLength;
        if (received > size) throw new UploadMismatch(`${path} has more than the ${size} bytes that were declared.`);
        await file.writeFile(part);
      }
      if (received < size) {
        throw new UploadMismatch(`${path} ended after ${received} of the ${size} bytes that were declared.`);
      }
      await file.sync();
      await file.close();
      // Check and rename in one step, so that no ingest can happen in between.
      refuseClosed();
      renameDurably(fresh, place);
    } catch (error) {
      await file.close().catch(() => {});
      await rm(fresh, { force: true });
      throw error;
    }
  }

  /** A received file's size; undefined if it has not arrived. */
  size(benchId: string, path: string): number | undefined {
    return statSync(this.#place(benchId, path), { throwIfNoEntry: false })?.size;
  }

  /** @throws UploadMismatch if the file is missing or has changed */
  async verify(benchId: string, { path, sha256: expected }: Pick<StoredFile, 'path' | 'sha256'>): Promise<void> {
    if ((await this.hash(benchId, path)) !== expected) {
      throw new UploadMismatch(`The file ${path} is missing, or has changed since the upload.`);
    }
  }

  /** A stored file's SHA-256; undefined if there is none. */
  async hash(benchId: string, path: string): Promise<string | undefined> {
    const place = this.#place(benchId, path);
    if (!existsSync(place)) return undefined;
    const hash = createHash('sha256');
    for await (const part of createReadStream(place)) hash.update(part as Uint8Array);
    return hash.digest('hex');
  }

  /**
   * At startup: removes temporary files, and uploads left uningested for more than a day. Removes an upload as a whole,
   * so that a remaining part never looks like a complete upload.
   */
  sweep(benchIds: readonly string[]): void {
    if (!existsSync(this.#root)) return;
    const kept = new Set(benchIds.map(benchId => this.#folder(benchId)));
    for (const name of foldersIn(this.#root)) {
      const folder = join(this.#root, name);
      if (name.endsWith(sweptSuffix)) {
        rmSync(folder, { recursive: true, force: true });
        continue;
      }
      if (!kept.has(folder) && Date.now() - statSync(folder).mtimeMs > dayMs) {
        renameSync(folder, folder + sweptSuffix);
        rmSync(folder + sweptSuffix, { recursive: true, force: true });
        continue;
      }
      for (const file of readdirSync(folder)) if (file.endsWith('.part')) rmSync(join(folder, file), { force: true });
    }
  }
}

/** A folder's subfolders. Skips files that a desktop or a user put there. */
function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => (entry.isDirectory() ? [entry.name] : []));
}

/** Parses a line of declarations. Skips empty and truncated lines: clients never got an address for a truncated one. */
function declaredOn(line: string): DeclaredFile[] {
  try {
    return [JSON.parse(line) as DeclaredFile];
  } catch {
    return [];
  }
}
