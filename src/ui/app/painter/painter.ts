/**
 * Keeps the newest frame on the terminal. If several frames arrive while the line is busy, only the last one is sent.
 * The line is busy while the output stream is full, and while the terminal has not confirmed the bytes sent to it: over
 * SSH, bytes may wait in buffers that the painter cannot see, so now and then it requests a status report (DSR, ECMA-48
 * 8.3.35), which the terminal sends once it has processed everything before it. On a slow line, a large frame waits
 * until no newer one follows; otherwise it would be out of date on arrival.
 */
import { minOf } from '../../../base/many.ts';
import { diffFrame } from './diff.ts';

interface PainterLine {
  readonly write: (bytes: string) => void;
  /** Whether the output stream is full; call `resume` when it has drained. */
  readonly isBlocked: () => boolean;
}

interface PainterSize {
  readonly columns: number;
  readonly rows: number;
}

/** A report is requested after this many bytes. */
const probeAfter = 150;
/** No frame is sent while more bytes than this are in flight. */
const maxBytesInFlight = 350;
/** A terminal that does not reply to the first request within this time never will. */
const patienceMs = 1_000;
/**
 * If a terminal that has replied before is silent for this long, a reply was lost, or the user typed something that
 * looked like one. On a slow line, the limit is several times the estimated transfer time.
 */
const lostAfterMs = 4_000;
const lostAfterTimes = 3;
/** How long to wait for replies in flight before handing over the terminal; a terminal that replies may be slow. */
const drainMs = { untried: 500, come: 2_000 } as const;
/** Larger frames are shown atomically, if the terminal supports it (DEC mode 2026). */
const synchronizeFrom = 1_024;

/**
 * Limits the frame rate on any line: a few frames may follow one another closely, as after a key press; in a steady
 * stream, only the newest frame is sent, at this interval.
 */
