/** Round numbers for an axis (Heckbert 1990, “Nice numbers for graph labels”). Pure. */

interface Range {
  readonly low: number;
  readonly high: number;
}

/** The round step nearest to `rough` from above: 1, 2 or 5 times a power of ten. */
function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const share = rough / power;
  const nice = share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10;
  return nice * power;
}

/** About `count` round values that lie in the range or just around it, in their order. */
export function ticks({ low, high }: Range, count: number): number[] {
  if (!(high > low) || count < 1) return [low];
  const step = niceStep((high - low) / count);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  // Multiplied and not added up, so that 0.3 is not 0.30000000000000004 twice over.
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toFixed(digits)));
}
