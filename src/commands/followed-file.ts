/** Stores a file of rollouts as a dataset on the local service, and follows the file as it changes. */
import { createHash, type Hash } from 'node:crypto';
import { unwatchFile, watchFile } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { errorMessage } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import { readUploaded } from '../local/server/uploaded-trajectory.ts';
import type { FileRows } from '../local/store/file-rows.ts';
import type { UploadFailure } from '../local/store/trajectory-uploads.ts';
import { Reading, trajectoriesIn } from '../uploads/foreign-files.ts';
import type { ShownFile } from '../workbench/workbench.ts';
import type { CommandIo } from './io.ts';
import { Unread, withOpenFile } from './trajectory-files.ts';

/** How often to check the file, in milliseconds. */
const lookMs = 1_000;
const pieceBytes = 256 * 1024;

/** Adds a range of a file's bytes to a hash; stops early at the end of the file. */
async function hashBytes(hash: Hash, file: FileHandle, from: number, to: number): Promise<void> {
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (let at = from; at < to; ) {
    const { bytesRead } = await file.read(piece, 0, Math.min(piece.byteLength, to - at), at);
    if (bytesRead === 0) return;
    hash.update(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** Why the service refuses a trajectory. */
export const refusal = ({ message }: UploadFailure): string => `Unreadable ${message}`;

export class FollowedFile implements ShownFile {
  readonly #path: string;
  readonly #name: string;
  readonly #dataFolder: string;
  readonly #io: CommandIo;
  readonly #cut: string | undefined;
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  /** The ids that the file has given, each with the hash of its content. */
  readonly #given = new Map<string, string>();
  /** The stored part of the file: its length in bytes, and its hash. */
  #stored = { bytes: 0, hash: '' };
  /** The last stored trajectory's place among all in the file, and how many before it could not be read. */
  #last = { place: 0, unread: 0 };
  /** The last place that was read. What cannot be read up to it has been named. */
  #named = 0;
  #said: Pick<ShownFile, 'title' | 'problem'>;
  #reading: Promise<void> = Promise.resolve();
  #isChanged = false;

  /** @param cut why the file is incomplete */
  constructor(path: string, name: string, dataFolder: string, io: CommandIo, cut?: string) {
    this.#path = path;
    this.#name = name;
    this.#dataFolder = dataFolder;
    this.#io = io;
    this.#cut = cut;
    this.#said = { title: name, problem: undefined };
  }

  get title(): string {
    return this.#said.title;
  }

  get problem(): string | undefined {
    return this.#said.problem;
  }

  /**
   * Reads the file, prints notes, and re-reads the file on each change until `close`.
   *
   * @throws CommandError if it has no trajectories
   */
  async open(): Promise<void> {
    // Watch before reading, so that no change is missed.
    watchFile(this.#path, { interval: lookMs, persistent: false }, this.#changed);
    const first = this.#read();
    this.#reading = first.then(
      () => {},
      () => {},
    );
    try {
      const { unread, notes } = await first;
      if (this.#last.place === 0) throw unread.holdsNone();
      unread.note(this.#io);
      for (const note of notes) this.#io.note(note);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    unwatchFile(this.#path, this.#changed);
  }

  readonly #changed = (): void => {
    if (this.#isChanged) return;
    this.#isChanged = true;
    this.#reading = this.#reading.then(async () => {
      this.#isChanged = false;
      await this.#read().catch((error: unknown) => {
        this.#said = { title: `${this.#name}, last change not read`, problem: errorMessage(error) };
      });
      this.#listeners.notify();
    });
  };

  /** Stores what is new in the file, and returns what to report about it; `unread` is what was not named before. */
  async #read() {
    // Loaded only now, because the local service loads slowly.
    const [{ fillFolder }, { FileRows }] = await Promise.all([
      import('../local/daemon/serve.ts'),
      import('../local/store/file-rows.ts'),
    ]);
    const reading = new Reading();
    const unread = new Unread();
    const lost = await fillFolder(this.#dataFolder, (stores, organization) =>
      withOpenFile(this.#path, this.#io, file =>
        this.#store(file, new FileRows(stores, organization, this.#name, this.#given), reading, unread),
      ),
    );
    const missing = lost + reading.unreadRewards;
    const gap = this.#cut === undefined ? `${missing} not read in full` : 'incomplete';
    this.#said = {
      title: missing === 0 && this.#cut === undefined ? this.#name : `${this.#name}, ${gap}`,
      problem: this.#last.place === 0 ? unread.holdsNone().message : (this.#cut ?? unread.words),
    };
    return { unread, notes: reading.notes };
  }

  /** Returns how many trajectories in the file could not be read. */
  async #store(file: FileHandle, rows: FileRows, reading: Reading, unread: Unread): Promise<number> {
    const { size } = await file.stat();
    const hash = createHash('sha256');
    await hashBytes(hash, file, 0, this.#stored.bytes);
    const isGrown = hash.copy().digest('hex') === this.#stored.hash;
    await hashBytes(hash, file, this.#stored.bytes, size);
    if (!isGrown) {
      this.#stored = { bytes: 0, hash: '' };
      this.#last = { place: 0, unread: 0 };
      this.#named = 0;
      rows.beginAgain();
    }
    const { place: from } = this.#last;
    let { unread: lost } = this.#last;
    let place = 0;
    for await (const each of trajectoriesIn(file, reading)) {
      this.#io.signal.throwIfAborted();
      place += 1;
      if (place <= from) continue;
      const read = 'error' in each ? each.error : readUploaded(each.trajectory, 0);
      if (typeof read !== 'string' && !('code' in read)) {
        rows.add(read);
        this.#last = { place, unread: lost };
        continue;
      }
      lost += 1;
      if (place > this.#named) unread.add(each.place, typeof read === 'string' ? read : refusal(read));
    }
    if (!isGrown) rows.endAgain();
    this.#named = place;
    this.#stored = { bytes: size, hash: hash.digest('hex') };
    return lost;
  }
}
