/** Images as escape sequences. */
import { expect, it } from 'vitest';
import { imageBytes, problemWith } from '../../../../src/ui/views/trajectories/terminal-image.ts';
import { pngOf } from './png.ts';

const room = { columns: 100, rows: 20 };
const png = (width: number, height: number, length = 100) => ({ format: 'png', bytes: pngOf(width, height, length) });
const jpeg = { format: 'jpg', bytes: Buffer.from('ffd8ffe000', 'hex') };

it('sends kitty a PNG in chunks of 4096, without replies, and deletes it', () => {
  const image = png(640, 480, 9_000);
  const { show, remove } = imageBytes(image, 'kitty', room);
  const parts = [...show.matchAll(/\u001b_G([^;]*);([^\u001b]*)\u001b\\/g)];
  expect(parts.map(([whole]) => whole).join('')).toBe(show);
  expect(parts.map(([, keys]) => keys)).toEqual(['a=T,f=100,i=1650811748,C=1,c=48,q=2,m=1', 'q=2,m=1', 'q=2,m=0']);
  expect(parts.map(([, , part = '']) => part.length)).toEqual([4_096, 4_096, 3_808]);
  expect(Buffer.from(parts.map(([, , part]) => part).join(''), 'base64').equals(image.bytes)).toBe(true);
  expect(remove).toBe('\u001b_Gq=2,m=0;\u001b\\\u001b_Ga=d,d=I,i=1650811748,q=2\u001b\\');
});

it.each([
  [1_000, 100, 100],
  [100, 100, 36],
  [100, 1_000, 3],
  [1, 10_000, 1],
])('fits an image of %i × %i pixels into %i columns, for any ratio of the cells', (width, height, columns) => {
  expect(imageBytes(png(width, height), 'kitty', room).show).toContain(`,c=${columns},`);
});

it.each(['iterm2', 'wezterm'] as const)('sends %s an image of any format in one sequence', display => {
  const { show, remove } = imageBytes(jpeg, display, room);
  expect(show).toBe(
    '\u001b]1337;File=inline=1;size=5;width=100;height=20;preserveAspectRatio=1;doNotMoveCursor=1:/9j/4AA=\u0007',
  );
  expect(remove).toBe('');
  expect(imageBytes(png(100, 100), display, room).show).toContain(';width=36;height=20;');
});

it('sends iTerm2 a long image in chunks, as it drops sequences of over 1 MiB', () => {
  const image = png(640, 480, 2_000_000);
  const { show } = imageBytes(image, 'iterm2', room);
  const [first, ...rest] = show.split('\u0007').map(sequence => sequence.replace('\u001b]1337;', ''));
  expect(first).toMatch(/^MultipartFile=inline=1;size=2000000;/);
  expect(rest.splice(-2)).toEqual(['FileEnd', '']);
  const parts = rest.map(sequence => /^FilePart=(.*)$/.exec(sequence)?.[1] ?? '');
  expect(parts.map(part => part.length)).toEqual([1_000_000, 1_000_000, 666_668]);
  expect(Buffer.from(parts.join(''), 'base64').equals(image.bytes)).toBe(true);
  expect(imageBytes(image, 'wezterm', room).show).toMatch(/^\u001b\]1337;File=[^:]*:[\w+/]+=\u0007$/);
});

it.each([
  [png(640, 480), 'kitty', undefined],
  [jpeg, 'iterm2', undefined],
  [jpeg, 'kitty', 'The terminal shows only PNG images.'],
  [png(640, 480, 20_000_001), 'wezterm', 'Images of over 20 MB are not sent to the terminal.'],
  [png(0, 480), 'iterm2', 'The image is incomplete.'],
  [png(640, 0), 'iterm2', 'The image is incomplete.'],
  [{ format: 'png', bytes: pngOf(640, 480, 100).subarray(0, 20) }, 'iterm2', 'The image is incomplete.'],
  [{ format: 'png', bytes: pngOf(640, 480, 100).subarray(0, 90) }, 'iterm2', 'The image is incomplete.'],
] as const)('says why the terminal cannot show an image', (image, display, problem) => {
  expect(problemWith(image, display)).toBe(problem);
});
