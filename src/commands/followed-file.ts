/** Stores a file of rollouts as a dataset on the local service, and follows the file as it changes. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { errorMessage } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import { watchForChanges } from '../base/watched-file.ts';
import { readUploaded } from '../local/server/uploaded-trajectory.ts';
import type { FileRows } from '../local/store/file-rows.ts';
import type { UploadedTrajectory } from '../local/store/trajectory-uploads.ts';
import { count, counted } from '../text/numbers.ts';
import { type FileTrajectory, Reading, trajectoriesIn } from '../uploads/foreign-files.ts';
import type { ShownFile } from '../workbench/workbench.ts';
import type { CommandIo } from './io.ts';
import { progressEvery } from './list-output.ts';
import { FileProblems, withOpenFile } from './trajectory-files.ts';

/** How often to check the file, in milliseconds. */
const lookMs = 1_000;
/** An unreadable end of the file is reported once the file has not grown for this long, in milliseconds. */
const stillMs = 5_000;
const pieceBytes = 256 * 1024;

/** Hashes the beginning of a file, up to this length in bytes. */
async function hashOf(file: FileHandle, length: number): Promise<string> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(piece, 0, Math.min(piece.byteLength, length - at), at);
    if (bytesRead === 0) break;
    hash.update(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest('hex');
}

/** A trajectory as the service would store it, or why it would refuse it. */
export function storable(trajectory: Readonly<Record<string, unknown>>): UploadedTrajectory | string {
  const read = readUploaded(trajectory, 0);
  return 'code' in read ? `Unreadable ${read.message}` : read;
}

/**
 * The stored part of a file: its length and hash, the last stored trajectory, how many before it could not be read, and
 * the last one whose error was reported.
 */
const nothingStored = { bytes: 0, hash: '', place: 0, unread: 0, named: 0 };

export interface FileReading {
  /** Why the file is incomplete. */
  readonly cut?: string | undefined;
  /** Whether to read the file once, without following it. */
  readonly isOnce?: boolean;
  /** The score in an Inspect log that is the reward. */
  readonly score?: string | undefined;
}

const describeUnread = (missing: number): string =>
  missing === 0 ? '' : `${counted(missing, 'trajectory', 'trajectories')} in the file could not be read in full.`;

