/** Reads a response body as text, up to a limit. */
import { setImmediate as turn } from 'node:timers/promises';
import { GrowingBytes } from '../base/growing-bytes.ts';
import { WireFailure } from './failure.ts';
import type { WireAnswer } from './wire.ts';

/** A larger error body is not more useful, nor is one that takes longer, in milliseconds. */
const maxErrorBytes = 1024 * 1024;
const maxErrorMs = 5_000;

/** How many bytes to read before handling key presses; parsing them takes a millisecond or two. */
const turnBytes = 64 * 1024;

/** The response is larger than the call allows. */
export class BodyTooLarge extends Error {}

/** Takes the bytes of a body as they arrive, and decodes its text. */
export interface BodyReader {
  readonly add: (part: Uint8Array) => void;
  readonly text: () => string;
}

function wholeText(maxBytes: number): BodyReader {
  const bytes = new GrowingBytes(maxBytes);
  return { add: part => bytes.add(part), text: () => bytes.takeText() };
}

/** How long a body may take before its progress is reported, and between two reports, in milliseconds. */
const slowMs = 5_000;

/** From this size on, the parts of a body and the values made from it decide how much memory the process needs. */
const largeBytes = 4 * 1024 * 1024;

export interface BodyReports {
  /** Called with the bytes received so far. */
  readonly onSlow: (received: number) => void;
  /** Called once. */
  readonly onLarge: () => void;
}

/** Reports a slow body and a large one while they arrive. @param now on a monotonic clock */
export function reporting(answer: WireAnswer, now: () => number, { onSlow, onLarge }: BodyReports): WireAnswer {
  const chunks = async function* () {
    let received = 0;
    let dueAt = now() + slowMs;
    for await (const part of answer.chunks()) {
      if (received <= largeBytes && received + part.byteLength > largeBytes) onLarge();
      received += part.byteLength;
      if (now() >= dueAt) {
        onSlow(received);
        dueAt = now() + slowMs;
      }
      yield part;
    }
  };
  return { ...answer, chunks };
}

/** @throws BodyTooLarge, WireFailure */
export async function readBody(
  { headers, chunks, close }: WireAnswer,
  maxBytes: number,
  reader: BodyReader = wholeText(maxBytes),
): Promise<string> {
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    close();
    throw new BodyTooLarge();
  }
  let [size, sinceTurn] = [0, 0];
  for await (const part of chunks()) {
    size += part.byteLength;
    sinceTurn += part.byteLength;
    // Counts decompressed bytes: a small body may unpack to a huge one.
    if (size > maxBytes) throw new BodyTooLarge();
    reader.add(part);
    if (sinceTurn < turnBytes) continue;
    // Node reads up to 32 parts of 64 KB from a socket before it handles anything else.
    sinceTurn = 0;
    await turn();
  }
  return reader.text().replace(/^\uFEFF/, '');
}

/**
 * The readable part of an error's body. The caller can do without it and use the status.
 *
 * @throws WireFailure if the call was stopped
 */
export async function readErrorBody(answer: WireAnswer): Promise<string> {
  const timer = setTimeout(answer.close, maxErrorMs);
  try {
    return await readBody(answer, maxErrorBytes);
  } catch (error) {
    if (error instanceof WireFailure && (error.reason === 'aborted' || error.reason === 'deadline')) throw error;
    return '';
  } finally {
    clearTimeout(timer);
  }
}
