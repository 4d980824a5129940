/** Reads a whole answer, up to a limit, and makes JSON of it. */
import { type WireAnswer, WireFailure } from './http.ts';

/** An error body larger than this says nothing that a smaller one could not. */
const maxErrorBytes = 1024 * 1024;

/** The answer is larger than the call allows. */
export class BodyTooLarge extends Error {}

/** @throws BodyTooLarge, WireFailure */
export async function readBody({ headers, chunks, close }: WireAnswer, maxBytes: number): Promise<string> {
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    close();
    throw new BodyTooLarge();
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of chunks()) {
    size += part.byteLength;
    // Counted after decompression: a small body may unpack to a huge one.
    if (size > maxBytes) throw new BodyTooLarge();
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts, size));
}

/**
 * The body of an error, as far as it can be read: where it cannot, the status says enough.
 *
 * @throws WireFailure where the call was stopped
 */
export async function readErrorBody(answer: WireAnswer): Promise<string> {
  try {
    return await readBody(answer, maxErrorBytes);
  } catch (error) {
    if (error instanceof WireFailure && (error.fault === 'aborted' || error.fault === 'deadline')) throw error;
    return '';
  }
}

/** The value of a JSON text, or undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
