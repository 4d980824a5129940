/**
 * The filter and search language, as typed after `/`: `text` (smart case), `/re/` (regular expression; the closing
 * slash may still be missing, `/re/i` ignores case), `!text` (rows without it), `~text` (fuzzy).
 */

import { compileExpression, compileLiteral, ExpressionError } from '../base/expression.ts';
import { isTimeLimited, withinCpuTime } from '../base/time-limit.ts';
import { fuzzyFilter, fuzzyMatch, hasCapitals, type Range } from './fuzzy.ts';

type FilterKind = 'all' | 'text' | 'expression' | 'inverse' | 'fuzzy';

export interface Filter {
  readonly ok: true;
  readonly kind: FilterKind;
  /** Whether a row with this text passes; several times faster than `matches`. For many rows, see `filterRows`. */
  readonly accepts: (haystack: string) => boolean;
  /**
   * The ranges of `haystack` to highlight (none for `!text`), or undefined if it does not match. Never throws; an
   * expression that takes too long on this text does not match.
   */
  readonly matches: (haystack: string) => readonly Range[] | undefined;
}

export interface FilterError {
  readonly ok: false;
  /** One sentence for the user; as safe for a terminal as the input. */
  readonly error: string;
}

interface FilteredRows<T> {
  readonly rows: readonly T[];
  /** Set if filtering stopped before the last row; gives the reason and advice. */
  readonly notice?: string;
}

/** In a text of at most this many UTF-16 units, a simple expression needs no guard. */
const shortText = 2_000;
/** CPU limits for an expression in milliseconds: over all rows of a list, and for one text. */
const listBudget = 100;
const textBudget = 10;

const noRanges: readonly Range[] = [];
const tooLong = 'This expression takes too long';

/** Parses the text typed so far. */
export function parseFilter(input: string): Filter | FilterError {
  if (input === '' || input === '!' || input === '~' || input === '/') {
    return { ok: true, kind: 'all', accepts: () => true, matches: () => noRanges };
  }
  if (input.startsWith('/')) return parseExpression(input);
  if (input.startsWith('~')) {
    const query = input.slice(1);
    return {
      ok: true,
      kind: 'fuzzy',
      accepts: fuzzyFilter(query),
      matches: haystack => fuzzyMatch(query, haystack)?.ranges,
    };
  }
  if (input.startsWith('!')) {
    const without = textFilter(input.slice(1));
    return without.ok ? inverseOf(without) : without;
  }
  return textFilter(input);
}

/** The rows whose text matches, as `filterTexts` finds them. */
export function filterRows<T>(rows: readonly T[], textOf: (row: T) => string, filter: Filter): FilteredRows<T> {
  const { kept, notice } = filterTexts(rows.length, index => textOf(rows[index] as T), filter);
  const found = kept ? pick(rows, kept) : rows;
  return notice === undefined ? { rows: found } : { rows: found, notice };
}

export function pick<T>(items: readonly T[], places: readonly number[]): T[] {
  return places.map(place => items[place] as T);
}

interface FilteredTexts {
  /** Indexes of the matching texts, in order; undefined if all of them match. */
  readonly kept: readonly number[] | undefined;
  readonly notice?: string;
}

/**
 * Filters `count` texts. They share one time budget, so that an expression with catastrophic backtracking costs 100 ms
 * and shows a notice instead of freezing the program.
 */
export function filterTexts(count: number, textOf: (place: number) => string, filter: Filter): FilteredTexts {
  if (filter.kind === 'all') return { kept: undefined };
  let kept: number[] | undefined;
  let seen = 0;
  const run = (): void => {
    for (; seen < count; seen += 1) {
      if (filter.accepts(textOf(seen))) kept?.push(seen);
      // Allocate only once a text does not match.
      else kept ??= Array.from({ length: seen }, (_, place) => place);
    }
  };
  if (filter.kind !== 'expression') run();
  else if (!endsWithin(listBudget, run)) {
    const notice = `${tooLong}: ${seen} of ${count} rows were searched. Make it simpler.`;
    return { kept: kept ?? Array.from({ length: seen }, (_, place) => place), notice };
  }
  return { kept };
}

