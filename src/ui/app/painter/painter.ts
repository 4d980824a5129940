/**
 * Keeps a terminal showing the newest frame. Frames that come while the line is busy are skipped: what counts is the
 * last one. The line is busy while the stream below holds bytes back, and while the terminal has not answered for those
 * it was sent: over SSH they may wait in buffers out of sight, so now and then a status report is asked for
 * (DSR, ECMA-48 8.3.35), whose answer comes when everything before it has been shown. On a slow line a large frame waits
 * until no newer one follows: it would be old before it had arrived.
 */
import { diffFrame } from './diff.ts';

export interface PainterLine {
  /** Sends bytes. */
  readonly write: (bytes: string) => void;
  /** Whether the stream below takes no more for now; `resume` is to be called when it does again. */
  readonly isBlocked: () => boolean;
}

export interface PainterSize {
  readonly columns: number;
  readonly rows: number;
}

/** Bytes after which an answer is asked for, and that may be under way before another frame is sent. */
const probeAfter = 150;
const mostUnderWay = 350;
/** A terminal that does not answer the first question by then never will. */
const patienceMs = 1_000;
/** Larger frames are shown all at once, if the terminal knows how (DEC mode 2026). */
const synchronizeFrom = 1_024;

/**
 * No more frames than eyes see, whatever the line can take: a few may follow one another closely, as the answers to one
 * key do; of those that keep coming only the newest is sent, so often.
 */
const atOnce = 3;
const gapMs = 30;
/** A frame that takes this long waits for a newer one: until none has come for a while, but not for ever. */
const longFrameMs = 150;
const restMs = 40;
const longestHoldMs = 250;

export const probe = '\u001b[5n';
export const probeAnswer = '\u001b[0n';

export class Painter {
  readonly #line: PainterLine;
  #size: PainterSize;
  #shown: readonly string[] | undefined;
  #wanted: readonly string[] = [];
  #unprobed = 0;
  /** Each question that is not answered yet: the bytes sent since the one before, all under way then, and when it was asked. */
  #questions: { readonly bytes: number; readonly ahead: number; readonly at: number }[] = [];
  readonly #speed = new LineSpeed();
  /** Frames that may be sent at once; one more for each gap that passes. */
  #allowance = { frames: atOnce, at: 0 };
  #changedAt = 0;
  #heldSince: number | undefined;
  #hold: NodeJS.Timeout | undefined;
  #answers: 'untried' | 'come' | 'never' = 'untried';
  #patience: NodeJS.Timeout | undefined;
  #open = true;
  /** Answers that are still on their way, also those that are not needed any more. */
  #awaited = 0;
  #onQuiet: (() => void) | undefined;

  constructor(line: PainterLine, size: PainterSize) {
    this.#line = line;
    this.#size = size;
  }

  /** Shows a frame now, or as soon as the line is free. */
  frame(text: string): void {
    // A frame that was made for a larger terminal must not run over the edge of this one.
    this.#wanted = text.split('\n').slice(0, this.#size.rows);
    this.#changedAt = performance.now();
    this.resume();
  }

  /** Nothing is known of what the terminal shows: the frame is sent whole. */
  repaint(): void {
    this.#shown = undefined;
    this.#questions = [];
    this.#unprobed = 0;
    this.resume();
  }

  /** The terminal has another size: the frame that was made for the old one is of no use any more. */
  resize(size: PainterSize): void {
    this.#size = size;
    this.#wanted = [];
    this.repaint();
  }

