/** Compares texts with a model's answer, and finds numbers in it. */
import { trimEnd } from '../base/trim.ts';

/** Normalising takes quadratic time for a long run of combining marks. No language has more than a few in a row. */
const longRunOfMarks = /\p{M}{31}/u;

/** Unicode's composed form in lower case, with plain quotes and dashes. */
function folded(text: string): string {
  const composed = longRunOfMarks.test(text) ? text : text.normalize('NFC');
  return composed
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[‐‑–−]/g, '-');
}

/** The text without case, surrounding space and final full stops, unless it has nothing else. */
export function bare(text: string): string {
  const whole = folded(text).trim();
  return trimEnd(whole, '.!。！').trim() || whole;
}

/** The text for `placeIn`. */
export const spaced = (text: string): string => folded(text).replace(/\s+/g, ' ').trim();

/** Chinese, Japanese, Thai and the like write no space between words; Korean adds particles to them. */
const unspaced = ['Han', 'Hira', 'Kana', 'Bopo', 'Hang', 'Thai', 'Laoo', 'Khmr', 'Mymr'];
const letter = String.raw`[[\p{L}\p{N}\p{M}]--[${unspaced.map(script => String.raw`\p{scx=${script}}`).join('')}]]`;
const atWord = new RegExp(letter, 'vy');
const afterWord = new RegExp(`(?<=${letter})`, 'vy');

function matchesAt(expression: RegExp, text: string, at: number): boolean {
  expression.lastIndex = at;
  return expression.test(text);
}

/**
 * Where the expected text occurs in the answer; -1 if it does not. Where it begins or ends with a word, the answer's
 * word must begin or end there too. Both are `spaced`.
 */
export function placeIn(answer: string, expected: string): number {
  const beginsWord = matchesAt(atWord, expected, 0);
  const endsWord = matchesAt(afterWord, expected, expected.length);
  for (let at = answer.indexOf(expected); at >= 0; at = answer.indexOf(expected, at + 1)) {
    const end = at + expected.length;
    const isInside = (beginsWord && matchesAt(afterWord, answer, at)) || (endsWord && matchesAt(atWord, answer, end));
    if (!isInside) return at;
  }
  return -1;
}

/** The words in lower case. */
export const wordsIn = (text: string): string[] => folded(text).match(/\p{L}+/gu) ?? [];

/**
 * A number such as -5, .5, 1,234.5 or 1e3. A hyphen inside a word is not a sign. Commas separate thousands only if all
 * groups have three digits.
 */
const number =
  /(?:(?<![\p{L}\p{N}])-)?(?:[1-9]\d{0,2}(?:,\d{3}(?!\d)){1,9}(?!(?:\.\d+)?,\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\p{L}\p{N}.])\.\d+)(?:e[+-]?\d{1,3}(?![\p{L}\p{N}]))?/u;

/** The bracket of a list; \[ begins a formula. */
const listBegins = /(?<!\\)\[\s?$/;

/** The readings of the first number in a text. In brackets, its commas may also separate the numbers of a list. */
export function numbersIn(text: string): readonly string[] {
  const found = number.exec(folded(text));
  if (!found) return [];
  const { 0: whole, index, input } = found;
  const isListed = listBegins.test(input.slice(Math.max(0, index - 3), index));
  return isListed && whole.includes(',') ? [whole.replace(/,.*/u, ''), whole] : [whole];
}