/** Accepts the texts that another filter rejects. */
export function inverseOf({ accepts }: Filter): Filter {
  return {
    ok: true,
    kind: 'inverse',
    accepts: haystack => !accepts(haystack),
    matches: haystack => (accepts(haystack) ? undefined : noRanges),
  };
}

/** Finds a literal text, with smart case. */
export function textFilter(needle: string): Filter | FilterError {
  // Ignore case with a flag: in lower-cased text, the ranges could be off.
  const flags = hasCapitals(needle) ? 'u' : 'iu';
  try {
    return { ok: true, kind: 'text', ...searchFor(compileLiteral, needle, flags) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { ok: false, error: 'This text is too long to search for. Make it shorter.' };
  }
}

/** @throws ExpressionError */
function searchFor(
  compile: typeof compileExpression,
  source: string,
  flags: 'u' | 'iu' | 'mu' | 'imu',
): Pick<Filter, 'accepts' | 'matches'> {
  const first = compile(source, flags);
  const all = compile(source, `g${flags}`);
  return { accepts: haystack => first.test(haystack), matches: haystack => rangesOf(all, haystack) };
}

/**
 * Whether a search ended within this CPU time without exceeding V8's memory for backtracking, as it may in a long text.
 */
function endsWithin(limit: number, search: () => void): boolean {
  try {
    return withinCpuTime(search, limit);
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

/** @throws ExpressionError */
function runSearch<T>(search: (haystack: string) => T, haystack: string): T {
  try {
    return search(haystack);
  } catch (error) {
    if (error instanceof RangeError) throw new ExpressionError('it takes too much memory', true);
    throw error;
  }
}

function parseExpression(input: string): Filter | FilterError {
  const closed = /^\/((?:[^\\]|\\.)+)\/(i?)$/su.exec(input);
  const source = closed?.[1] ?? input.slice(1);
  // Smart case here too; classes such as \D and \P{Lu} do not count as capitals.
  const ignoreCase = closed?.[2] === 'i' || !hasCapitals(source.replace(/\\(?:[pP]\{[^}\\]*\}|.)/g, ''));
  let search: Pick<Filter, 'accepts' | 'matches'>;
  try {
    // In multi-line text, ^ and $ match at the ends of each line.
    search = searchFor(compileExpression, source, ignoreCase ? 'imu' : 'mu');
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    if (error.isTooSlow) return { ok: false, error: `${tooLong}. Make it simpler.` };
    return {
      ok: false,
      error: `Not a regular expression: ${error.message}. For plain text leave out the first slash.`,
    };
  }
  // With at most one choice to backtrack to, the time is quadratic at worst, so a short text needs no guard.
  const simple = (source.match(/[*+?{|]/g) ?? []).length <= 1;
  let tooSlow = false;
  const guarded = <T>(find: (haystack: string) => T, haystack: string, otherwise: T): T => {
    if (isTimeLimited() || (simple && haystack.length <= shortText)) return runSearch(find, haystack);
    if (tooSlow) return otherwise;
    let answer = otherwise;
    tooSlow = !endsWithin(textBudget, () => {
      answer = runSearch(find, haystack);
    });
    return answer;
  };
  return {
    ok: true,
    kind: 'expression',
    accepts: haystack => guarded(search.accepts, haystack, false),
    matches: haystack => guarded(search.matches, haystack, undefined),
  };
}

function rangesOf(expression: RegExp, haystack: string): readonly Range[] | undefined {
  let ranges: Range[] | undefined;
  expression.lastIndex = 0;
  for (let match = expression.exec(haystack); match; match = expression.exec(haystack)) {
    ranges ??= [];
    if (match[0] !== '') ranges.push([match.index, match.index + match[0].length]);
    // After an empty match, skip a whole character: between surrogates, the same match would be found forever.
    else expression.lastIndex += (haystack.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1;
  }
  return ranges;
}
