/** Round numbers for axes and bins (Heckbert 1990, “Nice numbers for graph labels”). */

/** Multiplied by a power of ten. */
const mantissas = { standard: [1, 2, 5, 10], quarters: [1, 2, 2.5, 5, 10] } as const;
/** Steps such as 0.1 + 0.2 count as equal despite rounding errors. */
const tolerance = 1e-9;

/** The fewest decimals that distinguish the multiples of a round step. */
export function decimalsOf(step: number): number {
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + tolerance));
  const digits = step * 10 ** decimals;
  return Math.abs(digits - Math.round(digits)) > tolerance ? decimals + 1 : decimals;
}

/**
 * The smallest round step that is at least `atLeast` (above 0): 1, 2 or 5 times a power of ten; with `quarters` also
 * 2.5.
 */
export function roundStep(atLeast: number, { quarters = false } = {}): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  const mantissa =
    mantissas[quarters ? 'quarters' : 'standard'].find(each => each * power >= atLeast * (1 - tolerance)) ?? 10;
  return mantissa === 2.5 ? multipleOf(power / 10, 25) : multipleOf(power, mantissa);
}

/** A whole number of round steps, without binary rounding errors: 0.3, not 0.30000000000000004. */
export function multipleOf(step: number, count: number): number {
  return Number((step * count).toFixed(Math.min(100, decimalsOf(step))));
}

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Spans up to this size cannot be divided. */
const narrowest = 1e-200;

/** Widens a range around its middle until it spans at least this share of its greatest absolute value. */
export function widened({ low, high }: Range, share: number): Range {
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > Math.max(narrowest, size * share)) return { low, high };
  const margin = size > narrowest ? size * Math.max(share / 2, 0.05) : 1;
  const middle = (low + high) / 2;
  return { low: middle - margin, high: middle + margin };
}

/** The minimum span of a y axis, as a share of its greatest value; otherwise rounding noise would fill the height. */
export const minSpan = 0.01;
