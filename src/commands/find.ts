/** Rows of resources by what a user types: an id, or a name. */
import { fruitlessPages, pageSize } from '../queries/list.ts';
import { rememberRows } from '../queries/remembered/listing.ts';
import { resourceNamed, resources } from '../resources/catalogue.ts';
import type { Resource } from '../resources/define.ts';
import type { Scope } from '../resources/place.ts';
import { readPages } from '../service/pagination.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandContext } from './with-service.ts';

export interface ResourcePage {
  readonly rows: readonly object[];
  /** Why there may be more, and what could not be read so far: those of the last page say it all. */
  readonly notes: readonly string[];
}

/** The rows of a list, page by page, each id once; ends when the caller does. */
export async function* pagesOf(
  resource: Resource,
  scope: Scope,
  { service, memory, signal }: CommandContext,
): AsyncGenerator<ResourcePage, void> {
  const source = resource.list(scope);
  const seen = new Set<string>();
  let dropped = 0;
  let repeated = 0;
  let fruitless = 0;
  const readPage = (cursor: string | undefined) =>
    source.readPage({ service, query: { limit: pageSize, cursor }, signal, memory });
  for await (const page of readPages(readPage)) {
    const rows = page.items.filter(row => {
      const id = source.id(row);
      return !seen.has(id) && seen.add(id);
    });
    rememberRows(memory, source, rows);
    dropped += page.dropped;
    repeated += page.items.length - rows.length;
    fruitless = rows.length > 0 ? 0 : fruitless + 1;
    const notes = [
      dropped === 0 ? '' : `${dropped} row${dropped === 1 ? '' : 's'} could not be read`,
      repeated === 0 ? '' : `${repeated} row${repeated === 1 ? '' : 's'} with the id of another row left out`,
      fruitless < fruitlessPages ? '' : `The last ${fruitlessPages} pages brought no new row: there may be more`,
      page.note ?? '',
    ];
    yield { rows, notes: notes.filter(Boolean) };
    if (fruitless === fruitlessPages) return;
  }
}

/** @throws CommandError naming what there is */
export function resourceOrThrow(name: string): Resource {
  const found = resourceNamed(name);
  if (found) return found;
  throw new CommandError(`There is no ${name}. There are ${resources.map(({ names }) => names[0]).join(', ')}.`);
}

/**
 * The one with this id or this name.
 *
 * @throws CommandError where there is none, or where the name is that of several
 */
export async function findOne(
  resource: Resource,
  word: string,
  context: CommandContext,
  scope: Scope = {},
): Promise<object> {
  const { names, get, idPattern, label } = resource;
  const { service, signal, memory } = context;
  const byId = async (id: string): Promise<object | undefined> => {
    const query = get?.(id);
    const row = await query?.read({ service, signal, memory });
    if (query && row) rememberRows(memory, query, [row]);
    return row;
  };
  const missing = (): never => {
    throw new CommandError(`There is no ${names[1]} ${word}.`, exitCodes.notFound);
  };
  if (idPattern?.test(word)) return (await byId(word)) ?? missing();
  const source = resource.list(scope);
  const found: object[] = [];
  for await (const { rows } of pagesOf(resource, scope, context)) {
    for (const row of rows) if (source.id(row) === word || label?.(row) === word) found.push(row);
  }
  const [row] = found;
  if (row === undefined) return (await byId(word)) ?? missing();
  if (found.length > 1) {
    const ids = found.map(each => source.id(each)).join(', ');
    throw new CommandError(`${word} is the name of ${found.length} ${names[0]}. Say which: ${ids}.`);
  }
  return (await byId(source.id(row))) ?? row;
}

/** The id for an id or a name; what looks like an id is taken as it is. @throws CommandError as `findOne` does */
export async function idOf(resource: Resource, word: string, context: CommandContext): Promise<string> {
  if (resource.idPattern?.test(word)) return word;
  return resource.list({}).id((await findOne(resource, word, context)) as never);
}
