/**
 * Images on the terminal, with the kitty (https://sw.kovidgoyal.net/kitty/graphics-protocol/) and iTerm2
 * (https://iterm2.com/documentation-images.html) protocols. Sends only an image's bytes, in base64. Pure.
 */
import type { Image } from '../../../present/images.ts';
import type { ImageTerminal } from '../../app/terminal-port.ts';

type Display = ImageTerminal['display'];

/** Larger images would occupy a slow line for minutes. */
const maxBytes = 20_000_000;

/** Why the terminal cannot show an image, as a sentence; undefined if it can. */
export function problemWith({ format, bytes }: Image, display: Display): string | undefined {
  if (bytes.length > maxBytes) return `Images of over ${maxBytes / 1_000_000} MB are not sent to the terminal.`;
  if (format !== 'png') return display === 'kitty' ? 'The terminal shows only PNG images.' : undefined;
  const ratio = pngRatio(bytes);
  return ratio > 0 && Number.isFinite(ratio) && bytes.includes('IEND') ? undefined : 'The image is incomplete.';
}

/** The width of a PNG image divided by its height (PNG, 11.2.2). */
function pngRatio(bytes: Buffer): number {
  return bytes.length < 24 ? Number.NaN : bytes.readUInt32BE(16) / bytes.readUInt32BE(20);
}

/** Cells are 1.8 to 2.4 times as high as wide: with this ratio, an image is never higher than expected. */
const cellRatio = 1.8;
/** Identifies the image to kitty, which keeps it until it is deleted. */
const kittyId = 1_650_811_748;
/** The longest part of an image in base64: kitty's limit, and less than iTerm2's 1 MiB per sequence. */
const longestPart = { kitty: 4_096, iterm2: 1_000_000 } as const;

/**
 * The bytes that show an image at the cursor, scaled to fit the cells with its proportions kept, and the bytes that
 * remove it where clearing the screen does not.
 */
export function imageBytes(
  { format, bytes }: Image,
  display: Display,
  room: { readonly columns: number; readonly rows: number },
): { readonly show: string; readonly remove: string } {
  const ratio = format === 'png' ? pngRatio(bytes) : Number.POSITIVE_INFINITY;
  const columns = Math.max(1, Math.min(room.columns, Math.floor(room.rows * cellRatio * ratio)));
  const base64 = bytes.toString('base64');
  if (display === 'kitty') {
    // If no rows are given, kitty keeps the proportions. With q=2 it sends no replies, which would look like keys.
    const parts = inParts(base64, longestPart.kitty);
    const sequences = parts.map((part, index) => {
      const first = index === 0 ? `a=T,f=100,i=${kittyId},C=1,c=${columns},` : '';
      return `\u001b_G${first}q=2,m=${index < parts.length - 1 ? 1 : 0};${part}\u001b\\`;
    });
    // An image that was cut off must end before the next one.
    const end = '\u001b_Gq=2,m=0;\u001b\\';
    return { show: sequences.join(''), remove: `${end}\u001b_Ga=d,d=I,i=${kittyId},q=2\u001b\\` };
  }
  const options = `inline=1;size=${bytes.length};width=${columns};height=${room.rows};preserveAspectRatio=1;doNotMoveCursor=1`;
  // WezTerm accepts any length, but does not support parts.
  if (display === 'wezterm' || base64.length <= longestPart.iterm2) {
    return { show: `\u001b]1337;File=${options}:${base64}\u0007`, remove: '' };
  }
  const parts = inParts(base64, longestPart.iterm2).map(part => `\u001b]1337;FilePart=${part}\u0007`);
  return { show: `\u001b]1337;MultipartFile=${options}\u0007${parts.join('')}\u001b]1337;FileEnd\u0007`, remove: '' };
}

function inParts(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  );
}
