/**
 * The filter of a list: words that a row must contain, and conditions on columns, such as `status:failed lr>1e-5
 * heldout<0.5 age<2d model~tutor`. `!` before a word or a condition excludes; quotes keep spaces and operators in a
 * word. A filter that begins with `/` or `~` is a regular expression or a fuzzy search, as in other searches.
 */
import { formatStatus } from '../contract/status.ts';
import { type Filter, type FilterError, inverseOf, parseFilter, textFilter } from '../text/filter.ts';
import type { Range } from '../text/fuzzy.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { asTyped } from '../text/typed.ts';
import { type Column, cellText, describeIfAbsent } from './column.ts';

/** A filter on rows' text and on column values. */
export interface RowFilter<Row> {
  /** Filters by a row's text, and highlights matches. */
  readonly text: Filter;
  /**
   * Filters by a row's values: returns the row, or the variant that passes both this and the text filter. Undefined if
   * the filter names no column.
   */
  readonly passing: ((row: Row, textOf: (row: Row) => string) => Row | undefined) | undefined;
  /** Why the filter cannot be used on these rows, if a term names a column that none of them has. */
  readonly refusal: (rows: readonly Row[]) => Mistake | undefined;
  /** Why no row can pass, if a term names a status that does not exist. */
  readonly doubt: (rows: readonly Row[]) => Mistake | undefined;
}

interface Mistake {
  /** A sentence for the user. */
  readonly words: string;
  /** The part of the filter that is wrong. */
  readonly at: Range;
}

const operators = ['>=', '<=', '!=', ':', '=', '<', '>', '~'] as const;
type Operator = (typeof operators)[number];

/** Units of duration, in milliseconds. */
const units = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

/**
 * A number, or for a column of times a duration such as `2d` or `90s`, in milliseconds. A duration needs a unit, because
 * the screen shows it in several and files have seconds.
 */
function numberOf<Row>({ time }: Column<Row>, text: string): number | undefined {
  const lower = text.toLowerCase();
  const [unit, ms] = (time && [...units].find(([each]) => lower.endsWith(each))) ?? ['', 1];
  const digits = lower.slice(0, lower.length - unit.length);
  const number = digits.trim() === '' ? Number.NaN : Number(digits) * ms;
  return Number.isNaN(number) || (time && unit === '' && number !== 0) ? undefined : number;
}

export interface Token {
  readonly text: string;
  /** Its range within the filter, including sign and quotes. */
  readonly at: Range;
  /** Whether it begins with a quote, so that operators in it are plain text. */
  readonly isQuoted: boolean;
  readonly isInverse: boolean;
}

/** The words in a filter. The last quote may be unclosed. */
export function tokensOf(input: string): Token[] {
  return [...input.matchAll(/(!?)(?:"([^"]*)"?|((?:[^\s"]|"[^"]*"?)+))/g)].flatMap(match => {
    const [all, sign = '', quoted, word] = match;
    const text = quoted ?? word ?? '';
    const at = [match.index, match.index + all.length] as const;
    return text === '' || word === '!'
      ? []
      : { text: text.normalize('NFC'), at, isQuoted: quoted !== undefined, isInverse: sign !== '' };
  });
}

/** Whether a filter is a single expression or fuzzy search, without words and terms. */
export const isWholeText = (input: string): boolean => /^[/~]/.test(input);

export const plainName = (name: string): string => name.toLowerCase().replace(/[-_. ]/g, '');
export const initials = (name: string): string =>
  name
    .toLowerCase()
    .split(/[-_. ]/)
    .map(part => part.charAt(0))
    .join('');

export const namesOf = <Row>({ id, title }: Column<Row>): readonly string[] => [id.replace(/^option\./, ''), title];

/**
 * Finds a column by its name (`heldout`, `HELD-OUT`), an unambiguous prefix, or its initials; `age` is the first time
 * column.
 */
export function columnNamed<Row>(columns: readonly Column<Row>[], name: string): Column<Row> | undefined {
  const wanted = plainName(name);
  const by = (matches: (candidate: string) => boolean) => columns.filter(column => namesOf(column).some(matches));
  const [exact] = by(candidate => plainName(candidate) === wanted);
  if (exact) return exact;
  if (wanted === 'age') return columns.find(({ time }) => time === 'instant');
  const [starting, second] = by(candidate => plainName(candidate).startsWith(wanted));
  if (starting && !second) return starting;
  const [abbreviated, other] = wanted.length > 1 ? by(candidate => initials(candidate) === wanted) : [];
  return other ? undefined : abbreviated;
}

