/**
 * A search within lines: words and "phrases" that must all be in one line, or a regular expression `/re/`. A word or
 * expression with capitals is case-sensitive, as in filters.
 */
import { lastAt } from '../base/binary-search.ts';
import { type Cut, compileExpression, ExpressionError } from '../base/expression.ts';
import { withinCpuTime } from '../base/time-limit.ts';
import { hasCapitals, type Range } from './fuzzy.ts';
import { expandTabs } from './width.ts';

export interface LineSearch {
  readonly ok: true;
  /** Words that every match contains, ignoring case; the list for an expression may be incomplete or empty. */
  readonly words: readonly string[];
  /** The text that the reader highlights: the expression, or the first word. */
  readonly highlighted: string;
  /** Finds the matching lines of each text, in order. @throws ExpressionError if the expression takes too long */
  readonly matchesIn: (texts: readonly SearchedText[]) => readonly (readonly LineMatch[])[];
}

interface SearchedText {
  readonly body: string;
  /** The lines that are pieces of longer ones. */
  readonly cuts?: ReadonlyMap<number, LineCut> | undefined;
}

/** Where a line's shown form was cut, and where its hidden form; null for a form that is whole. */
export type LineCut = readonly [shown: Cut | null, hidden: Cut | null];

/** A matching line: its index, and the range of its first match. Folding case may make the range longer than the line. */
export interface LineMatch {
  readonly line: number;
  /** Within the form that matches. */
  readonly range: Range;
  /** Set if only the line's hidden form matches. */
  readonly isHidden?: boolean;
}

/** Precedes a line's hidden form. No shown text has a carriage return. */
export const hiddenMark = '\r';

/** A line as it is shown, and as it was received, if that has more text. */
export function formsOf(line: string): readonly [shown: string, hidden?: string] {
  const end = line.indexOf(hiddenMark);
  return end < 0 ? [line] : [line.slice(0, end), line.slice(end + 1)];
}

const whole = (line: string): string => line;
const shownForm = (line: string): string => formsOf(line)[0];

interface SearchError {
  readonly ok: false;
  /** One sentence for the user; as safe for a terminal as the input. */
  readonly error: string;
}

/** As in the reader. */
export const tabStop = 4;
/** In characters. */
export const longestSearch = 1_000;
/** CPU limit for an expression in milliseconds, over all texts in a call. */
const expressionBudget = 100;

export function parseLineSearch(input: string): LineSearch | SearchError {
  // A match is always within one line.
  const text = input.replaceAll('\n', ' ').trim();
  if (text.length > longestSearch)
    return { ok: false, error: `This search is too long: the limit is ${longestSearch} characters.` };
  const expression = /^\/((?:[^\\]|\\.)+)\/(i?)$/su.exec(text);
  if (expression) return expressionSearch(text, expression[1] ?? '', expression[2] === 'i');
  const words = [...text.matchAll(/"([^"]+)"?|([^\s"]+)/g)].map(([, phrase, word]) => phrase ?? word ?? '');
  const [first] = words;
  if (first === undefined) return { ok: false, error: 'Type words, a "phrase", or /an expression/.' };
  const wanted = words.map(word => ({ isExact: hasCapitals(word), word: hasCapitals(word) ? word : foldCase(word) }));
  const find = asShown(/ /.test(words.join('')), each => matchWords(each, wanted));
  return {
    ok: true,
    words,
    highlighted: first,
    matchesIn: texts => texts.map(({ body }) => find(body)),
  };
}

type Find = (text: string) => readonly LineMatch[];

/** Matches lines as they are, or else, if the search has spaces, with those that the reader shows for tabs. */
const asShown =
  (hasSpaces: boolean, find: Find): Find =>
  text => {
    const found = find(text);
    if (!hasSpaces || !text.includes('\t')) return found;
    const known = new Set(found.map(({ line }) => line));
    const shown = find(expandTabs(text, tabStop)).filter(({ line }) => !known.has(line));
    if (shown.length === 0) return found;
    const lines = text.split('\n');
    const others = shown.map(({ range: [from, to], ...match }): LineMatch => {
      const form = formsOf(lines[match.line] ?? '')[match.isHidden ? 1 : 0] ?? '';
      return { ...match, range: [beforeTabs(form, from), beforeTabs(form, to)] };
    });
    return [...found, ...others].toSorted((left, right) => left.line - right.line);
  };

/** The index in a line of what is at this index once its tabs are expanded. */
const beforeTabs = (line: string, at: number): number =>
  lastAt(line.length + 1, index => expandTabs(line.slice(0, index), tabStop).length, at);

interface WantedWord {
  readonly isExact: boolean;
  readonly word: string;
}

/**
 * Folds case character by character, so that a part of the text folds to a part of the result. `toLowerCase` by itself
 * treats a sigma at the end of a word differently.
 */
export const foldCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

