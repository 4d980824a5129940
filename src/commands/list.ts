/** `benchtop list`: what there is of a resource, for people and for programs. */
import type { Column } from '../present/column.ts';
import { createArrange } from '../present/rows.ts';
import { sortRows } from '../present/sort.ts';
import { resourceNamed } from '../resources/catalogue.ts';
import type { Resource } from '../resources/define.ts';
import type { Scope, ScopeName } from '../resources/place.ts';
import { safeJson } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { idOf, pagesOf, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { type ListFormat, rowsText } from './output.ts';
import type { Given } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

const usualLimit = 100;
const scopeNames = ['benchmark', 'run', 'training', 'dataset', 'status'] as const satisfies readonly ScopeName[];

type Flags = Given<'list'>['flags'];

/** By its id or its title. @throws CommandError naming what there is */
function columnNamed({ columns }: Resource, name: string): Column<object> {
  const found = columns.find(({ id, title }) => id === name || title.toLowerCase() === name.toLowerCase());
  if (found) return found;
  throw new CommandError(`There is no column ${name}. There are ${columns.map(({ id }) => id).join(', ')}.`);
}

function columnsOf(resource: Resource, { columns: wanted, wide }: Flags): Column<object>[] {
  const shown = (column: Column<object>): Column<object> => ({ ...column, wide: false });
  if (wanted !== undefined) return wanted.split(',').map(name => shown(columnNamed(resource, name.trim())));
  if (wide) return resource.columns.map(shown);
  const [first, ...others] = resource.columns.filter(column => !column.wide && column.id !== 'id');
  const id = resource.columns.find(column => column.id === 'id');
  // What the next command will ask for.
  return [first, id && shown(id), ...others].filter(column => column !== undefined);
}

/** An id that is cut is none. */
function withWholeIds(columns: readonly Column<object>[], rows: readonly object[]): readonly Column<object>[] {
  return columns.map(column => {
    if (column.id !== 'id') return column;
    const longest = rows.reduce((most, row) => Math.max(most, String(column.value(row)).length), column.title.length);
    return { ...column, width: longest };
  });
}

/** Names of resources become their ids. */
async function scopeOf(flags: Flags, context: CommandContext): Promise<Scope> {
  const scope: { -readonly [Name in ScopeName]?: string } = {};
  for (const name of scopeNames) {
    const word = flags[name];
    if (word === undefined) continue;
    const of = resourceNamed(name);
    scope[name] = of?.idPattern ? await idOf(of, word, context) : word;
  }
  return scope;
}

/** Before anything is asked. */
function checkScopes({ names: [name], scopes = [], needs }: Resource, flags: Flags): void {
  const wrong = scopeNames.find(scope => flags[scope] !== undefined && !scopes.includes(scope));
  if (wrong) throw new CommandError(`--${wrong} is not for ${name}.`);
  if (needs && flags[needs] === undefined) throw new CommandError(`${name} are listed by ${needs}: say --${needs} ID.`);
}

export async function run({ args, flags }: Given<'list'>, io: CommandIo): Promise<number> {
  const [name = ''] = args;
  const resource = resourceOrThrow(name);
  checkScopes(resource, flags);
  const format: ListFormat = flags.json ? 'json' : (flags.format ?? 'table');
  const limit = flags.all ? Number.POSITIVE_INFINITY : (flags.limit ?? usualLimit);
  const columns = columnsOf(resource, flags);
  const sort = flags.sort === undefined ? undefined : columnNamed(resource, flags.sort);

  return withService(flags, io, async context => {
    const scope = await scopeOf(flags, context);
    const source = resource.list(scope);
    const arrange = createArrange(resource.columns, source.id);
    let notes: readonly string[] = [];
    const rows: object[] = [];
    let more = false;
    for await (const page of pagesOf(resource, scope, context)) {
      notes = page.notes;
      const { rows: kept, notice } = arrange(page.rows, { filter: flags.filter ?? '', sort: undefined });
      if (notice) throw new CommandError(notice);
      for (const row of kept) rows.push(row);
      // An order is that of all rows.
      more = rows.length > limit;
      if (more && !sort) break;
    }
    const ordered = sort ? sortRows(rows, sort.value, flags.reverse ?? false) : rows;
    const shown = ordered.slice(0, limit);
    if (flags.ids) await io.print(shown.map(row => `${safeJson(source.id(row)).slice(1, -1)}\n`).join(''));
    else await io.print(rowsText(shown, withWholeIds(columns, shown), format, io.columns));
    for (const note of notes) io.note(note);
    if (shown.length === 0) io.note(`There are no ${resource.names[0]}${flags.filter ? ' that match' : ''}.`);
    if (more) io.note(`There are more: these are the first ${limit}. --limit N or --all gives others.`);
    return exitCodes.done;
  });
}
