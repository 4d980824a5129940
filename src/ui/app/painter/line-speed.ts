/** How fast the line to the terminal is, learnt from how long its answers take. Pure. */

/** What fewer bytes take is nearly all delay. */
const fewest = 100;
/** A program that was busy when an answer came makes the line look slow: the quickest of so many answers counts. */
const counted = 3;

export class LineSpeed {
  /** What an answer takes however little is asked, in milliseconds. */
  #delay = Number.POSITIVE_INFINITY;
  #msPerByte: readonly number[] = [];

  /** An answer came `ms` after its question, which `bytes` had to be shown before. */
  learn(bytes: number, ms: number): void {
    this.#delay = Math.min(this.#delay, ms);
    if (bytes >= fewest) this.#msPerByte = [...this.#msPerByte, (ms - this.#delay) / bytes].slice(-counted);
  }

  /** Milliseconds that the line is busy with so many bytes; 0 as long as that is not known. */
  timeFor(bytes: number): number {
    return this.#msPerByte.length < counted ? 0 : bytes * Math.min(...this.#msPerByte);
  }
}
