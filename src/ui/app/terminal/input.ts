/**
 * Filters the terminal's input for Ink: removes the terminal's replies, which are not keys, even if they arrive in
 * pieces. Everything else passes unchanged.
 */
import { Readable } from 'node:stream';
import { createMouseDecoder, type MouseDecoder, type MouseEvent } from '../../keys/mouse.ts';
import { probeAnswer } from '../painter/painter.ts';

/** Removes replies from a chunk. Pure: returns the rest, the number of replies, and a possible beginning of one. */
export function splitAnswers(text: string): { readonly keys: string; readonly answers: number; readonly rest: string } {
  const parts = text.split(probeAnswer);
  const last = parts.at(-1) ?? '';
  // A lone escape is a key; only with the bracket is it certainly a sequence.
  const rest = ['\u001b[0', '\u001b['].find(start => last.endsWith(start)) ?? '';
  return { keys: parts.join('').slice(0, parts.join('').length - rest.length), answers: parts.length - 1, rest };
}

/** After this long without more input, a partial sequence counts as a key. */
const pieceMs = 30;

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';
/** Keys for leaving the program. */
const abandonKeys = ['\u001b', '\u0003'];
/** After this long without another byte, one of those keys counts as pressed, not pasted. */
const pasteSilenceMs = 1_000;

/**
 * Tracks pastes, and ends one that is never closed: a multiplexer detached halfway through loses the rest, and all
 * later keys would count as pasted text.
 */
export class PasteEnd {
  #open = false;
  #heardAt = 0;
  /** A possible beginning of a mark. */
  #tail = '';

  /** Returns the chunk, preceded by the end of an abandoned paste if necessary. `now` is a clock in milliseconds. */
  take(typed: string, now: number): string {
    const ends = this.#open && abandonKeys.includes(typed) && now - this.#heardAt >= pasteSilenceMs;
    const text = ends ? pasteEnd + typed : typed;
    if (!abandonKeys.includes(typed)) this.#heardAt = now;
    const seen = this.#tail + text;
    const [start, end] = [seen.lastIndexOf(pasteStart), seen.lastIndexOf(pasteEnd)];
    if (start !== end) this.#open = start > end;
    this.#tail = seen.slice(1 - pasteEnd.length);
    return text;
  }
}

interface InputSource extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?: (on: boolean) => unknown;
  ref?: () => unknown;
  unref?: () => unknown;
}

export class Input extends Readable {
  readonly isTTY = true;
  readonly #source: InputSource;
  readonly #onAnswer: () => void;
  readonly #mouse: MouseDecoder | undefined;
  readonly #onMouse: (event: MouseEvent) => void;
  readonly #paste = new PasteEnd();
  #rest = '';
  #timer: NodeJS.Timeout | undefined;
  #raw = false;
  #lent = false;

  /** Mouse reports are removed if there is a listener for them. */
  constructor(source: InputSource, onAnswer: () => void, onMouse?: (event: MouseEvent) => void) {
    super();
    this.#mouse = onMouse && createMouseDecoder();
    this.#onMouse = onMouse ?? (() => {});
    this.#source = source;
    this.#onAnswer = onAnswer;
    source.setEncoding('utf8');
    source.on('data', this.#take);
  }

  override _read(): void {}

  readonly #take = (data: string | Buffer): void => {
    clearTimeout(this.#timer);
    const { events, rest: typed } = this.#mouse?.feed(String(data)) ?? { events: [], rest: String(data) };
    for (const event of events) this.#onMouse(event);
    const { keys, answers, rest } = splitAnswers(this.#rest + typed);
    this.#rest = rest;
    if (keys !== '') this.push(this.#paste.take(keys, performance.now()));
    for (let index = 0; index < answers; index += 1) this.#onAnswer();
    if (rest === '') return;
    this.#timer = setTimeout(() => {
      this.#rest = '';
      this.push(rest);
    }, pieceMs);
  };

  setRawMode(on: boolean): this {
    this.#raw = on;
    if (!this.#lent) this.#source.setRawMode?.(on);
    return this;
  }

  /** Sets the terminal's mode again, since another program may have changed it. */
  renew(): void {
    const raw = this.#raw && !this.#lent;
    // Node skips a mode that it believes is set.
    this.#source.setRawMode?.(!raw);
    this.#source.setRawMode?.(raw);
  }

  /** Hands the terminal's input to another program. Call the result to take it back in its current mode. */
  lend(): () => void {
    this.#lent = true;
    this.#source.off('data', this.#take);
    this.#source.pause();
    this.#source.setRawMode?.(false);
    return () => {
      this.#lent = false;
      this.#source.setRawMode?.(this.#raw);
      this.#source.on('data', this.#take);
      this.#source.resume();
    };
  }

  ref(): this {
    this.#source.ref?.();
    return this;
  }

  unref(): this {
    this.#source.unref?.();
    return this;
  }

  /** Lets the process exit. */
  close(): void {
    clearTimeout(this.#timer);
    this.#source.off('data', this.#take);
    this.#source.setRawMode?.(false);
    this.#source.pause();
    this.#source.unref?.();
  }
}