export class FollowedFile implements ShownFile {
  readonly #path: string;
  readonly #name: string;
  readonly #dataFolder: string;
  readonly #io: CommandIo;
  readonly #options: FileReading;
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  /** The ids of deleted rows, each with the hash of its content. */
  readonly #deleted = new Map<string, string>();
  #done = nothingStored;
  #said: Pick<ShownFile, 'title' | 'problem' | 'notes'>;
  #reading: Promise<void> = Promise.resolve();
  #isChanged = false;
  #nextLook: NodeJS.Timeout | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(path: string, name: string, dataFolder: string, io: CommandIo, options: FileReading) {
    this.#path = path;
    this.#name = name;
    this.#dataFolder = dataFolder;
    this.#io = io;
    this.#options = options;
    this.#said = { title: name, problem: undefined, notes: [] };
  }

  get title(): string {
    return this.#said.title;
  }

  /** Whether everything was read. */
  get isWhole(): boolean {
    return this.#said.title === this.#name;
  }

  get problem(): string | undefined {
    return this.#said.problem;
  }

  get notes(): readonly string[] {
    return this.#said.notes;
  }

  /**
   * Reads the file, prints notes, and follows the file until `close` unless it is read only once.
   *
   * @throws CommandError if it has no trajectories
   */
  async open(): Promise<void> {
    // Watch before reading, so that no change is missed.
    if (!this.#options.isOnce) this.#stopWatching = watchForChanges(this.#path, lookMs, this.#changed);
    const first = this.#read();
    this.#reading = Promise.allSettled([first]).then(() => {});
    try {
      const { unread, notes } = await first;
      if (this.#done.place === 0) throw unread.holdsNone();
      unread.note(this.#io);
      for (const note of notes) this.#io.note(note);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    clearTimeout(this.#nextLook);
    this.#stopWatching?.();
  }

  readonly #changed = (): void => {
    if (this.#isChanged) return;
    this.#isChanged = true;
    this.#reading = this.#reading.then(async () => {
      this.#isChanged = false;
      await this.#read().catch((error: unknown) => {
        const problem = errorMessage(error);
        this.#said = { title: `${this.#name}, last change not read`, problem, notes: [problem] };
      });
      this.#listeners.notify();
    });
  };

  /**
   * Stores the new part of the file. Returns the notes to print, and in `unread` the errors that were not reported
   * before.
   */
  async #read() {
    // Loaded only now, because the local service loads slowly.
    const [{ fillFolder }, { FileRows }] = await Promise.all([
      import('../local/daemon/serve.ts'),
      import('../local/store/file-rows.ts'),
    ]);
    const { cut, score } = this.#options;
    const reading = new Reading(score);
    const unread = new FileProblems();
    const lost = await fillFolder(this.#dataFolder, (stores, organization) =>
      withOpenFile(this.#path, this.#io, file =>
        this.#store(file, new FileRows(stores, organization, this.#name, this.#deleted), reading, unread),
      ),
    );
    const missing = lost + reading.missingRewards;
    const gap = cut === undefined ? `${missing} not read in full` : 'incomplete';
    this.#said = {
      title: missing === 0 && cut === undefined ? this.#name : `${this.#name}, ${gap}`,
      problem: this.#done.place === 0 ? unread.holdsNone().message : (cut ?? unread.words),
      notes: [cut ?? '', describeUnread(missing), ...reading.notes].filter(Boolean),
    };
    return { unread, notes: reading.notes };
  }

  /** Stores the new part, or all of a file that was rewritten. Returns how many trajectories could not be read. */
  async #store(file: FileHandle, rows: FileRows, reading: Reading, unread: FileProblems): Promise<number> {
    const { size: bytes } = await file.stat();
    const isGrown = (await hashOf(file, this.#done.bytes)) === this.#done.hash;
    const hash = await hashOf(file, bytes);
    if (!isGrown) {
      this.#done = nothingStored;
      rows.beginAgain();
    }
    const lost = await this.#add(
      trajectoriesIn(file, reading),
      rows,
      unread,
      this.#options.isOnce === true || bytes === this.#done.bytes,
    );
    if (!isGrown) rows.endAgain();
    this.#done = { ...this.#done, bytes, hash };
    return lost;
  }

  /**
   * Adds the trajectories after the last stored one. Returns how many could not be read so far, not counting an
   * incomplete one at the end of a growing file.
   *
   * @param isStill whether the file is not growing
   */
  async #add(
    all: AsyncIterable<FileTrajectory>,
    rows: FileRows,
    unread: FileProblems,
    isStill: boolean,
  ): Promise<number> {
    let [place, lost] = [0, this.#done.unread];
    clearTimeout(this.#nextLook);
    for await (const each of all) {
      this.#io.signal.throwIfAborted();
      if (!each.value && each.isOpen && !isStill && this.#done.place > 0) {
        this.#nextLook = setTimeout(this.#changed, stillMs).unref();
        break;
      }
      place += 1;
      if (place <= this.#done.place) continue;
      const read = each.value ? storable(each.value) : (each.error ?? 'It cannot be read.');
      if (typeof read === 'string') {
        lost += 1;
        if (place > this.#done.named) unread.add(each.place, read);
        continue;
      }
      rows.add(read, each.place, each.value?.['id']);
      this.#done = { ...this.#done, place, unread: lost };
      if (this.#options.isOnce && place % progressEvery === 0) this.#io.note(`${count(place)} rollouts read so far.`);
    }
    this.#done = { ...this.#done, named: place };
    return lost;
  }
}
