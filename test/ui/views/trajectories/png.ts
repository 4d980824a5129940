/** Blank images. */

/** The bytes that a PNG image of this size begins and ends with, `length` in all. */
export function pngOf(width: number, height: number, length: number): Buffer {
  const bytes = Buffer.alloc(length, 'x');
  bytes.write('89504e470d0a1a0a0000000d49484452', 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.write('0000000049454e44ae426082', length - 12, 'hex');
  return bytes;
}
