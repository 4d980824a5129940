/** Shares and distributions drawn with block characters. Pure. */
import { maxOf } from '../../base/many.ts';
import type { Bin } from '../../base/statistics.ts';
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

/** Bins as lines: range, bar, count. */
export function histogramLines(
  bins: readonly Bin[],
  width: number,
  format: (value: number) => string,
  theme: Theme,
): string[] {
  const most = maxOf(
    bins.map(bin => bin.count),
    1,
  );
  const ranges = bins.map(({ low, high }) => (low === high ? format(low) : `${format(low)}–${format(high)}`));
  const rangeWidth = maxOf(
    ranges.map(range => range.length),
    0,
  );
  const countWidth = String(most).length;
  const room = Math.max(4, width - rangeWidth - countWidth - 2);
  return bins.map(({ count }, index) => {
    const range = padStart(ranges[index] ?? '', rangeWidth);
    // A non-empty bin is always visible.
    const share = count === 0 ? 0 : Math.max(1 / (8 * room), count / most);
    return `${theme.styles.muted(range)} ${theme.styles.accent(bar(share, room, theme))} ${padStart(String(count), countWidth)}`;
  });
}

type Values = readonly (number | undefined)[];

/** The range that includes all values and at least 0 to 1. */
export function levelRange(values: Values): readonly [low: number, high: number] {
  return [
    values.reduce<number>((lowest, value) => Math.min(lowest, value ?? 0), 0),
    values.reduce<number>((highest, value) => Math.max(highest, value ?? 1), 1),
  ];
}

/** Reduces the list to at most `count` values: the mean of each part; undefined for a part without values. */
function thinned(values: Values, count: number): Values {
  if (values.length <= count) return values;
  return Array.from({ length: count }, (_, index) => {
    const part = values
      .slice(Math.floor((index * values.length) / count), Math.floor(((index + 1) * values.length) / count))
      .filter(value => value !== undefined);
    return part.length === 0 ? undefined : part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/**
 * All values as a sparkline of at most `width` cells, newest at the right. Its levels span at least 0 to 1, so a curve
 * keeps its true height instead of being stretched to the line. A missing value leaves its cell empty.
 *
 * @param range the span of the levels, for lines to compare
 */
export function sparkline(values: Values, width: number, { glyphs }: Theme, range = levelRange(values)): string {
  const [low, high] = range;
  const last = glyphs.levels.length - 1;
  return thinned(values, width)
    .map(value => (value === undefined ? ' ' : glyphs.levels[Math.round(((value - low) / (high - low)) * last)]))
    .join('');
}
