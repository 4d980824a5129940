/** Adds to a list the values that need requests for each row, if the command shows, sorts or filters by them. */
import { perArguments } from '../base/memo.ts';
import { type Column, fitColumns, namedColumn } from '../present/column.ts';
import { columnsIn, parseRowFilter } from '../present/row-filter.ts';
import { createArrange } from '../present/rows.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { MeasuredList, Resource } from '../resources/define.ts';
import type { MeasuredTraining } from '../resources/training-columns.ts';
import { ServiceError } from '../service/errors.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError } from './exit.ts';
import type { CommandIo } from './io.ts';
import { withAlarms } from './listed-alarms.ts';
import { announcedMs, type CommandContext } from './with-service.ts';

/** The most rows in a list to measure, at one request each, or two with the trainer's rewards. */
const maxMeasuredRows = 500;

/** How long rows wait for the next response with optional values, in milliseconds. */
export const patienceOf = ({ silentMs = 5_000 }: CommandIo): number => silentMs;

/** How many of the rows without a value are named. */
const maxNamed = 3;

interface MeasuredOptions extends MeasuredList {
  readonly filter: string;
  /** The ids of the columns to sort by and to print with `--field`. */
  readonly sort: string | undefined;
  readonly field: string | undefined;
  /** Ids of the columns that are printed. */
  readonly shown: readonly string[];
}

/** The columns that will fit once they have values. A column that appears only if it has values is always included. */
function withRoom(
  ids: readonly string[],
  columns: readonly Column<object>[],
  room: number,
  rows: readonly object[],
): string[] {
  const assumed = columns.map(column =>
    ids.includes(column.id) && !column.ifAny ? { ...column, value: () => 0, text: () => '0' } : column,
  );
  const fitted = new Set(fitColumns(assumed, room, {}, rows).map(({ column }) => column.id));
  const appears = (id: string): boolean => columns.some(column => column.id === id && column.ifAny === true);
  return ids.filter(id => fitted.has(id) || appears(id));
}

export class MeasuredRows {
  readonly #resource: Resource;
  readonly #options: MeasuredOptions;
  readonly #context: CommandContext;
  readonly #first: ReadonlySet<string>;
  readonly #shown: ReadonlySet<string>;
  /**
   * Whether the values are needed only for sorting, which puts rows without one last. A filter or a script needs every
   * value.
   */
  readonly #isForOrder: boolean;
  readonly #status: Column<object> | undefined;
  /** One row for each status seen so far. */
  readonly #ofStatus = new Map<unknown, object>();
  readonly #arrange: ReturnType<typeof createArrange<object>>;
  readonly #id: (row: object) => string;
  #left = maxMeasuredRows;
  #beyond = 0;
  /** When the first values were requested, in epoch milliseconds. */
  #began: number | undefined;
  #problem: string | undefined;
  /** The ids of the rows that could not be measured, and why the first one could not. */
  readonly #unread = new Set<string>();
  #reason: string | undefined;
  /** Why no more rows can be measured. */
  #failure: ServiceError | undefined;
  /** Whether the filter names a column that depends on the rows, so all must be read before the first is printed. */
  readonly needsAll: boolean;

  constructor(resource: Resource, id: (row: object) => string, options: MeasuredOptions, context: CommandContext) {
    this.#resource = resource;
    this.#options = options;
    this.#context = context;
    this.#id = id;
    const { measures } = resource;
    const columns = this.columns([]);
    const filtered = columnsIn(options.filter, columns);
    this.needsAll = measures !== undefined && !measures.fixed && filtered.includes(undefined);
    const costly = (ids: readonly (string | undefined)[]): ReadonlySet<string> =>
      new Set(measures?.costly.filter(each => ids.includes(each)));
    const exact = costly([...filtered.map(column => column?.id), options.field]);
    this.#first = costly([...exact, options.sort]);
    this.#isForOrder = exact.size === 0;
    this.#shown = costly(options.shown);
    this.#arrange = createArrange(columns, id);
    this.#status = columns.find(({ status }) => status);
  }

