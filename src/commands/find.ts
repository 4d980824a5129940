/** Rows of resources by what a user types: an id, or a name. */
import { rememberRows } from '../queries/remembered/listing.ts';
import { CommandError, exitCodes } from './failure.ts';
import { type Resource, resourceNamed, resources, type Scope } from './resources.ts';
import type { CommandContext } from './with-service.ts';

export interface ResourcePage {
  readonly rows: readonly object[];
  /** Why there may be more than these, and what could not be read. */
  readonly notes: readonly string[];
}

/** The largest page that the contract allows. */
const pageSize = 200;

/** The rows of a list, page by page; ends when the caller does. */
export async function* pagesOf(
  resource: Resource,
  scope: Scope,
  { service, memory, signal }: CommandContext,
): AsyncGenerator<ResourcePage, void> {
  const source = resource.source(scope);
  let cursor: string | undefined;
  do {
    const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
    const page = await source.readPage({ service, query, signal, memory });
    const unreadable = page.dropped === 0 ? [] : [`${page.dropped} rows could not be read`];
    rememberRows(memory, source, page.items);
    yield { rows: page.items, notes: [...unreadable, ...(page.note ? [page.note] : [])] };
    cursor = page.has_more ? (page.next_cursor ?? undefined) : undefined;
  } while (cursor !== undefined);
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
  const { names, one, idPattern, label } = resource;
  const { service, signal, memory } = context;
  const byId = async (id: string): Promise<object | undefined> => {
    const query = one?.(id);
    const row = await query?.read({ service, signal, memory });
    if (query && row) rememberRows(memory, query, [row]);
    return row;
  };
  const missing = (): never => {
    throw new CommandError(`There is no ${names[1]} ${word}.`, exitCodes.notFound);
  };
  if (idPattern?.test(word)) return (await byId(word)) ?? missing();
  const source = resource.source(scope);
  const found: never[] = [];
  for await (const { rows } of pagesOf(resource, scope, context)) {
    for (const row of rows as never[]) if (source.id(row) === word || label(row) === word) found.push(row);
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
  return resource.source({}).id((await findOne(resource, word, context)) as never);
}
