/**
 * Binary files for models and training states: a fixed preamble, a JSON header, arrays of numbers, and a SHA-256 of
 * everything before it.
 *
 *     "BTOP" | u32 version | u32 header bytes | header (JSON, UTF-8) | arrays, each from a multiple of 4 | 32 bytes SHA-256
 *
 * The header gives the kind of file, each array's type and length, and other fields for that kind. Numbers are
 * little-endian.
 */
import { createHash } from 'node:crypto';
import { endianness } from 'node:os';
import * as z from 'zod/mini';

const magic = 0x504f5442;
const version = 1;
const preamble = 12;
const digestLength = 32;

/** The file is unusable. The message gives the reason. */
export class CorruptFileError extends Error {
  override readonly name = 'CorruptFileError';
}

type NumberArray = Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

const headerShape = z.object({
  kind: z.string(),
  arrays: z.array(z.object({ name: z.string(), type: z.enum(['f32', 'u32']), length: z.int().check(z.gte(0)) })),
  about: z.unknown(),
});

const align = (length: number): number => Math.ceil(length / 4) * 4;

/**
 * Packs arrays of numbers and the JSON `about` into bytes that {@link unpack} reads. Equal content gives equal bytes.
 */
export function pack(
  kind: string,
  about: unknown,
  arrays: Readonly<Record<string, Float32Array | Uint32Array>>,
): Uint8Array<ArrayBuffer> {
  if (endianness() !== 'LE') throw new Error('Models can be written on little-endian machines only.');
  const entries = Object.entries(arrays);
  const header = new TextEncoder().encode(
    JSON.stringify({
      kind,
      arrays: entries.map(([name, array]) => ({
        name,
        type: array instanceof Float32Array ? 'f32' : 'u32',
        length: array.length,
      })),
      about,
    }),
  );
  const body = entries.reduce((sum, [, array]) => sum + array.byteLength, 0);
  const bytes = new Uint8Array(preamble + align(header.length) + body + digestLength);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, magic, true);
  view.setUint32(4, version, true);
  view.setUint32(8, header.length, true);
  bytes.set(header, preamble);
  let at = preamble + align(header.length);
  for (const [, array] of entries) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  bytes.set(createHash('sha256').update(bytes.subarray(0, at)).digest(), at);
  return bytes;
}

/** A file's unpacked content. */
interface Unpacked {
  readonly about: unknown;
  /** @throws CorruptFileError if the file has no such array of this type */
  floats: (name: string) => Float32Array<ArrayBuffer>;
  /** @throws CorruptFileError if the file has no such array of this type */
  counts: (name: string) => Uint32Array<ArrayBuffer>;
}

/** @throws CorruptFileError if the bytes are of another kind or version, cut off, or changed */
export function unpack(kind: string, file: Uint8Array): Unpacked {
  if (file.length < preamble + digestLength)
    throw new CorruptFileError(`The file is cut off: ${file.length} bytes are too few for a ${kind}.`);
  // A copy starts at offset 0, as typed arrays need.
  const bytes = Uint8Array.from(file);
  const view = new DataView(bytes.buffer);
  if (view.getUint32(0, true) !== magic)
    throw new CorruptFileError(`The file is not a ${kind}: it begins with other bytes.`);
  if (view.getUint32(4, true) !== version)
    throw new CorruptFileError(
      `The file is a ${kind} of version ${view.getUint32(4, true)}; this program reads version ${version}.`,
    );
  const end = bytes.length - digestLength;
  const digest = createHash('sha256').update(bytes.subarray(0, end)).digest();
  if (!digest.equals(bytes.subarray(end)))
    throw new CorruptFileError(`The ${kind} is damaged or cut off: its SHA-256 does not match.`);
  const header = headerOf(bytes, view.getUint32(8, true), kind);
  const found = new Map<string, NumberArray>();
  let at = preamble + align(view.getUint32(8, true));
  for (const { name, type, length } of header.arrays) {
    if (at + length * 4 > end) throw new CorruptFileError(`The ${kind} ends before the end of its array ${name}.`);
    found.set(
      name,
      type === 'f32' ? new Float32Array(bytes.buffer, at, length) : new Uint32Array(bytes.buffer, at, length),
    );
    at += length * 4;
  }
  const missing = (name: string): CorruptFileError => new CorruptFileError(`The ${kind} has no array ${name}.`);
  return {
    about: header.about,
    floats: name => {
      const array = found.get(name);
      if (array instanceof Float32Array) return array;
      throw missing(name);
    },
    counts: name => {
      const array = found.get(name);
      if (array instanceof Uint32Array) return array;
      throw missing(name);
    },
  };
}

function headerOf(bytes: Uint8Array, length: number, kind: string): z.output<typeof headerShape> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes.subarray(preamble, preamble + length)));
  } catch {
    throw new CorruptFileError(`The header of the ${kind} cannot be read.`);
  }
  const header = headerShape.safeParse(json);
  if (!header.success) throw new CorruptFileError(`The header of the ${kind} is incomplete.`);
  if (header.data.kind !== kind) throw new CorruptFileError(`The file is a ${header.data.kind}, not a ${kind}.`);
  return header.data;
}
