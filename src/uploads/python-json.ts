/** JSON as Python's `json` writes it: with NaN and Infinity, which are not JSON, and integers of any size. */
import { parseExactly } from '../base/exact-json.ts';

/** Stands in for NaN until the text is parsed. Models do not write this string, so no file should contain it. */
const nanMark = '\u0000NaN\u0000';

/** Matches text that may contain NaN, Infinity, or a number that overflows to it. */
const mayOverflow = /NaN|Infinity|\d[eE]\+?\d{3}|\d{309}/;

interface ReadJson {
  readonly value: unknown;
  /** How many of its numbers are NaN or infinite. `JSON.stringify` writes them as null. */
  readonly notFinite: number;
}

/** Parses JSON with Python's NaN and Infinity; large integers become raw JSON. @throws SyntaxError */
export function readJson(text: string): ReadJson {
  if (!mayOverflow.test(text)) return { value: parseExactly(text), notFinite: 0 };
  let notFinite = 0;
  const value = parseExactly(withoutNames(text), each => {
    const number = each === nanMark ? Number.NaN : each;
    if (typeof number === 'number' && !Number.isFinite(number)) notFinite += 1;
    return number;
  });
  return { value, notFinite };
}

/** Replaces NaN and Infinity outside strings with JSON that parses to them. */
function withoutNames(text: string): string {
  const parts: string[] = [];
  let from = 0;
  const next = /"|NaN|Infinity/g;
  for (let found = next.exec(text); found; found = next.exec(text)) {
    const [token] = found;
    if (token === '"') {
      next.lastIndex = endOfText(text, next.lastIndex);
      continue;
    }
    parts.push(text.slice(from, found.index), token === 'NaN' ? JSON.stringify(nanMark) : '1e999');
    from = next.lastIndex;
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)].join('');
}

/** The position after a string's closing quote. @param from the position after the opening quote */
function endOfText(text: string, from: number): number {
  const next = /["\\]/g;
  next.lastIndex = from;
  for (let found = next.exec(text); found; found = next.exec(text)) {
    if (found[0] === '"') return next.lastIndex;
    next.lastIndex += 1;
  }
  return text.length;
}
