/**
 * Fuzzy matching like fzf's v1 algorithm: finds a term's letters in order from the left, then narrows the match from
 * the right; scores word starts and consecutive letters. Linear in the length of the text.
 */

/** Bounds in UTF-16 units, the end exclusive; in order, without overlap. */
export type Range = readonly [start: number, end: number];

interface FuzzyMatch {
  /** Higher is better; comparable only between matches for the same query. */
  readonly score: number;
  readonly ranges: readonly Range[];
}

const points = { letter: 16, row: 8, wordStart: 10, textStart: 14, gapStart: -3, gap: -1 };
/** Longer texts are matched only up to this length. */
const maximumLength = 2_000;

function termsOf(query: string, exact: boolean): readonly string[] {
  return (exact ? query : foldCase(query)).split(/\s+/).filter(term => term !== '');
}

/** Has the same indexes as the text. */
function subjectOf(text: string, exact: boolean): string {
  const subject = text.slice(0, maximumLength);
  return exact ? subject : foldCase(subject);
}

/** Checks many texts for every word of `query` as a subsequence; smart case: capitals in the query must match. */
export function fuzzyFilter(query: string): (text: string) => boolean {
  const exact = hasCapitals(query);
  const terms = termsOf(query, exact);
  return text => {
    const subject = subjectOf(text, exact);
    return terms.every(term => endOf(term, subject) >= 0);
  };
}

/** Where and how well `query` matches, or undefined if it does not. */
export function fuzzyMatch(query: string, text: string): FuzzyMatch | undefined {
  const exact = hasCapitals(query);
  const subject = subjectOf(text, exact);
  let score = 0;
  let hits: readonly number[] = [];
  for (const term of termsOf(query, exact)) {
    const found = matchTerm(term, subject);
    if (!found) return undefined;
    score += scoreOf(found, text);
    hits = hits.length === 0 ? found : [...new Set([...hits, ...found])].sort((a, b) => a - b);
  }
  return { score, ranges: toRanges(hits) };
}

/** The matching candidates, best first. If scores are equal, shorter ones come first. An empty query keeps all. */
export function fuzzyRank<T>(
  query: string,
  candidates: readonly T[],
  textOf: (candidate: T) => string,
): { item: T; score: number; ranges: readonly Range[] }[] {
  const ranked = candidates.flatMap(item => {
    const text = textOf(item);
    const match = fuzzyMatch(query, text);
    return match ? [{ item, length: text.length, ...match }] : [];
  });
  if (query.trim() !== '') ranked.sort((a, b) => b.score - a.score || a.length - b.length);
  return ranked.map(({ item, score, ranges }) => ({ item, score, ranges }));
}

/** Smart case: a query without capitals ignores case. */
export function hasCapitals(query: string): boolean {
  return /\p{Lu}/u.test(query);
}

/** Folds unit by unit if lower-casing the whole text would change its length (`İ`), so that indexes stay valid. */
function foldCase(text: string): string {
  const folded = text.toLowerCase();
  if (folded.length === text.length) return folded;
  return Array.from(text, character => {
    const lower = character.toLowerCase();
    return lower.length === character.length ? lower : character;
  }).join('');
}

/** The first index at which all letters of the term have been found in order; -1 if they are not. */
function endOf(term: string, subject: string): number {
  let end = -1;
  for (const letter of term) {
    end = subject.indexOf(letter, end + 1);
    if (end < 0) break;
  }
  return end;
}

/** The indexes of the term's letters, ascending. */
function matchTerm(term: string, subject: string): readonly number[] | undefined {
  // A whole occurrence beats scattered letters at any position.
  const whole = subject.indexOf(term);
  if (whole >= 0) return Array.from({ length: term.length }, (_, i) => whole + i);
  let at = endOf(term, subject);
  if (at < 0) return undefined;
  // Going backwards, take the latest index of each letter, which gives the shortest match.
  const hits: number[] = [];
  for (const letter of Array.from(term).reverse()) {
    at = subject.lastIndexOf(letter, at);
    if (letter.length === 2) hits.push(at + 1);
    hits.push(at);
    at--;
  }
  return hits.reverse();
}

function scoreOf(hits: readonly number[], text: string): number {
  let score = 0;
  let previous = -2;
  for (const at of hits) {
    score += points.letter;
    if (at === 0) score += points.textStart;
    else if (isWordStart(text, at)) score += points.wordStart;
    if (at === previous + 1) score += points.row;
    else if (previous >= 0) score += points.gapStart + points.gap * Math.min(20, at - previous - 2);
    previous = at;
  }
  return score;
}

function isWordStart(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  if (!/[\p{L}\p{N}]/u.test(before)) return true;
  return /\p{Ll}/u.test(before) && /\p{Lu}/u.test(text.charAt(at));
}

function toRanges(hits: readonly number[]): Range[] {
  const ranges: [number, number][] = [];
  for (const at of hits) {
    const last = ranges.at(-1);
    if (last?.[1] === at) last[1] = at + 1;
    else ranges.push([at, at + 1]);
  }
  return ranges;
}