const comparisons = new Map<Operator, (left: number | bigint, right: number | bigint) => boolean>([
  ['<', (left, right) => left < right],
  ['<=', (left, right) => left <= right],
  ['>', (left, right) => left > right],
  ['>=', (left, right) => left >= right],
]);

type Test<Row> = (row: Row) => boolean;

/** A condition on a column. */
interface Term<Row> {
  readonly test: Test<Row>;
  readonly column: Column<Row>;
  /** Why no row can pass, if it names a status that does not exist. */
  readonly doubt?: ((rows: readonly Row[]) => string | undefined) | undefined;
}

/** An integer that no JavaScript number holds exactly is the text of its digits. */
const longInteger = /^-?\d{16,}$/;

/** The value to compare; for a time, its age. */
function comparedValue<Row>({ value, time }: Column<Row>, row: Row, now: number): string | number | undefined {
  const compared = value(row);
  return time && time !== 'length' && typeof compared === 'number' ? now - compared : compared;
}

/** Returns an error if the term matches no known status and no row's status. */
const statusDoubt =
  <Row>({ value, known = [] }: Column<Row>, wanted: string, accepts: (text: string) => boolean): Term<Row>['doubt'] =>
  rows => {
    const seen = rows.flatMap(row => value(row) ?? []).map(String);
    const statuses = [...new Set([...known, ...seen])];
    if (statuses.length === 0 || statuses.some(each => [each, formatStatus(each)].some(accepts))) return undefined;
    return `There is no status ${sanitiseLine(wanted)}. Statuses: ${statuses.map(each => sanitiseLine(formatStatus(each))).join(', ')}`;
  };

/** A condition on a column. A row without a value passes only `!=`. */
function termOn<Row>(column: Column<Row>, operator: Operator, wanted: string): Omit<Term<Row>, 'column'> | FilterError {
  const number = numberOf(column, wanted);
  const compare = comparisons.get(operator);
  const now = Date.now();
  const isBare = column.time !== undefined && !Number.isNaN(Number(wanted));
  if (number === undefined && (compare || (isBare && operator !== '~'))) {
    const term = sanitiseLine(`${column.title}${operator}`);
    const kind = column.time
      ? `a time with a unit (${[...units.keys()].join(', ')}) such as 90s`
      : 'a number such as 0.5';
    return { ok: false, error: `${term} takes ${kind}, not ${sanitiseLine(wanted)}` };
  }
  if (compare && number !== undefined) {
    const limit = longInteger.test(wanted) ? BigInt(wanted) : number;
    const test: Test<Row> = row => {
      const value = comparedValue(column, row, now);
      if (typeof value === 'number') return compare(value, limit);
      return value !== undefined && longInteger.test(value) && compare(BigInt(value), limit);
    };
    return { test };
  }
  const lower = asTyped(wanted).toLowerCase();
  const textsOf = (row: Row): readonly string[] =>
    [column.value(row), cellText(column, row)].flatMap(each =>
      each === undefined ? [] : asTyped(String(each)).toLowerCase(),
    );
  const ofTexts = (accepts: (text: string) => boolean): Omit<Term<Row>, 'column'> => ({
    test: row => textsOf(row).some(accepts),
    ...(column.status && { doubt: statusDoubt(column, wanted, text => accepts(text.toLowerCase())) }),
  });
  if (operator === '~') {
    const fuzzy = parseFilter(`~${wanted}`);
    return fuzzy.ok ? ofTexts(fuzzy.accepts) : fuzzy;
  }
  const isText = ofTexts(text => text === lower);
  const isEqual: Test<Row> = row =>
    (number !== undefined && comparedValue(column, row, now) === number) || isText.test(row);
  if (operator === ':') {
    // A value of invisible characters finds no text, as does such a word.
    const includes = ofTexts(text => lower !== '' && text.includes(lower));
    // `reward:0` must not find 0.400: a term must match a whole word of a number's text, which is rounded and may have
    // a unit.
    const isShown = (row: Row): boolean =>
      cellText(column, row)
        .toLowerCase()
        .split(/\s+/)
        .some(word => word === lower || (number !== undefined && numberOf(column, word) === number));
    const test: Test<Row> = row =>
      typeof column.value(row) === 'number' ? isEqual(row) || isShown(row) : includes.test(row);
    return { ...includes, test };
  }
  return operator === '=' ? { ...isText, test: isEqual } : { test: row => !isEqual(row) };
}

/** Splits a term into `status`, `:` and `failed`; undefined for a plain word. */
export function termParts({ text, isQuoted }: Token) {
  const [, name = '', rest = ''] = /^([a-z][\w.-]*)([:=<>~!].*)$/is.exec(text) ?? [];
  const operator = operators.find(each => rest.startsWith(each));
  if (isQuoted || operator === undefined) return undefined;
  return { name, operator, value: rest.slice(operator.length).replace(/^"|"$/g, '') };
}

