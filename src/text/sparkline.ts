/** A curve as one line of text. Pure. */

type Values = readonly (number | undefined)[];

/** From lowest to highest. */
export const blockLevels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** A range that includes all values and at least 0 to 1. */
export function levelRange(values: Values): readonly [low: number, high: number] {
  return [
    values.reduce<number>((lowest, value) => Math.min(lowest, value ?? 0), 0),
    values.reduce<number>((highest, value) => Math.max(highest, value ?? 1), 1),
  ];
}

/** Reduces the list to at most `count` values: each is the mean of one part, or undefined if the part has no values. */
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
 * All values as a sparkline of at most `width` cells, newest on the right. Its levels span at least 0 to 1, so a curve
 * keeps its true height instead of being stretched to the line. A missing value leaves its cell empty.
 *
 * @param levels the characters, from lowest to highest
 * @param range the span of the levels; the same for lines that are to be compared
 */
export function sparkline(
  values: Values,
  width: number,
  levels: readonly string[] = blockLevels,
  range = levelRange(values),
): string {
  const [low, high] = range;
  const last = levels.length - 1;
  return thinned(values, width)
    .map(value => (value === undefined ? ' ' : levels[Math.round(((value - low) / (high - low)) * last)]))
    .join('');
}