  /** The terminal has shown everything up to the oldest question. */
  answered(): void {
    this.#answers = 'come';
    clearTimeout(this.#patience);
    const question = this.#questions.shift();
    if (question) this.#speed.learn(question.ahead, performance.now() - question.at);
    this.#awaited = Math.max(0, this.#awaited - 1);
    if (this.#awaited === 0) this.#onQuiet?.();
    this.resume();
  }

  /** Sends what is wanted and not shown, if the line is free. */
  resume(): void {
    if (!this.#open || this.#line.isBlocked() || this.#underWay() > mostUnderWay) return;
    if (this.#shown === this.#wanted || this.#wanted.length === 0) return;
    const whole = this.#shown === undefined;
    if (!whole && this.#isTooSoon()) return;
    const bytes = diffFrame(this.#shown ?? [], this.#wanted, this.#size.columns);
    if (this.#isHeld(bytes.length)) return;
    this.#shown = this.#wanted;
    if (bytes === '' && !whole) return;
    this.#send(whole ? `\u001b[H\u001b[2J${bytes}` : bytes);
  }

  /** Sends nothing any more, until it is opened again. */
  close(): void {
    this.#open = false;
    clearTimeout(this.#patience);
    clearTimeout(this.#hold);
  }

  /** Sends again; of what the terminal shows by now nothing is known. */
  open(): void {
    this.#open = true;
    this.repaint();
  }

  /**
   * Sends nothing any more, and resolves when no answer of the terminal is on its way: the next owner of the terminal would
   * take it for keys. A terminal that does not answer is waited for `mostMs` at most.
   */
  async pauseAndDrain(mostMs: number): Promise<void> {
    this.close();
    if (this.#awaited === 0 || this.#answers === 'never') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onQuiet = resolve;
    const timer = setTimeout(resolve, mostMs);
    await promise;
    clearTimeout(timer);
    this.#onQuiet = undefined;
  }

  /** Bytes that the terminal may not have shown yet; what has no question behind it cannot be waited for. */
  #underWay(): number {
    if (this.#answers !== 'come' || this.#questions.length === 0) return 0;
    return this.#ahead();
  }

  /** Bytes that have been sent and not been answered for. */
  #ahead(): number {
    return this.#questions.reduce((sum, { bytes }) => sum + bytes, this.#unprobed);
  }

  #later(ms: number): void {
    clearTimeout(this.#hold);
    this.#hold = setTimeout(() => this.resume(), Math.ceil(ms));
    this.#hold.unref();
  }

  #allowed(): number {
    const { frames, at } = this.#allowance;
    return Math.min(atOnce, frames + (performance.now() - at) / gapMs);
  }

  /** Whether enough frames have been sent just now; what is wanted then is looked at again in time. */
  #isTooSoon(): boolean {
    const missing = 1 - this.#allowed();
    if (missing > 0) this.#later(missing * gapMs);
    return missing > 0;
  }

  /** Whether a frame of so many bytes is to wait for a newer one; it is looked at again in time. */
  #isHeld(bytes: number): boolean {
    if (this.#speed.timeFor(bytes) >= longFrameMs) {
      const now = performance.now();
      this.#heldSince ??= now;
      const until = Math.min(this.#changedAt + restMs, this.#heldSince + longestHoldMs);
      if (now < until) {
        this.#later(until - now);
        return true;
      }
    }
    this.#heldSince = undefined;
    return false;
  }

  #send(bytes: string): void {
    this.#allowance = { frames: this.#allowed() - 1, at: performance.now() };
    const framed = bytes.length >= synchronizeFrom ? `\u001b[?2026h${bytes}\u001b[?2026l` : bytes;
    this.#unprobed += framed.length;
    if (this.#unprobed < probeAfter || this.#answers === 'never') {
      this.#line.write(framed);
      return;
    }
    this.#questions.push({ bytes: this.#unprobed, ahead: this.#ahead(), at: performance.now() });
    this.#unprobed = 0;
    this.#awaited += 1;
    this.#line.write(framed + probe);
    if (this.#answers !== 'untried' || this.#patience !== undefined) return;
    this.#patience = setTimeout(() => {
      this.#answers = 'never';
      this.#questions = [];
      this.resume();
    }, patienceMs);
    this.#patience.unref();
  }
}

/** The time of fewer bytes is nearly all delay. */
const minSampleBytes = 100;
/** A program that was busy when an answer came makes the line look slow: the quickest of so many answers counts. */
const sampleCount = 3;

/** How fast the line to the terminal is, learnt from how long its answers take. */
class LineSpeed {
  /** What an answer takes however little is asked, in milliseconds. */
  #delay = Number.POSITIVE_INFINITY;
  #msPerByte: readonly number[] = [];

  /** An answer came `ms` after its question, which `bytes` had to be shown before. */
  learn(bytes: number, ms: number): void {
    this.#delay = Math.min(this.#delay, ms);
    if (bytes >= minSampleBytes) this.#msPerByte = [...this.#msPerByte, (ms - this.#delay) / bytes].slice(-sampleCount);
  }

  /** Milliseconds that the line is busy with so many bytes; 0 as long as that is not known. */
  timeFor(bytes: number): number {
    return this.#msPerByte.length < sampleCount ? 0 : bytes * Math.min(...this.#msPerByte);
  }
}