  /** The columns for a list with these rows. */
  columns(rows: readonly object[]): readonly Column<object>[] {
    const columns = this.#resource.measures?.columns(rows, this.#options.range) ?? this.#resource.columns;
    // Benchmarks have names for people, in filters too, and ids for programs.
    const nameOf = perArguments((id: string) => this.#context.memory.seen.find('benchmark', id)?.label);
    return columns.map(column => (column.id === 'benchmark' ? namedColumn(column, nameOf) : column));
  }

  async #read(
    rows: readonly object[],
    columns: ReadonlySet<string>,
    context: QueryContext,
    about: Pick<MeasuredList, 'onUnread' | 'silentMs' | 'needsOne' | 'failure'>,
  ): Promise<readonly object[]> {
    const { measures } = this.#resource;
    if (!measures || columns.size === 0 || rows.length === 0) return rows;
    const some = rows.slice(0, this.#left);
    this.#left -= some.length;
    this.#beyond += rows.length - some.length;
    this.#began ??= Date.now();
    const timer = setTimeout(() => this.#announce(some, columns), this.#began + announcedMs - Date.now());
    try {
      const read = await measures.read(some, columns, context, { ...this.#options, ...about });
      const judged = columns.has('alarm') ? await withAlarms(read as MeasuredTraining[], this.#context) : read;
      return [...judged, ...rows.slice(some.length)];
    } finally {
      clearTimeout(timer);
    }
  }

  #titles(isNamed: (id: string) => boolean): readonly string[] {
    return this.columns([]).flatMap(({ id, title }) => (isNamed(id) ? title : []));
  }

  /** Notes why the list is slow. */
  #announce(rows: readonly object[], columns: ReadonlySet<string>): void {
    const titles = this.#titles(id => columns.has(id));
    const them = titles.length === 1 ? 'it' : 'them';
    this.#context.noteWait(
      `Reading ${titles.join(', ')} of ${counted(rows.length, 'row')}: a list without ${them} is faster (--columns).`,
    );
  }

  /**
   * The rows that pass the filter, with the values that the filter and the order need. If only the order needs a value,
   * a row may lack it.
   *
   * @throws CommandError if the filter is wrong
   * @throws ServiceError
   */
  async filtered(rows: readonly object[]): Promise<readonly object[]> {
    const onUnread: MeasuredList['onUnread'] = (row, error, isOfAll) => {
      if (isOfAll) throw error;
      this.#leave(row, error);
    };
    const silentMs = patienceOf(this.#context.io);
    const about = this.#isForOrder ? { onUnread, silentMs, needsOne: true } : {};
    const read = await this.#read(rows, this.#first, this.#context, about);
    // Columns show what is remembered, JSON does not.
    const known = this.remembered(read);
    const arrange = this.#resource.measures ? createArrange(this.#filtered(known), this.#id) : this.#arrange;
    const { rows: kept, notice } = arrange(known, { filter: this.#options.filter, sort: undefined });
    if (notice) throw new CommandError(notice);
    for (const row of rows) this.#ofStatus.set(this.#status?.value(row), row);
    const readOf = new Map(known.map((row, index) => [row, read[index]]));
    return kept.map(row => readOf.get(row) ?? row);
  }

  /** Call this after the last row if none passed. @throws CommandError if the filter names a status that does not exist */
  checkStatus(): void {
    const filter = parseRowFilter(this.#options.filter, this.columns([]));
    const doubt = 'error' in filter ? undefined : filter.doubt([...this.#ofStatus.values()]);
    if (doubt) throw new CommandError(doubt.words);
  }

  /**
   * The columns for the filter. A column without values in these rows is not an error, because later rows may have
   * some.
   */
  #filtered(rows: readonly object[]): readonly Column<object>[] {
    return this.columns(rows).map(({ readBy: _, ...column }) => column);
  }

  #leave(row: object, error: ServiceError): void {
    this.#unread.add(this.#id(row));
    this.#reason ??= error.message;
  }

  /** The ids of the printed columns that are still to be read. */
  #missing(): string[] {
    return [...this.#shown].filter(id => !this.#first.has(id));
  }

  /** The row for programs. */
  exported(row: object): object {
    return this.#resource.measures?.exported?.(row, this.#options.range) ?? row;
  }

  /** Adds remembered measurements to the rows. */
  remembered(rows: readonly object[]): readonly object[] {
    return this.#resource.measures?.remembered?.(rows, this.#context) ?? rows;
  }

  /**
   * Adds the values of the printed columns. Waits for them only while responses arrive: rows without a value stay
   * unchanged, and are noted.
   *
   * @param room the terminal's width in columns; a column without room is not read
   */
  async shown(
    rows: readonly object[],
    columns: readonly Column<object>[],
    room: number | undefined,
  ): Promise<readonly object[]> {
    const ids = this.#missing();
    const missing = new Set(room === undefined ? ids : withRoom(ids, columns, room, rows));
    if (missing.size === 0 || this.#problem !== undefined) return rows;
    const onUnread: MeasuredList['onUnread'] = (row, error, isOfAll) => {
      this.#leave(row, error);
      if (isOfAll) this.#failure ??= error;
    };
    try {
      const context = { ...this.#context, service: this.#context.service.background };
      const silentMs = patienceOf(context.io);
      return await this.#read(rows, missing, context, { onUnread, silentMs, failure: this.#failure });
    } catch (error) {
      this.#context.signal.throwIfAborted();
      if (!(error instanceof ServiceError)) throw error;
      this.#problem = error.message;
      return rows;
    }
  }

  /** Notes the parts that were not read. */
  note(): void {
    const titles = this.#titles(id => this.#first.has(id) || this.#shown.has(id)).join(', ');
    if (this.#problem !== undefined) this.#context.io.note(`${titles} could not be read: ${this.#problem}`);
    const unread = [...this.#unread];
    const named = unread.slice(0, maxNamed).map(id => clean`${id}`);
    const more = unread.length > maxNamed ? ` and ${unread.length - maxNamed} more` : '';
    const order = this.#isForOrder && this.#first.size > 0 ? ' Rows without the value come last.' : '';
    if (unread.length > 0) {
      const them = `${counted(unread.length, 'row')} (${named.join(', ')}${more})`;
      this.#context.io.note(`${titles} could not be read for ${them}: ${this.#reason}${order}`);
    }
    if (this.#beyond === 0) return;
    const left = counted(this.#beyond, 'further row');
    this.#context.io.note(
      `${titles}: read for the first ${maxMeasuredRows} rows, not for ${left}. Narrow the list, e.g. with --benchmark.`,
    );
  }
}
