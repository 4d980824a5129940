/** Reads the entries of a ZIP file (PKWARE's APPNOTE 6.3.9): stored, deflated, or compressed with Zstandard. */
import type { FileHandle } from 'node:fs/promises';
import { crc32, inflateRawSync, zstdDecompressSync } from 'node:zlib';

const signatures = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const;
const endBytes = 22;
const longestComment = 65_535;
const centralBytes = 46;
const localBytes = 30;
/** Maximum size of an entry in bytes. */
const largestEntry = 128 * 1024 * 1024;
const zip64 = 0xffff_ffff;

export interface ZipEntry {
  readonly name: string;
  /** The approximate position of its compressed content in the file. */
  readonly start: number;
  readonly end: number;
  /** @throws Error if it is damaged, too large, or compressed with another method */
  readonly read: () => Promise<Buffer>;
}

export function isZip(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 4)).toString('latin1') === 'PK\u0003\u0004';
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead < length) throw new Error('The ZIP file is cut off');
  return buffer;
}

/**
 * The entries in the file's directory, in order. Of several with the same name, the last counts: programs append it.
 *
 * @throws Error if it is not a complete ZIP file
 */
export async function zipEntries(file: FileHandle): Promise<readonly ZipEntry[]> {
  const { size } = await file.stat();
  const tail = await bytesAt(
    file,
    Math.max(0, size - endBytes - longestComment),
    Math.min(size, endBytes + longestComment),
  );
  let end = tail.length - endBytes;
  while (end >= 0 && tail.readUInt32LE(end) !== signatures.end) end -= 1;
  if (end < 0) throw new Error('The ZIP file has no end: it is cut off');
  const [length, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (start === zip64 || length > size) throw new Error('ZIP files of more than 4 GB cannot be read');
  const directory = await bytesAt(file, start, length);
  const entries = new Map<string, ZipEntry>();
  for (let at = 0; at + centralBytes <= directory.length; ) {
    if (directory.readUInt32LE(at) !== signatures.central) throw new Error('The directory of the ZIP file is damaged');
    const method = directory.readUInt16LE(at + 10);
    const checksum = directory.readUInt32LE(at + 16);
    const packed = directory.readUInt32LE(at + 20);
    const whole = directory.readUInt32LE(at + 24);
    const nameEnd = at + centralBytes + directory.readUInt16LE(at + 28);
    const name = directory.toString('utf8', at + centralBytes, nameEnd);
    const offset = directory.readUInt32LE(at + 42);
    const range = { start: offset, end: offset + packed };
    entries.set(name, {
      name,
      ...range,
      read: () => contentOf(file, { method, checksum, packed, whole, offset, name }),
    });
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return [...entries.values()];
}

interface Place {
  readonly name: string;
  readonly method: number;
  readonly checksum: number;
  readonly packed: number;
  readonly whole: number;
  readonly offset: number;
}

async function contentOf(file: FileHandle, place: Place): Promise<Buffer> {
  const content = await unpackedOf(file, place);
  if (content.length !== place.whole || crc32(content) !== place.checksum) throw new Error(`${place.name} is damaged`);
  return content;
}

async function unpackedOf(file: FileHandle, { name, method, packed, whole, offset }: Place): Promise<Buffer> {
  if (packed > largestEntry || whole > largestEntry) throw new Error(`${name} is larger than 128 MB`);
  const head = await bytesAt(file, offset, localBytes);
  if (head.readUInt32LE(0) !== signatures.local) throw new Error(`${name} is damaged`);
  const bytes = await bytesAt(file, offset + localBytes + head.readUInt16LE(26) + head.readUInt16LE(28), packed);
  const limit = { maxOutputLength: largestEntry };
  if (method === 0) return bytes;
  if (method === 8) return inflateRawSync(bytes, limit);
  if (method === 93) return zstdDecompressSync(bytes, limit);
  throw new Error(`${name} uses an unknown compression method (${method})`);
}
