/** `benchtop list`: what there is of a resource, for people and for programs. */
import { parseArgs } from 'node:util';
import type { Column } from '../present/column.ts';
import { createArrange } from '../present/rows.ts';
import { sortRows } from '../present/sort.ts';
import { resourceNamed, resources } from '../resources/catalogue.ts';
import type { Resource, Scope, ScopeName } from '../resources/define.ts';
import { safeJson } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './failure.ts';
import { idOf, namesInLines, pagesOf, resourceOrThrow } from './find.ts';
import { configFlags, configOptions } from './flags.ts';
import { type CommandIo, processIo } from './io.ts';
import { type ListFormat, listFormats, rowsText } from './output.ts';
import { type CommandContext, withService } from './with-service.ts';

const usualLimit = 100;
const scopeNames = ['benchmark', 'run', 'training', 'dataset', 'status'] as const satisfies readonly ScopeName[];

export const help = `benchtop list WHAT [options]

  What there is: ${namesInLines(resources.map(({ names }) => names[0]))}.

  --benchmark ID|NAME   images (needed), runs and training runs of a benchmark
  --run ID|NAME         trajectories of an evaluation run
  --training ID|NAME    checkpoints (needed) and trajectories of a training run
  --dataset NAME        trajectories of a dataset
  --status STATUS       deployments that have it
  --filter TEXT         rows that hold the text; /re/, !text and ~fuzzy as on screen
  --sort COLUMN         by a column, --reverse the other way round; reads all rows
  --limit N             at most so many rows (${usualLimit}); --all for all
  --columns A,B         these columns; --wide for all columns
  --format FORMAT       ${listFormats.join(', ')}; --json is --format json
  --ids                 the ids alone, one a line

  The exit codes and the options of the service are told by benchtop --help.
`;

const text = { type: 'string' } as const;
const on = { type: 'boolean' } as const;

const options = {
  ...configOptions,
  benchmark: text,
  run: text,
  training: text,
  dataset: text,
  status: text,
  filter: text,
  sort: text,
  reverse: on,
  limit: text,
  all: on,
  columns: text,
  wide: on,
  format: text,
  json: on,
  ids: on,
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

function formatOf({ format, json }: Values): ListFormat {
  if (format === undefined) return json ? 'json' : 'table';
  const found = listFormats.find(name => name === format);
  if (!found) throw new CommandError(`--format takes one of ${listFormats.join(', ')}.`);
  return found;
}

function limitOf({ limit, all }: Values): number {
  if (all) return Number.POSITIVE_INFINITY;
  if (limit === undefined) return usualLimit;
  const number = Number(limit);
  if (!Number.isInteger(number) || number < 1) throw new CommandError('--limit takes a whole number from 1 on.');
  return number;
}

/** By its id or its title. @throws CommandError naming what there is */
function columnNamed({ columns }: Resource, name: string): Column<never> {
  const found = columns.find(({ id, title }) => id === name || title.toLowerCase() === name.toLowerCase());
  if (found) return found;
  throw new CommandError(`There is no column ${name}. There are ${columns.map(({ id }) => id).join(', ')}.`);
}

function columnsOf(resource: Resource, { columns: wanted, wide }: Values): Column<never>[] {
  const shown = (column: Column<never>): Column<never> => ({ ...column, wide: false });
  if (wanted !== undefined) return wanted.split(',').map(name => shown(columnNamed(resource, name.trim())));
  if (wide) return resource.columns.map(shown);
  const [first, ...others] = resource.columns.filter(column => !column.wide && column.id !== 'id');
  const id = resource.columns.find(column => column.id === 'id');
  // What the next command will ask for.
  return [first, id && shown(id), ...others].filter(column => column !== undefined);
}

/** An id that is cut is none. */
function withWholeIds(columns: readonly Column<never>[], rows: readonly never[]): readonly Column<never>[] {
  return columns.map(column => {
    if (column.id !== 'id') return column;
    const longest = rows.reduce((most, row) => Math.max(most, String(column.value(row)).length), column.title.length);
    return { ...column, width: longest };
  });
}

/** Names of things become their ids. */
async function scopeOf(values: Values, context: CommandContext): Promise<Scope> {
  const scope: { -readonly [Name in ScopeName]?: string } = {};
  for (const name of scopeNames) {
    const word = values[name];
    if (word === undefined) continue;
    const of = resourceNamed(name);
    scope[name] = of?.idPattern ? await idOf(of, word, context) : word;
  }
  return scope;
}

/** Before anything is asked. */
function checkScopes({ names: [name], scopes = [], needs }: Resource, values: Values): void {
  const wrong = scopeNames.find(scope => values[scope] !== undefined && !scopes.includes(scope));
  if (wrong) throw new CommandError(`--${wrong} is not for ${name}.`);
  if (needs && values[needs] === undefined)
    throw new CommandError(`${name} are listed by ${needs}: say --${needs} ID.`);
}

export async function run(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new CommandError(`Say what to list, once.\n\n${help}`);
  const resource = resourceOrThrow(name);
  checkScopes(resource, values);
  const format = formatOf(values);
  const limit = limitOf(values);
  const columns = columnsOf(resource, values);
  const sort = values.sort === undefined ? undefined : columnNamed(resource, values.sort);

  return withService(configFlags(values), io, async context => {
    const scope = await scopeOf(values, context);
    const source = resource.list(scope);
    const arrange = createArrange(resource.columns, source.id);
    let notes: readonly string[] = [];
    const rows: never[] = [];
    let more = false;
    for await (const page of pagesOf(resource, scope, context)) {
      notes = page.notes;
      const { rows: kept, notice } = arrange(page.rows as never[], { filter: values.filter ?? '', sort: undefined });
      if (notice) throw new CommandError(notice);
      for (const row of kept) rows.push(row);
      // An order is that of all rows.
      more = rows.length > limit;
      if (more && !sort) break;
    }
    const ordered = sort ? sortRows(rows, sort.value, values.reverse ?? false) : rows;
    const shown = ordered.slice(0, limit);
    if (values.ids) await io.print(shown.map(row => `${safeJson(source.id(row)).slice(1, -1)}\n`).join(''));
    else await io.print(rowsText(shown, withWholeIds(columns, shown), format, io.columns));
    for (const note of notes) io.note(note);
    if (shown.length === 0) io.note(`There are no ${resource.names[0]}${values.filter ? ' that match' : ''}.`);
    if (more) io.note(`There are more: these are the first ${limit}. --limit N or --all gives others.`);
    return exitCodes.done;
  });
}
