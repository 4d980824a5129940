/**
 * What comes from the terminal, as Ink may see it: without the terminal's own answers, which are not keys. Everything else
 * passes unchanged, also where a sequence comes in pieces.
 */
import { Readable } from 'node:stream';
import { createMouseDecoder, type MouseDecoder, type MouseEvent } from '../../keys/mouse.ts';
import { probeAnswer } from '../painter/painter.ts';

/** Takes answers out of what was read. Pure: gives what remains, how many answers there were, and what may yet become one. */
export function splitAnswers(text: string): { readonly keys: string; readonly answers: number; readonly rest: string } {
  const parts = text.split(probeAnswer);
  const last = parts.at(-1) ?? '';
  // An escape alone is a key; from the bracket on it can only be a sequence.
  const rest = ['\u001b[0', '\u001b['].find(start => last.endsWith(start)) ?? '';
  return { keys: parts.join('').slice(0, parts.join('').length - rest.length), answers: parts.length - 1, rest };
}

/** A piece of a sequence that nothing follows for so long was a key after all. */
const pieceMs = 30;

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';
/** Keys that want to get out. */
const abandonKeys = ['\u001b', '\u0003'];
/** After this long without any other byte, one of those is pressed, and not pasted. */
const pasteSilenceMs = 1_000;

/**
 * Follows pastes, to end one whose end never comes: a multiplexer that is detached in the middle of it loses the rest, and
 * all keys after it would be taken for its text.
 */
export class PasteEnd {
  #open = false;
  #heardAt = 0;
  /** What may be the beginning of a mark. */
  #tail = '';

  /** What a read means: the same, or the same behind the end of a paste. `now` is a clock in milliseconds. */
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

export interface InputSource extends NodeJS.ReadableStream {
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

  /** Reports of the mouse are taken out if something listens for them. */
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

  /** Sets the terminal's mode again, if another program may have changed it. */
  renew(): void {
    const raw = this.#raw && !this.#lent;
    // What Node believes to be so already, it does not set.
    this.#source.setRawMode?.(!raw);
    this.#source.setRawMode?.(raw);
  }

  /** Hands the terminal's input to another program. What is given takes it back, as it should be by then. */
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

  /** Lets the process end. */
  close(): void {
    clearTimeout(this.#timer);
    this.#source.off('data', this.#take);
    this.#source.setRawMode?.(false);
    this.#source.pause();
    this.#source.unref?.();
  }
}