/** Searches the whole text for the first word rather than each line, because most lines do not contain it. */
function matchWords(text: string, wanted: readonly WantedWord[]): readonly LineMatch[] {
  const [first, ...others] = wanted;
  if (!first) return [];
  const folded = foldCase(text);
  // `İ` becomes longer when folded, so highlights on its line are slightly off.
  const subject = first.isExact ? text : folded;
  const hasMarks = text.includes(hiddenMark);
  const found: LineMatch[] = [];
  let [line, from] = [0, 0];
  for (let at = subject.indexOf(first.word); at >= 0; ) {
    for (let end = subject.indexOf('\n', from); end >= 0 && end < at; end = subject.indexOf('\n', from)) {
      from = end + 1;
      line += 1;
    }
    const to = endOfLine(subject, at);
    const shown = others.length === 0 ? '' : subject.slice(from, to);
    const isIn = ({ isExact, word }: WantedWord, form: (line: string) => string): boolean => {
      const isOther = isExact !== first.isExact;
      return form(isOther ? (isExact ? lineAt(text, folded, from, line) : foldCase(shown)) : shown).includes(word);
    };
    if (others.every(each => isIn(each, whole))) {
      const mark = hasMarks ? subject.slice(from, to).indexOf(hiddenMark) : -1;
      const isHidden = mark >= 0 && !(at < from + mark && others.every(each => isIn(each, shownForm)));
      // The hidden form may lack a word that only the shown form has.
      const start = isHidden ? from + mark + 1 : from;
      const own = isHidden ? Math.max(start, subject.indexOf(first.word, start)) : at;
      const begin = own < to ? own - start : 0;
      found.push({ line, range: [begin, begin + first.word.length], ...(isHidden && { isHidden }) });
    }
    at = subject.indexOf(first.word, to);
  }
  return found;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** The line of `text` that corresponds to the line at `from` in `folded`. */
function lineAt(text: string, folded: string, from: number, line: number): string {
  if (text.length === folded.length) return text.slice(from, endOfLine(text, from));
  return text.split('\n', line + 1)[line] ?? '';
}

function expressionSearch(text: string, source: string, ignoresCase: boolean): LineSearch | SearchError {
  const isExact = !ignoresCase && hasCapitals(source.replace(/\\(?:[pP]\{[^}\\]*\}|.)/g, ''));
  let expression: RegExp;
  try {
    expression = compileExpression(source, isExact ? 'u' : 'iu');
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const words = error.isTooSlow ? 'This expression takes too long' : `Not a regular expression: ${error.message}`;
    return { ok: false, error: `${words}.` };
  }
  const words = wordsIn(source, !isExact);
  const longestWord = foldCase(words.toSorted((left, right) => right.length - left.length)[0] ?? '');
  const hasSpaces = / |\\s/.test(source);
  const atCuts = new Map<Cut | null | undefined, RegExp>();
  return {
    ok: true,
    words,
    highlighted: text,
    matchesIn: texts => {
      for (const cut of texts.flatMap(({ cuts }) => [...(cuts?.values() ?? [])].flat())) {
        if (cut && !atCuts.has(cut)) atCuts.set(cut, compileExpression(source, expression.flags, cut));
      }
      const findIn = ({ body, cuts }: SearchedText): readonly LineMatch[] => {
        const expressionOf = (line: number, form: number): RegExp =>
          (cuts && atCuts.get(cuts.get(line)?.[form])) ?? expression;
        return asShown(hasSpaces, each => matchExpression(each, expressionOf, longestWord))(body);
      };
      let found: (readonly LineMatch[])[] = [];
      const search = (): void => {
        found = texts.map(findIn);
      };
      if (withinCpuTime(search, expressionBudget)) return found;
      throw new ExpressionError('This expression takes too long', true);
    },
  };
}

/** A character, an escape, a class or a counted repeat of a valid expression with the flag `u`. */
const expressionPart =
  /\\(?:[pPu]\{[^}]*\}?|k<[^>]*>?|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|\d+|.)|\[(?:\\.|[^\]\\])*\]?|\{[\d,]*\}?|./gisu;

/**
 * Words that every match of an expression contains, ignoring case, so that the index can rule out most texts. Only
 * ASCII characters outside groups count: a group may be repeated, optional or negative.
 */
function wordsIn(source: string, ignoresCase: boolean): readonly string[] {
  const words: string[] = [];
  let [word, depth] = ['', 0];
  for (const [part] of source.matchAll(expressionPart)) {
    const character = /^\\\W$/.test(part) ? part.slice(1) : /^[^\\^$.*+?()[{|]$/.test(part) ? part : '';
    // Ignoring case, an expression matches `ſ` as an s, but in the index it is a different character.
    const isFixed = character !== '' && character <= '~' && !(ignoresCase && /s/i.test(character));
    if (depth === 0 && isFixed) {
      word += character;
      continue;
    }
    if (depth === 0 && part === '|') return [];
    if (/^[*?{]/.test(part)) word = word.slice(0, -1);
    if (word !== '') words.push(word);
    word = '';
    if (part === '(') depth += 1;
    if (part === ')') depth -= 1;
  }
  return word === '' ? words : [...words, word];
}

/**
 * @param expressionOf the expression for a form of a line: 0 for the shown one, 1 for the hidden one
 * @param word a folded word that every match contains; searching for it first is faster, because most lines lack it
 */
function matchExpression(
  body: string,
  expressionOf: (line: number, form: number) => RegExp,
  word: string,
): readonly LineMatch[] {
  const folded = word === '' ? [] : foldCase(body).split('\n');
  return body.split('\n').flatMap((text, line): LineMatch | [] => {
    if (word !== '' && !folded[line]?.includes(word)) return [];
    const [shown, hidden] = formsOf(text);
    const match =
      expressionOf(line, 0).exec(shown) ?? (hidden === undefined ? null : expressionOf(line, 1).exec(hidden));
    if (!match) return [];
    const range: Range = [match.index, match.index + match[0].length];
    return match.input === shown ? { line, range } : { line, range, isHidden: true };
  });
}
