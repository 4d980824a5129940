/**
 * The texts that a screen may show for an answer, computed from the bytes sent, independent of the program. A screen
 * that omits anything silently is wrong. Pure.
 */

/** The rows of a list as sent, over all its pages. */
export interface SentRows {
  readonly rows: readonly unknown[];
  /** Ids, without duplicates. */
  readonly ids: ReadonlySet<string>;
  readonly hasMore: boolean;
}

export function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

/** The rows of an answer: a bare list, or the list in one of its fields. Undefined if there are none. */
export function rowsOf(text: string, field: string = 'items'): unknown[] | undefined {
  const body = parsed(text);
  const rows = Array.isArray(body) ? body : fieldOf(body, field);
  return Array.isArray(rows) ? rows : undefined;
}

/** The id of a row as text; other types are serialised. Empty if there is none. */
export function idIn(row: unknown, field: string): string[] {
  const id = fieldOf(row, field);
  if (typeof id === 'string') return [id];
  return id === null || id === undefined ? [] : [JSON.stringify(id)];
}

/** Undefined if a page has no readable rows. */
export function sentRows(pages: readonly string[], id: string): SentRows | undefined {
  const rows: unknown[] = [];
  for (const page of pages) {
    const more = rowsOf(page);
    if (!more) return undefined;
    rows.push(...more);
  }
  const ids = rows.flatMap(row => idIn(row, id));
  const last = parsed(pages.at(-1));
  return { rows, ids: new Set(ids), hasMore: fieldOf(last, 'has_more') === true };
}

/** A finite number, even if it was sent as text; undefined for everything else. */
export function numberOf(value: unknown): number | undefined {
  const isWritten = typeof value === 'string' && value.trim() !== '';
  const number = isWritten ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Numbers that can be summed. */
export const numbersIn = (rows: readonly unknown[], field: string): number[] =>
  rows.map(row => numberOf(fieldOf(row, field))).filter(value => value !== undefined);

/** The mean, summed in parts that cannot overflow. */
export function meanOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((mean, value) => mean + value / values.length, 0);
}

/** Whether a number on a screen, cut to three digits, is this one. */
export function standsFor(shown: string, value: unknown): boolean {
  const sent = numberOf(value);
  if (sent === undefined) return shown === 'none' || shown === '';
  const number = Number(shown.replace('−', '-'));
  if (shown === '' || Number.isNaN(number)) return false;
  return Math.abs(number - sent) <= Math.abs(sent) * 0.006 + 1e-300;
}

/**
 * Errors in the count of a section, which is the number of rows in its list; unreadable rows are left out if the list
 * says so.
 */
export function sectionFailures(screen: string, title: string, sent: SentRows | undefined): string[] {
  const found = new RegExp(`^│ +${title} +(\\d+)(\\+?) *│`, 'm').exec(screen);
  if (!found || !sent) return [];
  const [, count, more] = found;
  const missing = sent.ids.size - Number(count);
  if (missing >= 0 && (more === '+' || missing <= shownRows(screen).unreadable)) return [];
  return [`${title} ${count}${more} in the sections, and ${sent.ids.size} rows were sent`];
}

/** The main pane of a screen of 200 columns, between the sections and the inspector. */
export function mainPane(text: string): string {
  return text
    .split('\n')
    .map(line => [...line].slice(18, 135).join(''))
    .join('\n');
}

/** The number of rows that a table claims, and its notes about omitted rows. */
interface ShownRows {
  readonly rows: number;
  readonly more: boolean;
  readonly unreadable: number;
  readonly repeated: number;
}

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);

export function shownRows(text: string): ShownRows {
  const count = /\s\d+\/(\d+)(\+?) *(?:│|$)/m.exec(text);
  return {
    rows: Number(count?.[1] ?? 0),
    more: count?.[2] === '+',
    unreadable: numberIn(text, /(\d+) rows? could not be read/),
    repeated: numberIn(text, /(\d+) rows? with a duplicate id/),
  };
}

/** Errors in the row count of a table. */
export function rowFailures(sent: SentRows | undefined, shown: ShownRows): string[] {
  if (!sent) return shown.rows === 0 ? [] : [`${shown.rows} rows are shown of an answer that holds none`];
  const failures: string[] = [];
  const { rows, unreadable, repeated } = shown;
  if (rows > sent.ids.size) failures.push(`${rows} rows are shown of ${sent.ids.size} that have an id`);
  const counted = rows + unreadable + repeated;
  if (counted !== sent.rows.length && !shown.more) {
    failures.push(
      `${rows} shown, ${unreadable} unreadable and ${repeated} repeated rows are not the ${sent.rows.length} sent`,
    );
  }
  return failures;
}

/** The numbers of a column, which end where its title does. */
export function columnOf(text: string, title: string): string[] {
  const lines = text.split('\n');
  const head = lines.findIndex(line => line.includes(title));
  const right = (lines[head]?.indexOf(title) ?? 0) + title.length;
  if (head < 0) return [];
  const cells: string[] = [];
  for (const line of lines.slice(head + 1)) {
    if (/^[├└]/.test(line)) break;
    const [cell = ''] = /[^\s│]*$/.exec([...line].slice(0, right).join('')) ?? [];
    if (/^[-−]?\d[\d.]*(?:e[+-]?\d+)?[kMGTP]?$|^none$/.test(cell)) cells.push(cell);
  }
  return cells;
}
