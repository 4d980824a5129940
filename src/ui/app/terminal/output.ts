/**
 * Non-blocking writes to the terminal: a terminal that accepts no bytes (a stopped session, a lost connection) must not
 * keep the program from handling a signal. Node's own writes to a terminal block.
 */

import { writeSync } from 'node:fs';
import { errorCode } from '../../../base/errors.ts';

export interface OutputStream extends NodeJS.WritableStream {
  readonly fd: number;
  /** Decides whether writes block. */
  readonly _handle?: { readonly setBlocking?: (on: boolean) => unknown };
}

const retryMs = 5;
/** How long to retry the last bytes while the terminal accepts none. */
const patienceMs = 100;
/** Characters of a long write that are in flight at once, about as many as in a large frame. */
const sliceLength = 16_384;

export class Output {
  readonly #stream: OutputStream;
  readonly #onDrained: () => void;
  #pending = 0;
  /** Writes the next slice of a long write, until its end. */
  #next: (() => void) | undefined;
  /** Bytes held until the long write has ended: interleaved with it, they would corrupt both. */
  #held = '';

  /** `onDrained` is called whenever everything written so far has been accepted. */
  constructor(stream: OutputStream, onDrained: () => void) {
    this.#stream = stream;
    this.#onDrained = onDrained;
    stream._handle?.setBlocking?.(false);
  }

  /** Whether bytes are waiting for the terminal. */
  get isBlocked(): boolean {
    return this.#pending > 0;
  }

  write(bytes: string): void {
    if (this.#next) this.#held += bytes;
    else this.#send(bytes);
  }

  /** Writes ASCII, which may take minutes on a slow line. Other writes wait until it ends or is cut off. */
  writeLong(bytes: string): void {
    let at = 0;
    const next = (): void => {
      if (this.#next !== next) return;
      const slice = bytes.slice(at, at + sliceLength);
      at += sliceLength;
      if (slice === '') this.write(this.#endLong());
      else this.#send(slice, next);
    };
    this.#next = next;
    next();
  }

  /** Stops a long write. Returns the terminator of its sequence (ST, ECMA-48 8.3.143) and the bytes held until then. */
  cutOff(): string {
    return this.#next ? `\u001b\\${this.#endLong()}` : '';
  }

  /** Ends a long write. Returns the bytes held until then. */
  #endLong(): string {
    const held = this.#held;
    this.#next = undefined;
    this.#held = '';
    return held;
  }

  #send(bytes: string, onAccepted?: () => void): void {
    if (bytes === '') return;
    this.#pending += 1;
    this.#stream.write(bytes, () => {
      this.#pending -= 1;
      onAccepted?.();
      if (this.#pending === 0) this.#onDrained();
    });
  }

  /**
   * Writes synchronously, before the process exits or stops. Bytes that the terminal does not accept soon are dropped.
   */
  writeNow(text: string): void {
    writeNow(this.#stream.fd, text);
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Writes to a file descriptor that may accept nothing at the moment. */
export function writeNow(fd: number, text: string): void {
  const deadline = performance.now() + patienceMs;
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      // The terminal is gone, or accepts nothing: there is nothing to restore.
      if (errorCode(error) !== 'EAGAIN' || performance.now() > deadline) return;
      Atomics.wait(sleeper, 0, 0, retryMs);
    }
  }
}
