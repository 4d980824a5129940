/** Prints a list's rows on standard output: as they are read if the format allows it, otherwise at the end. */
import { count } from '../text/numbers.ts';
import type { CommandIo } from './io.ts';

/** Progress is reported after this many rows: an endless list must not look like a hang. */
export const progressEvery = 10_000;

interface ListOutputOptions {
  /** Whether rows can be printed before the last one is read. */
  readonly streams: boolean;
  readonly limit: number;
  /** Whether rows can be printed, judging by the rows read so far; it may become true later. */
  readonly isReady: (rows: readonly object[]) => Promise<boolean>;
  /** Formats rows; the first ones get the header. */
  readonly text: (rows: readonly object[], isFirst: boolean) => string | Promise<string>;
  readonly io: Pick<CommandIo, 'print' | 'note'>;
}

export class ListOutput {
  readonly #options: ListOutputOptions;
  #waiting: object[] = [];
  #taken = 0;
  #printed = 0;
  #read = 0;
  /** How many rows had been read at the last output or progress note. */
  #notedAt = 0;
  #isReady = false;

  constructor(options: ListOutputOptions) {
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes the wanted rows from a page, and prints them if possible. Reports progress if there has been no output for
   * many rows.
   *
   * @param read how many rows the page had
   */
  async take(rows: readonly object[], read: number): Promise<void> {
    const { streams, isReady, io } = this.#options;
    for (const row of rows) this.#waiting.push(row);
    this.#taken += rows.length;
    this.#read += read;
    this.#isReady ||= rows.length > 0 && (await isReady(rows));
    if (streams && this.#isReady) await this.#print(this.#waiting);
    if (this.#read - this.#notedAt < progressEvery) return;
    this.#notedAt = this.#read;
    io.note(`${count(this.#read)} rows read so far.`);
  }

  async #print(rows: readonly object[]): Promise<void> {
    const { limit, text, io } = this.#options;
    const isFirst = this.#printed === 0;
    const shown = rows.slice(0, limit - this.#printed);
    this.#waiting = [];
    if (shown.length === 0 && !isFirst) return;
    this.#printed += shown.length;
    this.#notedAt = this.#read;
    await io.print(await text(shown, isFirst));
  }

  /** Prints the rest in this order. Returns the total number of printed rows. */
  async end(ordered: (rows: readonly object[]) => readonly object[]): Promise<number> {
    if (this.#waiting.length > 0 || this.#printed === 0) await this.#print(ordered(this.#waiting));
    return this.#printed;
  }
}
