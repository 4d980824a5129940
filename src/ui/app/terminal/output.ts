/**
 * Bytes to the terminal, by writes that never wait: a terminal that takes no more (a stopped pager of a session, a cut line)
 * must not keep the program from hearing a signal. Node itself makes writes to a terminal wait.
 */

import { writeSync } from 'node:fs';
import { errorCode } from '../../../text/errors.ts';

export interface OutputStream extends NodeJS.WritableStream {
  readonly fd: number;
  /** What decides whether writes wait. */
  readonly _handle?: { readonly setBlocking?: (on: boolean) => unknown };
}

const retryMs = 5;
/** How long the last bytes are tried for if the terminal takes none at the moment. */
const patienceMs = 100;

export class Output {
  readonly #stream: OutputStream;
  readonly #onDrained: () => void;
  #pending = 0;

  /** `onDrained` is called whenever everything written so far has been taken. */
  constructor(stream: OutputStream, onDrained: () => void) {
    this.#stream = stream;
    this.#onDrained = onDrained;
    stream._handle?.setBlocking?.(false);
  }

  /** Whether bytes wait for the terminal to take them. */
  get isBlocked(): boolean {
    return this.#pending > 0;
  }

  write(bytes: string): void {
    if (bytes === '') return;
    this.#pending += 1;
    this.#stream.write(bytes, () => {
      this.#pending -= 1;
      if (this.#pending === 0) this.#onDrained();
    });
  }

  /** Writes without the event loop, before the process ends or stops. What the terminal does not take soon is left out. */
  writeNow(text: string): void {
    writeNow(this.#stream.fd, text);
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Writes to a file descriptor that may take nothing at the moment. */
export function writeNow(fd: number, text: string): void {
  const deadline = performance.now() + patienceMs;
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      // The terminal is gone, or takes nothing: there is nothing to give back.
      if (errorCode(error) !== 'EAGAIN' || performance.now() > deadline) return;
      Atomics.wait(sleeper, 0, 0, retryMs);
    }
  }
}