const atOnce = 3;
const gapMs = 30;
/** A frame that takes this long to send waits, for a limited time, until no newer ones arrive. */
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
  /**
   * Each unanswered request: the bytes sent since the previous one, all bytes in flight at that time, and when it was
   * sent.
   */
  #questions: { readonly bytes: number; readonly ahead: number; readonly at: number }[] = [];
  readonly #speed = new LineSpeed();
  /** Frames that may be sent immediately; one more for each interval that passes. */
  #allowance = { frames: atOnce, at: 0 };
  #changedAt = 0;
  #heldSince: number | undefined;
  #hold: NodeJS.Timeout | undefined;
  #answers: 'untried' | 'come' | 'never' = 'untried';
  #patience: NodeJS.Timeout | undefined;
  #open = true;
  /** Replies still in flight, including ones that are no longer needed. */
  #awaited = 0;
  /** Late replies to dropped requests that may still arrive: their timing does not measure the line. */
  #late = 0;
  #onQuiet: (() => void) | undefined;

  constructor(line: PainterLine, size: PainterSize) {
    this.#line = line;
    this.#size = size;
  }

  /** Shows a frame now, or as soon as the line is free. */
  frame(text: string): void {
    // A frame for a larger terminal must not overflow this one.
    this.#wanted = text.split('\n').slice(0, this.#size.rows);
    this.#changedAt = performance.now();
    this.resume();
  }

  /** Sends the frame in full, because the terminal's content is unknown. */
  repaint(): void {
    this.#shown = undefined;
    this.#dropQuestions();
    this.#unprobed = 0;
    this.resume();
  }

  /** The terminal was resized: drops any frame for the old size. */
  resize(size: PainterSize): void {
    this.#size = size;
    this.#wanted = [];
    this.repaint();
  }

  /** Notes a reply: the terminal has processed everything up to the oldest request. */
  answered(): void {
    this.#answers = 'come';
    clearTimeout(this.#patience);
    const question = this.#questions.shift();
    if (this.#late > 0) this.#late -= 1;
    else if (question) this.#speed.learn(question.ahead, performance.now() - question.at);
    this.#awaited = Math.max(0, this.#awaited - 1);
    if (this.#awaited === 0) this.#onQuiet?.();
    this.resume();
  }

  /** Whether a frame has yet to be sent. */
  get isBehind(): boolean {
    return this.#open && this.#shown !== this.#wanted && this.#wanted.length > 0;
  }

  /** Sends the wanted frame, if it is not shown yet and the line is free. */
  resume(): void {
    if (!this.isBehind || this.#line.isBlocked()) return;
    if (this.#underWay() > maxBytesInFlight && !this.#hasLostAnswer()) return;
    const whole = this.#shown === undefined;
    if (!whole && this.#isTooSoon()) return;
    const bytes = diffFrame(this.#shown ?? [], this.#wanted, this.#size.columns);
    if (this.#isHeld(bytes.length)) return;
    this.#shown = this.#wanted;
    if (bytes === '' && !whole) return;
    this.#send(whole ? `\u001b[H\u001b[2J${bytes}` : bytes);
  }

  /** Stops sending until reopened. */
  close(): void {
    this.#open = false;
    clearTimeout(this.#patience);
    clearTimeout(this.#hold);
  }

  /** Resumes sending; the terminal's current content is unknown. */
  open(): void {
    this.#open = true;
    this.repaint();
  }

  /**
   * Stops sending, and resolves once no reply from the terminal is in flight: the next program on the terminal would
   * take it for keys. Waits only for a limited time, because replies may be lost.
   */
  async pauseAndDrain(): Promise<void> {
    this.close();
    if (this.#awaited === 0 || this.#answers === 'never') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onQuiet = resolve;
    const timer = setTimeout(resolve, drainMs[this.#answers]);
    await promise;
    clearTimeout(timer);
    this.#onQuiet = undefined;
    // Later replies are lost, or go to the next program.
    this.#awaited = 0;
  }

  /** Bytes that the terminal may not have shown yet; only bytes followed by a request can be waited for. */
  #underWay(): number {
    if (this.#answers !== 'come' || this.#questions.length === 0) return 0;
    return this.#ahead();
  }

  /** Whether a reply is overdue, so that the painter should ask again; otherwise schedules another check. */
  #hasLostAnswer(): boolean {
    const [{ at = 0, ahead = 0 } = {}] = this.#questions;
    const left = at + Math.max(lostAfterMs, lostAfterTimes * this.#speed.timeFor(ahead)) - performance.now();
    if (left > 0) {
      this.#later(left);
      return false;
    }
    this.#giveUp();
    this.#answers = 'untried';
    this.#patience = undefined;
    return true;
  }

  /** Forgets the open requests: replies to them may still arrive, but sending no longer waits for them. */
  #dropQuestions(): void {
    this.#late += this.#questions.length;
    this.#questions = [];
  }

  /** Treats all outstanding replies as lost. */
  #giveUp(): void {
    this.#awaited = Math.max(0, this.#awaited - this.#questions.length);
    this.#dropQuestions();
  }

  /** Bytes sent but not yet confirmed. */
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

  /** Whether enough frames have just been sent; if so, schedules another check. */
  #isTooSoon(): boolean {
    const missing = 1 - this.#allowed();
    if (missing > 0) this.#later(missing * gapMs);
    return missing > 0;
  }

  /** Whether a frame of this many bytes should wait for a newer one; if so, schedules another check. */
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
      this.#giveUp();
      this.resume();
    }, patienceMs);
    this.#patience.unref();
  }
}

/** Below this size, latency dominates the time. */
const minSampleBytes = 100;
/** A busy program makes the line look slow, so the fastest of this many samples counts. */
const sampleCount = 3;

/** Estimates the speed of the line to the terminal from its response times. */
class LineSpeed {
  /** The latency of a reply in milliseconds, not counting the time for the bytes before it. */
  #delay = Number.POSITIVE_INFINITY;
  #msPerByte: readonly number[] = [];

  /** Records a reply that came `ms` after its request, with `bytes` processed before it. */
  learn(bytes: number, ms: number): void {
    this.#delay = Math.min(this.#delay, ms);
    if (bytes >= minSampleBytes) this.#msPerByte = [...this.#msPerByte, (ms - this.#delay) / bytes].slice(-sampleCount);
  }

  /** Milliseconds that the line needs for this many bytes; 0 until known. */
  timeFor(bytes: number): number {
    return this.#msPerByte.length < sampleCount ? 0 : bytes * minOf(this.#msPerByte);
  }
}
