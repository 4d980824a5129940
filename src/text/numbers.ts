/** Numbers for people to read. A missing number is always the word `none`; 0 is always `0`. */

type Maybe = number | null | undefined;

export const none = 'none';

function isMissing(value: Maybe): value is null | undefined {
  return value === null || value === undefined || Number.isNaN(value);
}

/**
 * Scales `value` to the first unit in which it stays below `base` after rounding, so that 999,950 becomes 1M, never
 * 1000k.
 */
function scaled(value: number, base: number, units: readonly string[]): { text: string; unit: string } {
  let size = Math.abs(value);
  let unit = 0;
  const rounded = (): string => (unit === 0 || size >= 9.95 ? size.toFixed(0) : size.toFixed(1).replace(/\.0$/, ''));
  while (Number(rounded()) >= base && unit < units.length - 1) {
    size /= base;
    unit++;
  }
  return { text: `${value < 0 ? '-' : ''}${rounded()}`, unit: units[unit] ?? '' };
}

/** A count from the service; undefined if it is missing or negative. */
export const countOf = (value: Maybe): number | undefined => (isMissing(value) || value < 0 ? undefined : value);

/** A count in at most four characters plus a suffix: `999`, `1.2k`, `12k`, `3.4M`. */
export function count(value: Maybe): string {
  if (isMissing(value)) return none;
  if (!Number.isFinite(value)) return infinitySign(value);
  // A fractional count is not rounded to an integer, which would hide the service's mistake.
  if (!Number.isInteger(value) && Math.abs(value) < 1_000) return String(Number(value.toPrecision(3)));
  const { text, unit } = scaled(value, 1_000, ['', 'k', 'M', 'G', 'T', 'P']);
  return text + unit;
}

/** A count with its noun, in full: `1 file`, `1200 files`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${asReceived(value)} ${value === 1 ? one : many}`;
}

/** An amount of data in binary units: `512 B`, `1.2 KiB`, `12 MiB`. */
export function bytes(value: Maybe): string {
  if (isMissing(value)) return none;
  if (!Number.isFinite(value)) return infinitySign(value);
  const { text, unit } = scaled(value, 1_024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
  return `${text} ${unit}`;
}

/**
 * A reward to three significant digits: `0.417`, `0.500`, `12.3`, `1.00`; `0` for exactly 0 and nothing else, `none`
 * for a missing one. Very small and very large rewards get an exponent. A value just short of the end of a scale gets
 * more digits, so that it does not look like the end: `0.9996`.
 */
export function reward(value: Maybe): string {
  if (isMissing(value)) return none;
  return significant(value);
}

/** A difference with its sign: `+0.120`, `-3.00`, `0`. */
export function difference(value: Maybe): string {
  if (isMissing(value)) return none;
  return value > 0 ? `+${significant(value)}` : significant(value);
}

/** A difference with the fewest digits such that `holds` accepts the displayed number: `+0.3196`. */
export function differenceUntil(value: number, holds: (shown: number) => boolean): string {
  let digits = 3;
  while (digits < 17 && !holds(Number(significant(value, digits)))) digits += 1;
  return `${value > 0 ? '+' : ''}${significant(value, digits)}`;
}

/** Numbers at which scales begin or end, after rounding: up to 10, and 100. */
const endOfScale = /^-?(?:\d\.0+|10\.0+|100(?:\.0+)?)$/;

/**
 * Sums of fractions and clamped correlations miss the end of a scale by less than this; one rollout in 50,000, by more.
 */
const noise = 2e-5;

function significant(value: number, digits: number = 3): string {
  if (value === 0) return '0';
  if (!Number.isFinite(value)) return infinitySign(value);
  const size = Math.abs(value);
  if (size < 0.001 || size >= 999_999.5) return value.toExponential(digits - 1).replace('e+', 'e');
  if (size >= 999.5) return value.toFixed(digits - 3);
  const text = value.toPrecision(digits);
  const isCutToEnd = endOfScale.test(text) && Math.abs(value - Number(text)) > noise;
  return isCutToEnd ? significant(value, digits + 1) : text;
}

/**
 * A share (0 to 1) in percent: `12.3%`, `0%`, `100%`. A share that would round to 0 or 100% shows as `<0.1%` or
 * `>99.9%`; just below zero, as `>-0.1%`.
 */
export function percent(share: Maybe): string {
  if (isMissing(share)) return none;
  if (!Number.isFinite(share)) return infinitySign(share);
  if (share > 0 && share < 0.000_5) return '<0.1%';
  if (share < 0 && share > -0.000_5) return '>-0.1%';
  if (share >= 0.999_5 && share < 1) return '>99.9%';
  return `${(share * 100).toFixed(1).replace(/\.0$/, '')}%`;
}

/**
 * A range such as `0..1` or `-1..1`, the lower number first; undefined for anything else, including numbers so large
 * that their sums and squares may overflow.
 */
export function parseRange(text: string): readonly [low: number, high: number] | undefined {
  const limits = text.split('..').map(limit => (limit.trim() === '' ? Number.NaN : Number(limit)));
  const [low = Number.NaN, high = Number.NaN] = limits;
  const range = [low, high] as const;
  const isUsable = (limit: number): boolean => Math.abs(limit) <= 1e100;
  return limits.length === 2 && range.every(isUsable) && low < high ? range : undefined;
}

/** A price's currency, and the number of tokens that it is for. */
export interface PriceUnit {
  readonly currency: string;
  readonly tokens: number;
}

const multiples = new Map([
  ['', 1],
  ['k', 1e3],
  ['m', 1e6],
]);

/** Parses `USD per 1M tokens` or `$/1000`; undefined for any other text. */
export function parsePriceUnit(text: string): PriceUnit | undefined {
  const parts = /^([^\s\d/]{1,5}) ?(?:\/|per) ?(\d{1,9}) ?([km]?)(?: ?tokens?)?$/i.exec(text.trim());
  if (!parts) return undefined;
  const [, currency = '', count = '', factor = ''] = parts;
  const tokens = Number(count) * (multiples.get(factor.toLowerCase()) ?? 1);
  return tokens > 0 ? { currency, tokens } : undefined;
}

/** `$4.10`, `4.10 USD`; two significant digits below a cent. */
export function money(amount: number, currency: string): string {
  const digits = amount !== 0 && amount < 0.01 ? amount.toPrecision(2) : amount.toFixed(2);
  const text = amount < 1_000 ? digits : Math.round(amount).toLocaleString('en');
  return /^\p{L}/u.test(currency) ? `${text} ${currency}` : `${currency}${text}`;
}

/** A value as unchanged text. A JSON number too large for a double (`1e999`) shows as `∞`. */
export function asReceived(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return infinitySign(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function infinitySign(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '∞' : '-∞';
}
