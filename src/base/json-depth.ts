/** Parses JSON, limiting how deeply it may be nested. */
import { parseExactly } from './exact-json.ts';

/**
 * Levels of arrays and objects. Records have about ten. The limit protects recursive code that reads and prints them.
 */
export const deepestJson = 1_000;

/**
 * The limit for requests to the local service: lower, because responses wrap the stored values in records and lists.
 */
export const deepestRequest = deepestJson - 10;

/** Recurses at most `levels` deep, so that no value can overflow the stack. */
export function isNestedDeeper(value: unknown, levels: number = deepestJson): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some(each => isNestedDeeper(each, levels - 1));
}

/**
 * Parses JSON of any depth: do not pass the result to recursive code. Undefined if the text is not JSON. Large integers
 * become raw JSON.
 */
export function parseDeepJson(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** The JSON value of a text that a user typed, or the text itself if it is not JSON. It may round a large integer. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A number's digits without leading zeros, and how many of them precede the decimal point. */
function decimalOf(text: string): readonly [digits: string, whole: number] {
  const decimal = /^0[box]/i.test(text) ? String(BigInt(text)) : text;
  const [mantissa = '', exponent = '0'] = decimal.toLowerCase().split('e');
  const [, fraction = ''] = mantissa.split('.');
  const digits = mantissa.replace('.', '').replace(/^[+-]?0*/, '');
  return [digits, digits === '' ? 0 : digits.length - fraction.length + Number(exponent)];
}

/** Whether a number is sent as typed: neither infinite, nor rounded to an integer. A fraction may lose digits. */
function isAsTyped(value: number, text: string): boolean {
  if (!Number.isInteger(value)) return Number.isFinite(value);
  const [[typed, typedWhole], [sent, sentWhole]] = [decimalOf(text), decimalOf(String(value))];
  return typedWhole === sentWhole && typed.padEnd(sent.length, '0') === sent.padEnd(typed.length, '0');
}

/** Whether a number that the user typed, alone or in JSON, would be sent as a different number. */
export function changesNumber(typed: string): boolean {
  const value = typed === '' ? Number.NaN : Number(typed);
  if (!Number.isNaN(value)) return /\d/.test(typed) && !isAsTyped(value, typed);
  let isChanged = false;
  // TypeScript does not declare the context yet.
  const look = (_key: string, item: unknown, context?: { readonly source?: string }): unknown => {
    isChanged ||= typeof item === 'number' && !isAsTyped(item, context?.source ?? '');
    return item;
  };
  try {
    JSON.parse(typed, look);
  } catch {
    // Text that is not JSON is sent unchanged.
  }
  return isChanged;
}

/** Parses JSON. Undefined if the text is not JSON, or is nested deeper than `deepestJson`. */
export function parseJson(text: string): unknown {
  const value = parseDeepJson(text);
  return isNestedDeeper(value) ? undefined : value;
}

export const isTooDeep = (text: string): boolean => isNestedDeeper(parseDeepJson(text));
