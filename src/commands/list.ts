/** `benchtop list`: lists a resource, for people and for programs. */

import { pushAll } from '../base/many.ts';
import { isRecord, own } from '../base/own-property.ts';
import type { Endpoint } from '../contract/common.ts';
import { mayHaveField, rowsIn } from '../contract/fields.ts';
import { type Column, cellText, withoutEmpty } from '../present/column.ts';
import { noteColumns } from '../present/notes.ts';
import { columnsIn, plainName } from '../present/row-filter.ts';
import { sortNoteOf, sortRows } from '../present/sort.ts';
import { defaultRange } from '../present/statistics/interval.ts';
import { readingOnce } from '../queries/query-context.ts';
import { resourceNamed } from '../resources/catalogue.ts';
import {
  describeNoneSeen,
  labelOf,
  pluralName,
  type Resource,
  singularName,
  statusColumnOf,
} from '../resources/define.ts';
import { pagesOf, type ResourcePage } from '../resources/pages.ts';
import { type Scope, type ScopeName, scopeNames } from '../resources/place.ts';
import { ServiceError } from '../service/errors.ts';
import { type Note, takesNotes } from '../store/notes.ts';
import { counted } from '../text/numbers.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import { isSameStatus } from '../text/status-spelling.ts';
import { Notes } from '../workbench/notes.ts';
import { CommandError, exitCodes } from './exit.ts';
import { findAmong, idNamed, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { LackingColumns } from './lacking-columns.ts';
import { ListOutput } from './list-output.ts';
import { MeasuredRows } from './measured-rows.ts';
import { applyJq, isLineByLine, type ListFormat, lineText, rowsText } from './output.ts';
import { didYouMean } from './suggest.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

const defaultLimit = 100;

type Flags = CommandInput<'list'>['flags'];

const namesIn = (name: string): readonly string[] => (name.startsWith('option.') ? [name] : name.split('.'));

/** A column for a contract field, e.g. `failure.message`, or an option, which flags accept like a column name. */
function fieldColumn({ measures }: Resource, name: string): Column<object> {
  const [first = '', ...rest] = namesIn(name);
  const inside = (value: unknown, inner: string): unknown => (isRecord(value) ? own(value, inner) : undefined);
  const value = (row: object): unknown =>
    Object.hasOwn(row, first)
      ? rest.reduce(inside, Reflect.get(row, first))
      : measures?.field?.(row, name.replace(/^option\./, ''));
  const shown = (row: object): string | number | undefined => {
    const found = value(row);
    return found === null || found === undefined || typeof found === 'number' ? (found ?? undefined) : asText(found);
  };
  return { id: name, title: name, width: { min: 8, max: 60, grow: 1 }, value: shown, exported: value };
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : safeJson(value));

function noColumn(columns: readonly Column<object>[], name: string): CommandError {
  const all = columns.map(({ id, title }) => (plainName(id) === plainName(title) ? id : `${id} (${title})`));
  return new CommandError(`There is no column or field ${name || 'with an empty name'}. Columns: ${all.join(', ')}.`);
}

/**
 * Finds a column by id, title or the contract's field name; a filter writes `heldout` for `held-out`.
 *
 * @throws CommandError for an unknown name
 */
function columnNamed(resource: Resource, columns: readonly Column<object>[], name: string): Column<object> {
  const found =
    columns.find(({ id, title }) => id === name || title.toLowerCase() === name.toLowerCase()) ??
    columns.find(({ id }) => id.replaceAll('-', '') === name);
  if (found) return found;
  if (/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/.test(name)) return fieldColumn(resource, name);
  throw noColumn(columns, name);
}

/** The schema of a resource's rows, from its list's response schema. */
export async function rowSchema(resource: Resource, { service, memory, signal }: CommandContext) {
  const { endpoints } = await import('../contract/endpoints.ts');
  // Given a scope, a list gets all its rows from one request.
  const scope = Object.fromEntries((resource.scopes ?? []).map(each => [each, 'any']));
  const source = resource.list(scope);
  const [request] = service.describe(noting => source.readPage({ service: noting, query: {}, signal, memory }));
  const endpoint = request && own<Endpoint>(endpoints, request.operation);
  return endpoint && rowsIn(endpoint.response);
}

/** Checks the columns and fields that the flags name: each must be in the contract, or in some row. */
class NamedFields {
  readonly #resource: Resource;
  readonly #columns: readonly Column<object>[];
  readonly #context: CommandContext;
  #missing: readonly Column<object>[];
  #schema: ReturnType<typeof rowSchema> | undefined;

  constructor(
    resource: Resource,
    columns: readonly Column<object>[],
    named: readonly (Column<object> | undefined)[],
    context: CommandContext,
  ) {
    this.#resource = resource;
    this.#columns = columns;
    this.#context = context;
    const isColumn = ({ id }: Column<object>): boolean => columns.some(column => column.id === id);
    this.#missing = named.filter(column => column !== undefined).filter(column => !isColumn(column));
  }

  /** Looks for the missing ones in these rows. Returns true once all are found. */
  async find(rows: readonly object[]): Promise<boolean> {
    const isIn = (row: object, { id, value }: Column<object>) => Object.hasOwn(row, id) || value(row) !== undefined;
    this.#missing = this.#missing.filter(column => !rows.some(row => isIn(row, column)));
    if (this.#missing.length === 0) return true;
    const wasRead = this.#schema !== undefined;
    this.#schema ??= rowSchema(this.#resource, this.#context);
    const schema = await this.#schema;
    if (!wasRead && schema) this.#missing = this.#missing.filter(({ id }) => !mayHaveField(schema, namesIn(id)));
    return this.#missing.length === 0;
  }

  /** Call this after the last row. @throws CommandError if one was not found */
  async check(): Promise<void> {
    if (await this.find([])) return;
    throw noColumn(this.#columns, this.#missing[0]?.id ?? '');
  }
}

/** Whether a program reads the output; if so, the columns must not depend on the rows. */
const isForPrograms = (format: ListFormat, { columns }: CommandIo): boolean =>
  format !== 'lines' && (format !== 'table' || columns === undefined);

/** The ids of columns that the `lines` format always includes, in addition to the options in which the rows differ. */
const onLines: readonly string[] = ['alarm', 'model', 'benchmark'];

function columnsOf(
  resource: Resource,
  columns: readonly Column<object>[],
  { columns: wanted, wide }: Flags,
  format: ListFormat,
  io: CommandIo,
): Column<object>[] {
  const chosen = (column: Column<object>): Column<object> => ({ ...column, wide: false, ifAny: false });
  if (wanted !== undefined) return wanted.split(',').map(name => chosen(columnNamed(resource, columns, name.trim())));
  if (wide) return columns.filter(column => !column.hidden).map(chosen);
  // Other wide columns make a line longer, and some need a request per row.
  const isOnLine = ({ id, hidden, wide, decides = 9 }: Column<object>): boolean =>
    onLines.includes(id) || (!hidden && (!wide || decides <= 3 || id.startsWith('option.')));
  if (format === 'lines') return columns.filter(isOnLine);
  const isForProgram = isForPrograms(format, io);
  // On a terminal, columns for programs show only if there is room.
  const shown = (column: Column<object>): Column<object> => (isForProgram ? { ...column, wide: false } : column);
  // Which options differ depends on the rows, so programs get none by default.
  const isFixed = ({ id }: Column<object>): boolean => !isForProgram || !id.startsWith('option.');
  const isShown = (column: Column<object>): boolean => !column.hidden && (!column.wide || column.forPrograms === true);
  const fixed = columns.filter(column => isShown(column) && isFixed(column) && column.id !== 'id');
  // Scripts may rely on the declared columns' positions.
  const isDeclared = ({ id }: Column<object>): boolean => resource.columns.some(column => column.id === id);
  const [first, ...others] = isForProgram
    ? [...fixed.filter(isDeclared), ...fixed.filter(column => !isDeclared(column))]
    : fixed;
  const id = columns.find(column => column.id === 'id');
  // The next command will need the id.
  return [first, id && { ...id, wide: false }, ...others].filter(column => column !== undefined).map(shown);
}

/** Never truncates ids: a truncated id is useless. */
function withWholeIds(columns: readonly Column<object>[], rows: readonly object[]): readonly Column<object>[] {
  return columns.map(column => {
    if (column.id !== 'id') return column;
    const longest = rows.reduce((most, row) => Math.max(most, String(column.value(row)).length), column.title.length);
    return { ...column, width: longest };
  });
}

/** Resolves names to ids. @throws CommandError if nothing has the name */
async function scopeOf(flags: Flags, { scopes = [] }: Resource, context: CommandContext): Promise<Scope> {
  const scope: { -readonly [Name in ScopeName]?: string } = {};
  for (const name of scopes) {
    const word = flags[name];
    if (word === undefined) continue;
    const of = resourceNamed(name);
    scope[name] = of ? await scopeValue(of, word, context) : word;
  }
  return scope;
}

/** The query value that narrows a list to the row with this id or name. */
async function scopeValue(of: Resource, word: string, context: CommandContext): Promise<string> {
  if (!of.scopeValue) return idNamed(of, word, context);
  try {
    const { row } = await findAmong([of], word, context);
    return of.scopeValue(row) ?? word;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'capability_missing') return word;
    throw error;
  }
}

/** The status given with `--status`, and the known statuses. */
class WantedStatus {
  readonly #word: string;
  readonly #column: Column<object> | undefined;
  readonly #words: string;
  readonly #known: Set<string>;

  constructor(resource: Resource, word: string) {
    this.#word = word;
    this.#column = statusColumnOf(resource);
    this.#words = pluralName(resource);
    this.#known = new Set(this.#column?.known);
  }

  readonly isOf = (row: object): boolean => {
    const status = this.#column?.value(row);
    if (!this.#column || typeof status !== 'string') return false;
    this.#known.add(status);
    // A run that waits is shown as waiting, although its status is running.
    return [status, cellText(this.#column, row)].some(each => isSameStatus(each, this.#word));
  };

  /** @throws CommandError for a status that is neither known nor in any row */
  check(): void {
    const known = [...this.#known];
    if (known.some(status => isSameStatus(status, this.#word))) return;
    const hint = didYouMean(this.#word, known);
    const words = [
      `There is no status ${this.#word}.`,
      hint,
      `The statuses of ${this.#words} are ${known.join(', ')}.`,
    ];
    throw new CommandError(words.filter(Boolean).join(' '));
  }
}

function checkScopes(resource: Resource, flags: Flags): void {
  const { scopes = [], needs } = resource;
  const [name] = resource.names;
  const isWrong = (scope: ScopeName): boolean =>
    flags[scope] !== undefined && !scopes.includes(scope) && !(scope === 'status' && statusColumnOf(resource));
  const wrong = scopeNames.find(isWrong);
  if (wrong) throw new CommandError(`--${wrong} is not for ${name}.`);
  const [one, other] = scopes.filter(scope => scope !== 'status' && flags[scope] !== undefined);
  if (one && other) throw new CommandError(`--${one} cannot be used with --${other} in one list.`);
  if (needs && flags[needs] === undefined) throw new CommandError(`${name} are listed by ${needs}: add --${needs} ID.`);
  if (flags.baseline !== undefined && !resource.watch?.difference)
    throw new CommandError(`--baseline is not for ${name}.`);
  if (flags.columns !== undefined && (flags.json || flags.format === 'json' || flags.format === 'jsonl')) {
    throw new CommandError('--columns is for tables, CSV and Markdown: JSON has whole rows; --jq chooses fields.');
  }
}

/** Whether each row prints as a single value on a line. */
const isLineFlags = ({ ids, field }: Flags): boolean => ids === true || field !== undefined;

const formatOf = ({ json, format }: Flags, { lines }: CommandIo): ListFormat =>
  json ? 'json' : (format ?? (lines ? 'lines' : 'table'));

/** Formats the rows by the flags. */
class PrintedRows {
  readonly #resource: Resource;
  readonly #id: (row: object) => string;
  readonly #flags: Flags;
  readonly #measured: MeasuredRows;
  readonly #io: CommandIo;
  /** The number of ids that cannot be printed unchanged on one line. */
  #unfit = 0;

  constructor(resource: Resource, id: (row: object) => string, flags: Flags, measured: MeasuredRows, io: CommandIo) {
    this.#resource = resource;
    this.#id = id;
    this.#flags = flags;
    this.#measured = measured;
    this.#io = io;
  }

  /** The columns for these rows. @throws CommandError for an unknown name */
  named(rows: readonly object[]) {
    return namedColumns(this.#resource, this.#measured.columns(rows), this.#flags, this.#io);
  }

  readonly text = async (found: readonly object[], isFirst: boolean): Promise<string> => {
    const [flags, io, format] = [this.#flags, this.#io, formatOf(this.#flags, this.#io)];
    const room = format === 'table' && hasColumns(flags) ? io.columns : undefined;
    const rows = await this.#measured.shown(found, this.named(found).shown, room);
    const { field, shown } = this.named(rows);
    if (field) {
      const value = field.exported ?? field.value;
      const isColumn = this.#measured.columns(rows).some(({ id }) => id === field.id);
      return rows.map(row => `${lineText(value(isColumn ? row : this.#measured.exported(row)))}\n`).join('');
    }
    if (isLineFlags(flags)) {
      const ids = rows.map(this.#id);
      const whole = ids.filter(id => lineText(id) === id);
      this.#unfit += ids.length - whole.length;
      return whole.map(id => `${id}\n`).join('');
    }
    const printed = hasColumns(flags) ? rows : rows.map(row => this.#measured.exported(row));
    if (flags.jq !== undefined) return applyJq(printed, flags.jq, io);
    const head = isFirst ? '' : rowsText([], shown, format, io);
    const columns = isForPrograms(format, io) ? shown : withoutEmpty(shown, rows);
    const text = rowsText(printed, withWholeIds(columns, rows), format, io).slice(head.length);
    if (format !== 'lines') return text;
    io.lines?.listed(this.#resource.names[0], rows.map(this.#id));
    return rows.length === 0
      ? ''
      : `${counted(rows.length, singularName(this.#resource), pluralName(this.#resource))}\n${text}`;
  };

  /** Reports the number of ids that were not printed: a script must not act on an id that no row has. */
  note(): void {
    if (this.#unfit === 0) return;
    const them = this.#unfit === 1 ? 'it' : 'them';
    this.#io.note(`${counted(this.#unfit, 'id')} cannot be printed on one line: --json has ${them}`);
  }
}

/** Adds the flag and note columns to trajectories and runs, as on the screen. @param byId filled before rows are read */
function withNoteColumns(
  resource: Resource,
  byId: ReadonlyMap<string, readonly Note[]>,
  isForProgram: boolean,
): Resource {
  if (!takesNotes(resource.kind)) return resource;
  // Scripts may rely on the columns' positions, so these come last for them, and need the flags alone.
  const added = noteColumns(byId, resource.list({}).id).map(({ text, ...column }) =>
    isForProgram ? { ...column, wide: true } : { ...column, ...(text && { text }) },
  );
  const withAdded = (columns: readonly Column<object>[]) =>
    isForProgram ? [...columns, ...added] : [...columns.slice(0, 1), ...added, ...columns.slice(1)];
  const { columns, measures } = resource;
  return {
    ...resource,
    columns: withAdded(columns),
    ...(measures && {
      measures: { ...measures, columns: (rows, range) => withAdded(measures.columns(rows, range)) },
    }),
  };
}

/** What the rows of a list pass through. */
interface ListParts {
  readonly resource: Resource;
  readonly flags: Flags;
  readonly status: WantedStatus | undefined;
  readonly measured: MeasuredRows;
  readonly fields: NamedFields;
  readonly lacking: LackingColumns;
  readonly output: ListOutput;
  /** Whether no more rows are needed. */
  readonly isEnough: () => boolean;
}

/** Reads pages, and hands the wanted rows to the output. */
async function readRows(
  pages: AsyncIterable<ResourcePage<object>>,
  { resource, flags, status, measured, fields, lacking, output, isEnough }: ListParts,
) {
  let last: Omit<ResourcePage<object>, 'rows'> = { notes: [], unread: [], isCutOff: false, isRemembered: false };
  const held: object[] = [];
  const waits: string[] = [];
  let isEmpty = true;
  const take = async (rows: readonly object[], read: number): Promise<void> => {
    isEmpty &&= rows.length === 0;
    lacking.look(rows);
    const found = await measured.filtered(rows);
    pushAll(waits, waitsOf(resource, found));
    await output.take(hasColumns(flags) ? measured.remembered(found) : found, read);
  };
  for await (const page of pages) {
    last = page;
    // The rows that a filter leaves may lack a field that others have.
    await fields.find(page.rows);
    const rows = status ? page.rows.filter(status.isOf) : page.rows;
    if (measured.needsAll) {
      pushAll(held, rows);
      await output.take([], page.rows.length);
    } else await take(rows, page.rows.length);
    if (isEnough()) break;
  }
  if (measured.needsAll) await take(held, 0);
  return { last, waits, isEmpty };
}

export async function run({ args, flags }: CommandInput<'list'>, io: CommandIo): Promise<number> {
  const [name = ''] = args;
  const byId = new Map<string, readonly Note[]>();
  const resource = withNoteColumns(resourceOrThrow(name), byId, isForPrograms(formatOf(flags, io), io));
  checkScopes(resource, flags);
  // Refuse unknown names before anything is read.
  const named = namedColumns(resource, resource.measures?.columns([], defaultRange) ?? resource.columns, flags, io);
  const status = flags.status === undefined ? undefined : new WantedStatus(resource, flags.status);
  return withService(flags, io, async connected => {
    const context = readingOnce(connected);
    const notes = takesNotes(resource.kind) && new Notes(() => connected.memory, connected.config.preferences.triage);
    for (const [id, ofRow] of notes ? notes.byId() : []) byId.set(id, ofRow);
    const scope = await scopeOf(flags, resource, context);
    const measured = await measuredRows(resource, named, scope, flags, context);
    const printed = new PrintedRows(resource, resource.list(scope).id, flags, measured, io);
    const { sort, field } = printed.named([]);
    const declared = field && measuredColumnOf(resource, field) === field.id ? field : undefined;
    const fields = new NamedFields(resource, measured.columns([]), [...named.shown, sort, declared], context);
    const needed = [sort, ...columnsIn(flags.filter ?? '', measured.columns([]))].flatMap(column => column ?? []);
    const lacking = new LackingColumns(needed, flags.columns === undefined ? [] : named.shown);
    const limit = flags.all ? Number.POSITIVE_INFINITY : (flags.limit ?? defaultLimit);
    const output = new ListOutput({
      streams: !sort && isPrintedAsRead(resource, flags, io),
      limit,
      isReady: async rows => (await fields.find(rows)) && !lacking.refuses,
      text: printed.text,
      io,
    });
    const { last, waits, isEmpty } = await readRows(pagesOf(resource, scope, { ...context, readsProgress: true }), {
      ...{ resource, flags, status, measured, fields, lacking, output },
      isEnough: () => output.taken > limit && !sort && !lacking.refuses,
    });
    if (output.taken === 0) status?.check();
    await fields.check();
    if (!isEmpty) lacking.check();
    if (output.taken === 0) measured.checkStatus();
    const shown = sort ? await endSorted(output, sort, flags, io) : await output.end(rows => rows);
    for (const note of [...last.notes, ...waits]) io.note(note);
    if (shown > 0) for (const note of lacking.notes()) io.note(note);
    measured.note();
    printed.note();
    // A script must not mistake a list that was not read for an empty one.
    if (output.taken === 0 && last.unread.length > 0) return exitCodes.failed;
    if (shown === 0) io.note(describeNone(resource, flags, last.isRemembered));
    if (output.taken > limit) io.note(describeMore(limit));
    return exitCodes.done;
  });
}

/** Whether rows can be printed as they are read: to find the options that differ, all rows must be read. */
const isPrintedAsRead = ({ measures }: Resource, flags: Flags, io: CommandIo): boolean =>
  !(hasColumns(flags) && flags.wide && measures && !measures.fixed) &&
  (isLineFlags(flags) || (flags.jq === undefined && isLineByLine(formatOf(flags, io), io)));

/** Sorts the rows, and prints them. @returns how many were printed */
async function endSorted(output: ListOutput, sort: Column<object>, { reverse = false }: Flags, { note }: CommandIo) {
  let words = '';
  const shown = await output.end(rows => {
    words = sortNoteOf(sort, rows);
    return sortRows(rows, sort.sortedBy ?? sort.value, reverse);
  });
  if (words !== '') note(`Sorted by ${sort.title}, ${words}.`);
  return shown;
}

/** Why rows are waiting, which only the local service reports. */
function waitsOf(resource: Resource, rows: readonly object[]): string[] {
  return rows.flatMap(row => {
    const why = isRecord(row) ? row['waits_because'] : undefined;
    return typeof why === 'string' ? [clean`${labelOf(resource, row)} waits: ${why}`] : [];
  });
}

function describeMore(limit: number): string {
  const these = limit === 1 ? 'is more than this row' : `are more than these ${limit} rows`;
  return `There ${these}: use --limit N or --all.`;
}

/** Whether the rows are printed in columns. */
const hasColumns = (flags: Flags): boolean =>
  !isLineFlags(flags) && !flags.json && flags.jq === undefined && flags.format !== 'json' && flags.format !== 'jsonl';

function describeNone(resource: Resource, { filter, status }: Flags, isRemembered: boolean): string {
  if (filter !== undefined || status !== undefined) return `No ${pluralName(resource)} match.`;
  return isRemembered ? `${describeNoneSeen(resource)}.` : `There are no ${pluralName(resource)}.`;
}

/** The id of the column to read for a field. */
const measuredColumnOf = ({ measures }: Resource, { id }: Column<object>): string =>
  measures?.columnOf?.(namesIn(id)) ?? id;

/** The rows with the values that the columns, the order and the filter need. */
async function measuredRows(
  resource: Resource,
  { shown, sort, field }: ReturnType<typeof namedColumns>,
  scope: Scope,
  flags: Flags,
  context: CommandContext,
): Promise<MeasuredRows> {
  const options = {
    filter: flags.filter ?? '',
    sort: sort?.id,
    field: field && measuredColumnOf(resource, field),
    // JSON has the whole rows; --wide adds the measured values.
    shown: hasColumns(flags) || flags.wide ? shown.map(({ id }) => id) : [],
    scope,
    range: context.compare.rewardRange,
    ...(flags.baseline !== undefined && { baseline: await idNamed(resource, flags.baseline, context) }),
  };
  return new MeasuredRows(resource, resource.list(scope).id, options, context);
}

/** The columns to print, to sort by and for `--field`. @throws CommandError for an unknown name */
function namedColumns(resource: Resource, columns: readonly Column<object>[], flags: Flags, io: CommandIo) {
  const named = (name: string | undefined): Column<object> | undefined =>
    name === undefined ? undefined : columnNamed(resource, columns, name);
  return {
    shown: columnsOf(resource, columns, flags, formatOf(flags, io), io),
    sort: named(flags.sort),
    field: flags.field === 'id' ? undefined : named(flags.field),
  };
}