/** Parses a condition on a column; undefined for a plain word. `flag:` accepts rows with any flag. */
function termOf<Row>(token: Token, columns: readonly Column<Row>[]): Term<Row> | FilterError | undefined {
  const parts = termParts(token);
  if (!parts) return undefined;
  const { name, operator, value } = parts;
  const column = columnNamed(columns, name);
  if (!column) {
    const known = columns.map(each => sanitiseLine(namesOf(each)[0] ?? '')).join(', ');
    const where = /^(flag|note)$/i.test(name) ? ' here: trajectories and evaluation runs have it' : '';
    return {
      ok: false,
      error: `There is no column ${name}${where}. To search for this text, put it in quotes: "${token.text}". Columns: ${known}`,
    };
  }
  // The user may still be typing the value, so the other operators accept all rows.
  if (value.trim() === '') return { column, test: row => operator !== ':' || (column.value(row) ?? '') !== '' };
  const term = termOn(column, operator, value);
  return 'error' in term ? term : { column, ...term };
}

/** The columns that a filter names, each undefined if the name is unknown. */
export function columnsIn<Row>(input: string, columns: readonly Column<Row>[]): readonly (Column<Row> | undefined)[] {
  if (isWholeText(input)) return [];
  return tokensOf(input)
    .flatMap(token => termParts(token) ?? [])
    .map(({ name }) => columnNamed(columns, name));
}

const everything: Filter = { ok: true, kind: 'all', accepts: () => true, matches: () => [] };

/** Combines filters: a text must pass all of them, and all matches are highlighted. */
function combineFilters(filters: readonly Filter[]): Filter {
  const [only] = filters;
  if (!only) return everything;
  if (filters.length === 1) return only;
  return {
    ok: true,
    kind: filters.every(({ kind }) => kind === 'inverse') ? 'inverse' : 'text',
    accepts: text => filters.every(filter => filter.accepts(text)),
    matches: text => {
      const ranges = filters.flatMap(filter => (filter.kind === 'inverse' ? [] : (filter.matches(text) ?? [])));
      return ranges.length === 0 ? undefined : mergeRanges(ranges);
    },
  };
}

function mergeRanges(ranges: readonly Range[]): readonly Range[] {
  const joined: [number, number][] = [];
  for (const [start, end] of ranges.toSorted(([left], [right]) => left - right)) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

const withPlace = (words: string | undefined, at: Range): Mistake | undefined =>
  words === undefined ? undefined : { words, at };

/** Parses a filter, which may still be incomplete. */
export function parseRowFilter<Row>(
  input: string,
  columns: readonly Column<Row>[],
): RowFilter<Row> | (FilterError & Partial<Pick<Mistake, 'at'>>) {
  if (isWholeText(input)) {
    const text = parseFilter(input.normalize('NFC'));
    return text.ok ? { text, passing: undefined, refusal: () => undefined, doubt: () => undefined } : text;
  }
  const texts: Filter[] = [];
  const tests: Test<Row>[] = [];
  const refusals: RowFilter<Row>['refusal'][] = [];
  const doubts: RowFilter<Row>['doubt'][] = [];
  let variants: Column<Row>['variants'];
  for (const token of tokensOf(input)) {
    const term = termOf(token, columns);
    const { at } = token;
    if (term && 'error' in term) return { ...term, at };
    if (term) {
      tests.push(token.isInverse ? row => !term.test(row) : term.test);
      const { column, doubt } = term;
      variants ??= column.variants;
      refusals.push(rows => withPlace(describeIfAbsent(column, rows), at));
      if (doubt && !token.isInverse) doubts.push(rows => withPlace(doubt(rows), at));
    } else {
      const text = textFilter(token.text);
      if (!text.ok) return { ...text, at };
      texts.push(token.isInverse ? inverseOf(text) : text);
    }
  }
  const text = combineFilters(texts);
  const passes: Test<Row> = row => tests.every(test => test(row));
  const passing: RowFilter<Row>['passing'] = (row, textOf) => {
    if (!variants) return passes(row) ? row : undefined;
    return (variants(row) as readonly Row[]).find(form => passes(form) && text.accepts(textOf(form)));
  };
  return {
    text,
    passing: tests.length === 0 ? undefined : passing,
    refusal: rows => refusals.flatMap(refusal => refusal(rows) ?? [])[0],
    doubt: rows => doubts.flatMap(doubt => doubt(rows) ?? [])[0],
  };
}

/** Whether a filter consists only of words without operators, so that a longer one can only exclude more rows. */
export const isPlainWords = (input: string): boolean => input !== '' && !/[/!~:<>="]/.test(input);
