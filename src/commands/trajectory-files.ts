/** Reads files of trajectories, including standard input and files in other programs' formats. */
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { errorCode, errorMessage, isDiskFull } from '../base/errors.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';

/** How many errors of each kind to print. */
const maxOfKind = 3;

interface Kind {
  readonly first: string[];
  count: number;
}

/**
 * The parts of a file that cannot be read, or were not stored. Keeps only the first errors of each kind, because a file
 * may have millions.
 */
export class FileProblems {
  readonly #kinds = new Map<string, Kind>();
  #count = 0;

  add(place: string, why: string): void {
    const [name = why] = why.replace(/\[\d+\]/g, '').split(/[:.](?:\s|$)/, 1);
    const kind = this.#kinds.get(name) ?? { first: [], count: 0 };
    this.#kinds.set(name, kind);
    kind.count += 1;
    this.#count += 1;
    if (kind.first.length < maxOfKind) kind.first.push(clean`${place}: ${why}`);
  }

  get count(): number {
    return this.#count;
  }

  /** The first one, and how many more there are; undefined if everything was read. */
  get words(): string | undefined {
    const first = this.#kinds.values().next().value?.first[0];
    return this.#count < 2 ? first : `${first?.replace(/\.?$/, '.')} ${this.#count - 1} more cannot be read.`;
  }

  /** The error for a file in which nothing could be read. */
  holdsNone(): CommandError {
    const none = 'The file holds no trajectories';
    const { words } = this;
    return words === undefined ? new CommandError(`${none}.`) : new CommandError(`${none}: ${words}`, exitCodes.failed);
  }

  /** Notes the first errors of each kind, and how many more there are. */
  note({ note }: CommandIo): void {
    for (const [name, { first, count }] of this.#kinds) {
      for (const each of first) note(each);
      if (count > first.length) note(clean`and ${count - first.length} more: ${name}.`);
    }
  }
}

/** Whether the file is compressed with gzip. */
const isPacked = (path: string, io: CommandIo): Promise<boolean> =>
  withOpenFile(path, io, async file => {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString('hex') === '1f8b';
  });

/** Called with the reason if a compressed file can be read only in part, because it is damaged or still being written. */
type OnCut = (why: string) => void;

/**
 * Returns a path that can be read repeatedly at any position. Standard input, a pipe or a device is first copied to a
 * file in `folder`, and a file compressed with gzip is decompressed there.
 *
 * @throws CommandError if standard input is a terminal, or the file is damaged
 */
async function seekable(path: string, folder: string, io: CommandIo, onCut?: OnCut): Promise<string> {
  const { input, signal } = io;
  if (path === '-' && input.isTTY) throw new CommandError('Pipe the trajectories in: - is standard input.');
  const copy = (name: string) => createWriteStream(join(folder, name), { mode: 0o600 });
  let file = path;
  if (path === '-' || !(await stat(path)).isFile()) {
    file = join(folder, 'trajectories.jsonl');
    await pipeline(path === '-' ? input : createReadStream(path), copy('trajectories.jsonl'), { signal });
  }
  if (!(await isPacked(file, io))) return file;
  const unpacked = join(folder, 'unpacked.jsonl');
  const error = await unpack(file, unpacked, signal);
  if (error === undefined) return unpacked;
  const name = path === '-' ? 'Standard input' : path;
  if (!onCut || (await stat(unpacked)).size === 0)
    throw new CommandError(clean`${name} cannot be decompressed: ${error.message}.`);
  const what = errorCode(error) === 'Z_BUF_ERROR' ? 'ends early' : 'is damaged';
  onCut(clean`${name} ${what}: ${error.message}.`);
  return unpacked;
}

/**
 * Decompresses the intact part of a file. Returns why nothing after it can be decompressed.
 *
 * @throws Error if it cannot be read or written
 */
async function unpack(source: string, target: string, signal: AbortSignal): Promise<Error | undefined> {
  let intact = 0;
  let error: Error | undefined;
  // zlib loses the output of the piece in which it fails, so that piece is read again in smaller ones.
  for (const size of [64 * 1024, 256, 1]) {
    const gunzip = createGunzip();
    const failure = new Promise<Error>(resolve => void gunzip.once('error', resolve));
    const parts: Uint8Array[] = [];
    gunzip.on('data', (part: Uint8Array) => void parts.push(part));
    const output = await open(target, 'w', 0o600);
    try {
      for await (const piece of piecesOf(source, intact, size)) {
        signal.throwIfAborted();
        const written = new Promise<undefined>(resolve => void gunzip.write(piece, () => resolve(undefined)));
        error = await Promise.race([failure, written]);
        for (const part of parts.splice(0)) await output.writeFile(part);
        if (error) break;
      }
      if (error) {
        intact = gunzip.bytesWritten;
        continue;
      }
      gunzip.end();
      error = await finished(gunzip).then(
        () => undefined,
        (why: Error) => why,
      );
      for (const part of parts) await output.writeFile(part);
      return error;
    } finally {
      await output.close();
    }
  }
  return error;
}

/** A file's bytes, from `from` on in pieces of this size. */
async function* piecesOf(path: string, from: number, size: number): AsyncGenerator<Uint8Array> {
  if (from > 0) yield* createReadStream(path, { end: from - 1 });
  for await (const piece of createReadStream(path, { start: from }))
    for (let at = 0; at < piece.length; at += size) yield piece.subarray(at, at + size);
}

/**
 * Passes `work` a file of trajectories that can be read repeatedly.
 *
 * @param onCut if missing, a compressed file must be complete
 * @throws CommandError if there is no room for a copy
 */
export async function withFile<Result>(
  path: string,
  io: CommandIo,
  work: (file: string) => Promise<Result>,
  onCut?: OnCut,
): Promise<Result> {
  // An immediate exit would leave the copy behind.
  io.stopOnSignals?.();
  const folder = await mkdtemp(join(tmpdir(), 'benchtop-upload-')).catch((error: unknown) => {
    throw new CommandError(
      `The temporary folder ${tmpdir()} cannot be used (${errorCode(error)}). Set TMPDIR to another one.`,
    );
  });
  // The workbench exits the process without reaching `finally`.
  const onExit = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', onExit);
  try {
    return await work(await seekable(path, folder, io, onCut));
  } finally {
    process.off('exit', onExit);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Opens a file, reads it and closes it. @throws CommandError if it cannot be read */
export async function withOpenFile<Result>(
  path: string,
  { signal }: CommandIo,
  read: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await open(path);
  try {
    return await read(file);
  } catch (error) {
    signal.throwIfAborted();
    if (isDiskFull(error))
      throw new CommandError(
        `The temporary folder ${tmpdir()} has no room. Set TMPDIR to another one.`,
        exitCodes.failed,
      );
    throw new CommandError(clean`The file cannot be read: ${errorMessage(error)}`);
  } finally {
    await file.close();
  }
}
