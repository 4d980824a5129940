/** Shares and distributions drawn with block characters. Pure. */
import { largestOf } from '../../base/many.ts';
import { type Bin, binLabels } from '../../base/statistics.ts';
import { padEnd, padStart } from '../../text/width.ts';
import type { Theme } from './theme/theme.tsx';

/** A bar of `width` cells, filled to `share` (0 to 1) in eighths of a cell. */
export function bar(share: number, width: number, { glyphs }: Theme): string {
  const filled = Math.max(0, Math.min(1, share)) * width;
  const whole = Math.floor(filled);
  const part = Math.floor((filled - whole) * 8);
  const edge = whole < width && part > 0 ? (glyphs.eighths[part - 1] ?? '') : '';
  return padEnd(glyphs.full.repeat(whole) + edge, width);
}

/** A bar with its track, for progress. */
export function progressBar(share: number, width: number, theme: Theme): string {
  const { glyphs } = theme;
  const whole = Math.round(Math.max(0, Math.min(1, share)) * width);
  return theme.styles.accent(glyphs.full.repeat(whole)) + theme.styles.muted(glyphs.empty.repeat(width - whole));
}

/** Bins as lines, each with a range, a bar and a count. */
export function histogramLines(
  bins: readonly Bin[],
  width: number,
  format: (value: number) => string,
  theme: Theme,
): string[] {
  const most = Math.max(
    1,
    largestOf(bins, bin => bin.count),
  );
  const ranges = binLabels(bins, format);
  const rangeWidth = largestOf(ranges, range => range.length);
  const countWidth = String(most).length;
  const room = Math.max(4, width - rangeWidth - countWidth - 2);
  return bins.map(({ count }, index) => {
    const range = padStart(ranges[index] ?? '', rangeWidth);
    // A non-empty bin is always visible.
    const share = count === 0 ? 0 : Math.max(1 / (8 * room), count / most);
    return `${theme.styles.muted(range)} ${theme.styles.accent(bar(share, room, theme))} ${padStart(String(count), countWidth)}`;
  });
}
