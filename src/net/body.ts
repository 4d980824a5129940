/** Reads the body of an answer as text, up to a limit. */
import { WireFailure } from './failure.ts';
import type { WireAnswer } from './wire.ts';

/** A larger error body is not more useful. */
const maxErrorBytes = 1024 * 1024;

/** The answer is larger than the call allows. */
export class BodyTooLarge extends Error {}

/** @throws BodyTooLarge, WireFailure */
export async function readBody({ headers, chunks, close }: WireAnswer, maxBytes: number): Promise<string> {
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    close();
    throw new BodyTooLarge();
  }
  // Grows in its place, and is given back at once. `Buffer.concat` would leave the pieces and the whole for the next
  // collection: after an answer of 50 MB the process holds 185 MB this way, and 255 MB that way.
  const bytes = new ArrayBuffer(0, { maxByteLength: maxBytes });
  for await (const part of chunks()) {
    const size = bytes.byteLength;
    // Counted after decompression: a small body may unpack to a huge one.
    if (size + part.byteLength > maxBytes) throw new BodyTooLarge();
    bytes.resize(size + part.byteLength);
    new Uint8Array(bytes, size).set(part);
  }
  const text = Buffer.from(bytes).toString();
  bytes.transfer(0);
  return text.replace(/^\uFEFF/, '');
}

/**
 * The body of an error, as far as it can be read; without it the status has to suffice.
 *
 * @throws WireFailure if the call was stopped
 */
export async function readErrorBody(answer: WireAnswer): Promise<string> {
  try {
    return await readBody(answer, maxErrorBytes);
  } catch (error) {
    if (error instanceof WireFailure && (error.reason === 'aborted' || error.reason === 'deadline')) throw error;
    return '';
  }
}
