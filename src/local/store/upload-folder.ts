/**
 * Files of benchmarks on their way in. A file is known by the hash of its path, so that no path leads out of the folder; it
 * is written beside its place while its bytes are counted and hashed, and renamed once it is whole.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from './ids.ts';
import { writeWhole } from './weight-files.ts';

/** The bytes that came are not those that were announced. Nothing was stored. */
export class UploadMismatch extends Error {
  override readonly name = 'UploadMismatch';
}

/** A file as it was announced, before its bytes came. */
export interface DeclaredFile {
  readonly path: string;
  readonly content_type: string;
  readonly size_bytes: number;
}

/** A file whose bytes are here. */
export interface StoredFile extends DeclaredFile {
  readonly sha256: string;
}

/** Ends the names of the files that say what is to come. */
const declaration = '.json';

const dayMs = 24 * 60 * 60 * 1000;

export class UploadFolder {
  readonly #root: string;

  constructor(dataFolder: string) {
    this.#root = join(dataFolder, 'uploads');
  }

  #folder(benchId: string): string {
    return join(this.#root, sha256(benchId).slice(0, 32));
  }

  #place(benchId: string, path: string): string {
    return join(this.#folder(benchId), sha256(path));
  }

  /** Notes what is going to be uploaded, so that ingest can tell what did not come. */
  declare(benchId: string, files: readonly DeclaredFile[]): void {
    for (const file of files) {
      writeWhole(this.#place(benchId, file.path) + declaration, Buffer.from(JSON.stringify(file)));
    }
  }

  /** What was announced for a benchmark, in the order of the paths. */
  declared(benchId: string): DeclaredFile[] {
    const folder = this.#folder(benchId);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter(name => name.endsWith(declaration))
      .map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as DeclaredFile)
      .sort((left, right) => (left.path < right.path ? -1 : 1));
  }

  /**
   * Takes the bytes of a file in.
   *
   * @throws UploadMismatch for fewer or more bytes than `size`
   */
  async receive(benchId: string, path: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const place = this.#place(benchId, path);
    const fresh = `${place}.${randomUUID()}.part`;
    await mkdir(this.#folder(benchId), { recursive: true, mode: 0o700 });
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
      await rename(fresh, place);
    } catch (error) {
      await file.close().catch(() => {});
      await rm(fresh, { force: true });
      throw error;
    }
  }

  /** Bytes that are here of a file; undefined where it has not come. */
  size(benchId: string, path: string): number | undefined {
    return statSync(this.#place(benchId, path), { throwIfNoEntry: false })?.size;
  }

  /** @throws UploadMismatch where the file is gone, or no longer what was uploaded */
  async verify(benchId: string, { path, sha256: expected }: Pick<StoredFile, 'path' | 'sha256'>): Promise<void> {
    if ((await this.hash(benchId, path)) !== expected) {
      throw new UploadMismatch(`The file ${path} is gone, or no longer what was uploaded.`);
    }
  }

  /** SHA-256 of a stored file; undefined where there is none. */
  async hash(benchId: string, path: string): Promise<string | undefined> {
    const place = this.#place(benchId, path);
    if (!existsSync(place)) return undefined;
    const hash = createHash('sha256');
    for await (const part of createReadStream(place)) hash.update(part as Uint8Array);
    return hash.digest('hex');
  }

  /** At start: removes pieces that no process writes any more, and uploads that nobody ingested for a day. */
  sweep(benchIds: readonly string[]): void {
    if (!existsSync(this.#root)) return;
    const kept = new Set(benchIds.map(benchId => this.#folder(benchId)));
    for (const name of readdirSync(this.#root)) {
      const folder = join(this.#root, name);
      if (!kept.has(folder) && Date.now() - statSync(folder).mtimeMs > dayMs) {
        rmSync(folder, { recursive: true, force: true });
        continue;
      }
      for (const file of readdirSync(folder)) if (file.endsWith('.part')) rmSync(join(folder, file), { force: true });
    }
  }
}
