/** Finds rows of resources by id or name. */
import { existsSync, statSync } from 'node:fs';

import { enumerated } from '../base/enumerated.ts';
import { readShared } from '../queries/query-context.ts';
import { rememberRows } from '../queries/remembered-fallback.ts';
import { resourceNamed, resourceOfId, resources } from '../resources/catalogue.ts';
import { idOf, isFoundByLabel, pluralName, type Resource, type ResourceOf, singularName } from '../resources/define.ts';
import { pagesOf, type ResourcePage } from '../resources/pages.ts';
import { affectsAllRequests, isGone, isNotOffered, NotFoundError, ServiceError } from '../service/errors.ts';
import { rememberedAt } from '../store/seen.ts';
import { clean } from '../text/sanitise.ts';
import { asTyped } from '../text/typed.ts';
import { distinguishRows } from './distinguish.ts';
import { CommandError, exitCodes } from './exit.ts';
import { didYouMean } from './suggest.ts';
import type { CommandContext } from './with-service.ts';

/** @throws CommandError that suggests a resource, or lists them all */
export function resourceOrThrow(name: string): Resource {
  const found = resourceNamed(name.toLowerCase());
  if (found) return found;
  const all = resources.map(({ names }) => names[0]);
  const names = resources.flatMap(({ names: [many, one] }) => [many, one]);
  if (name === '') throw new CommandError(`The name of the resource is empty. The resources are ${all.join(', ')}.`);
  throw new CommandError(
    clean`There is no resource ${name}. ${didYouMean(name, names) || `The resources are ${all.join(', ')}.`}`,
  );
}

/** A row's id and names: users may know it by its first column, its title, or its name in the manifest. */
function namesOf<Row extends object>(resource: ResourceOf<Row>, row: Row): readonly unknown[] {
  const titles = resource.columns.filter(({ id }, index) => index === 0 || id === 'title');
  const ownName: unknown = 'name' in row ? row.name : undefined;
  return [idOf(resource, row), resource.label?.(row), ...titles.map(({ value }) => value(row)), ownName];
}

/** Whether a row has this id or name, as written or as displayed. @param typed the word as displayed */
export function isCalled<Row extends object>(
  resource: ResourceOf<Row>,
  row: Row,
  word: string,
  typed = asTyped(word),
): boolean {
  const names = namesOf(resource, row);
  return (
    names.includes(word) || (typed !== '' && names.some(name => typeof name === 'string' && asTyped(name) === typed))
  );
}

/** The rows with this name as written; if there are none, all that look alike. */
export function bestNamed<Row extends object>(found: readonly Found<Row>[], word: string): readonly Found<Row>[] {
  const exact = found.filter(({ resource, row }) => namesOf(resource, row).includes(word));
  return exact.length > 0 ? exact : found;
}

/** Why lists may have unread rows, and whether they were cut off. */
type Gaps = Pick<ResourcePage<object>, 'unread' | 'isCutOff'>;

const noGaps: Gaps = { unread: [], isCutOff: false };

/** The rows with this id or name. @param listed called with each row of the list @throws ServiceError */
export async function rowsNamed<Row extends object>(
  resource: ResourceOf<Row>,
  word: string,
  context: CommandContext,
  listed: (row: Row) => void = () => undefined,
) {
  const found: Row[] = [];
  const typed = asTyped(word);
  let gaps = noGaps;
  for await (const page of pagesOf(resource, {}, context)) {
    page.rows.forEach(listed);
    for (const row of page.rows) if (isCalled(resource, row, word, typed)) found.push(row);
    gaps = page;
  }
  return { rows: found, gaps };
}

/** The purpose of a lookup: a write must not go to another row with the same name. */
export type Use = 'read' | 'write';

export interface Lookup<Row extends object = object> {
  /** By default a read. */
  readonly use?: Use;
  /** Whether a resource's rows take precedence over those of other resources. */
  readonly isPreferred?: (resource: Resource) => boolean;
  /** Whether records are read with their large parts, such as a trajectory's steps. */
  readonly inFull?: boolean;
  /** Whether the command accepts a kind before an id: `run evr_1`. */
  readonly takesKind?: boolean;
  /** Whether the word may also be the path of a file. */
  readonly takesPath?: boolean;
  /** Called with each row of the lists. */
  readonly listed?: (found: Found<Row>) => void;
}

/** The options of a lookup that concern how a record is read. */
type Reading = Pick<Lookup, 'inFull'>;

async function readOne<Row extends object>(
  resource: ResourceOf<Row>,
  id: string,
  context: CommandContext,
  { inFull }: Reading,
) {
  const query = ((!inFull && resource.brief) || resource.get)?.(id);
  const row = query && (await readShared(query, context));
  if (query && row) rememberRows(context.memory, query, [row]);
  return row;
}

export interface Found<Row extends object = object> {
  readonly resource: Resource;
  readonly id: string;
  readonly row: Row;
}

const foundIn = <Row extends object>(resource: ResourceOf<Row>, row: Row, id = idOf(resource, row)): Found<Row> => ({
  ...{ resource: resource as unknown as Resource, id, row },
});

/** A row's name in questions and results, e.g. `run first (evr_1)`. */
export const nameOf = ({ resource, row, id }: Found): string => {
  const label = resource.label?.(row) || id;
  return clean`${singularName(resource)} ${label === id ? id : clean`${label} (${id})`}`;
};

/** Whether the service does not accept a word as an id: it may be a name, or an id of another kind. */
export const isRefusedId = (error: unknown): error is ServiceError =>
  isNotOffered(error) ||
  (error instanceof ServiceError &&
    // Some services respond to a malformed id with an error.
    (error.kind === 'not_found' || error.kind === 'validation' || error.status === 404));

/** Whether nothing with this id or name was found. */
export const isNone = (error: unknown): boolean =>
  isRefusedId(error) || (error instanceof CommandError && error.exitCode === exitCodes.notFound);

/** The row with this id, or why there is none. @throws ServiceError if the request failed */
async function tryId<Row extends object>(
  resource: ResourceOf<Row>,
  id: string,
  context: CommandContext,
  lookup: Reading,
): Promise<Found<Row> | ServiceError | undefined> {
  try {
    const row = await readOne(resource, id, context, lookup);
    return row && foundIn(resource, row, id);
  } catch (error) {
    if (isRefusedId(error)) return error;
    throw error;
  }
}

const isFound = <Row extends object>(tried: Found<Row> | ServiceError | undefined): tried is Found<Row> =>
  tried !== undefined && !(tried instanceof ServiceError);

/** The rows that have a word as their id or, failing that, as their name, or look as if they had. */
export interface LookupResult<Row extends object = object> {
  readonly found: readonly Found<Row>[];
  /** Whether `found` are rows from lists, which may lack some of their records' fields. */
  readonly isListed: boolean;
  /** Why other rows may have this name too. */
  readonly gaps?: Gaps;
  /** Why nothing was found. */
  readonly none?: Error;
}

/**
 * Looks a word up among several resources. An id takes precedence over names, because nothing else identifies the row.
 * The form of an id is only a hint: it decides the order of attempts, never their outcome.
 *
 * @throws CommandError for an empty word; ServiceError if a list that may have the name cannot be read
 */
export async function lookUp<Row extends object>(
  among: readonly ResourceOf<Row>[],
  word: string,
  context: CommandContext,
  lookup: Lookup<Row> = {},
): Promise<LookupResult<Row>> {
  const { listed, takesPath } = lookup;
  if (word.trim() === '') {
    throw new CommandError(`The id or name is empty: give one of a ${enumerated(among.map(singularName), 'or')}.`);
  }
  const looksLike = resourceOfId(word);
  const guess = among.find((resource: object) => resource === looksLike);
  const guessed = guess && (await tryId(guess, word, context, lookup));
  if (isFound(guessed)) return { found: [guessed], isListed: false };
  const rows: Found<Row>[] = [];
  const unlisted: ServiceError[] = [];
  const gaps: Gaps[] = [];
  let failure: ServiceError | undefined;
  // After one lookup fails despite its retries, the others are tried only once: the whole service may be failing.
  let attempted = context;
  // For a word that looks like an id, skip rows without names: a service may have too many of them.
  for (const resource of among.length > 1 || guess ? among.filter(isFoundByLabel) : among) {
    const ofList = listed && ((row: Row) => listed(foundIn(resource, row)));
    const named = await rowsNamed(resource, word, attempted, ofList).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || affectsAllRequests(error) || context.signal.aborted) throw error;
      if (isNotOffered(error) && (among.length > 1 || guess)) unlisted.push(error);
      else {
        failure ??= error;
        if (error.kind === 'server') attempted = { ...context, service: context.service.background };
      }
      return { rows: [], gaps: noGaps };
    });
    gaps.push(named.gaps);
    for (const row of named.rows) rows.push(foundIn(resource, row));
  }
  const byId = rows.filter(({ id }) => id === word);
  if (byId.length > 0) return { found: byId, isListed: true };
  // A service may use a different form of id. If it does not list this resource, only names seen here are known.
  const isRemembered = rows.every(({ row }) => rememberedAt(row) !== undefined);
  let refusal = guessed;
  for (const resource of isRemembered ? among.filter(each => each !== guess) : []) {
    const tried = await tryId(resource, word, attempted, lookup).catch((error: unknown) => {
      throw failure ?? error;
    });
    // Given a word that looks like another kind of id, the service may return a different row.
    const isSure = among.length === 1 && !looksLike;
    if (isFound(tried) && (isSure || idOf(resource, tried.row) === word)) {
      // An id belongs to one resource.
      return { found: [tried], isListed: false };
    }
    if (isSure && tried instanceof ServiceError) refusal = tried;
  }
  // An unread list may have a row with this name.
  if (failure) throw failure;
  const unread = [...new Set(gaps.flatMap(each => each.unread))];
  if (rows.length > 0)
    return {
      found: bestNamed(rows, word),
      isListed: true,
      gaps: { unread, isCutOff: gaps.some(each => each.isCutOff) },
    };
  const none = noneFound(word, { among, looksLike, refusal, unlisted, unread, takesPath });
  return { found: [], isListed: true, none };
}

/**
 * Notes that a list may have another row with that name.
 *
 * @throws CommandError for a write if the list was not read to its end
 */
export function checkOnly(found: Found, { unread, isCutOff }: Gaps = noGaps, { io }: CommandContext, use: Use): void {
  if (unread.length === 0) return;
  const why = clean`another ${singularName(found.resource)} may have that name, because not all rows could be read: ${unread.join('. ')}.`;
  if (use === 'write' && isCutOff)
    throw new CommandError(`Give the id. ${nameOf(found)} has that name, but ${why} Nothing was changed.`);
  io.note(`${nameOf(found)} was found by its name, but ${why}`);
}

/**
 * The row with this id or name among several resources.
 *
 * @throws CommandError or ServiceError if there is none; CommandError if several have the name (or, for a write, may
 * have it) and none serves it
 */
export async function findAmong<Row extends object>(
  among: readonly ResourceOf<Row>[],
  word: string,
  context: CommandContext,
  lookup: Lookup<Row> = {},
): Promise<Found<Row>> {
  const { use = 'read', isPreferred = () => true, takesKind } = lookup;
  const { found: all, isListed, gaps, none } = await lookUp(among, word, context, lookup);
  const preferred = all.filter(({ resource }) => isPreferred(resource));
  const named = preferred.length > 0 ? preferred : all;
  const serving = named.filter(({ resource, row }) => resource.servesLabel?.(row));
  const isOneServing = use === 'read' && named.length > 1 && serving.length === 1;
  const found = isOneServing ? serving : named;
  const [first, ...others] = found;
  if (!first) throw none;
  if (isOneServing) {
    context.io.note(
      clean`${named.length} ${kindsOf(named)} are named ${word}. This is ${first.id}, which serves ${word}.`,
    );
  }
  if (others.length > 0) throw severalNamed(among, word, found, takesKind);
  checkOnly(first, gaps, context, use);
  return isListed ? readFound(first, context, lookup) : first;
}

const kindsOf = (found: readonly Found[]): string =>
  enumerated([...new Set(found.map(({ resource }) => pluralName(resource)))], 'or');

/** The error for a name that several rows share. It lists what to type for each row, and how the rows differ. */
export function severalNamed(
  among: readonly Pick<Resource, 'names'>[],
  word: string,
  found: readonly Found[],
  takesKind = false,
): CommandError {
  const isShared = ({ id, resource }: Found): boolean =>
    found.some(other => other.id === id && other.resource !== resource);
  const ids = [...Map.groupBy(found, each => each.resource)].flatMap(([resource, ofIt]) => {
    const kind = among.length > 1 ? [singularName(resource)] : [];
    const rows = ofIt.map(({ row }) => row);
    const prefixes = ofIt.map(each => (takesKind && isShared(each) ? `${resource.names[1]} ` : ''));
    return distinguishRows(resource, rows, kind).map((words, index) => `${prefixes[index]}${words}`);
  });
  const advice =
    found.some(isShared) && !takesKind ? 'Some have the same id, so the id alone is not enough' : 'Give the id of one';
  return new CommandError(clean`${found.length} ${kindsOf(found)} are named ${word}. ${advice}: ${ids.join(', ')}.`);
}

/** Reads a listed row's record. */
export const readFound = async <Row extends object>(
  found: Found<Row>,
  context: CommandContext,
  lookup: Reading = {},
): Promise<Found<Row>> => ({
  ...found,
  row: ((await readOne(found.resource, found.id, context, lookup)) as Row | undefined) ?? found.row,
});

/** Whether there is a file, a pipe or a device at a path. */
export const isFile = (path: string): boolean =>
  existsSync(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;

/** The failed attempts to find a word that is neither an id nor a name. */
interface Tried {
  readonly among: readonly Pick<Resource, 'names'>[];
  /** The resource whose ids look like this word. */
  readonly looksLike: Resource | undefined;
  /** How the service refused the word as an id of the only resource, or of the guessed one. */
  readonly refusal: ServiceError | undefined;
  readonly unlisted: readonly ServiceError[];
  /** Why their lists may have unread rows. */
  readonly unread: readonly string[];
  readonly takesPath: boolean | undefined;
}

/** The error for a word that is neither an id nor a name. */
function noneFound(word: string, { among, looksLike, refusal, unlisted, unread, takesPath }: Tried): Error {
  const gaps = unread.length === 0 ? '' : clean`It may be among the rows that could not be read: ${unread.join('. ')}.`;
  if (refusal && among.length > 1 && looksLike && isGone(refusal)) {
    const { message } = refusal;
    const words =
      message.startsWith('There is no') && message.includes(word)
        ? message
        : clean`There is no ${singularName(looksLike)} ${word}: ${message}`;
    return new NotFoundError(`${words} Nothing else was found with this id or name.`, refusal);
  }
  // A service that rejects the form of the word rules it out only as an id.
  const isOfForm = looksLike !== undefined && refusal?.kind === 'validation';
  const noFile = existsSync(word) ? 'It is a folder: name a file in it.' : 'There is no such file either.';
  const file = isFile(word) ? clean`It is a file: benchtop read ${word} opens it.` : takesPath && noFile;
  const more = [file, gaps].filter(Boolean).join(' ');
  if (refusal && !isOfForm) return more === '' ? refusal : refusal.withAdvice(more);
  const none = clean`There is no ${enumerated(among.map(singularName), 'or')} ${word}.`;
  const form = looksLike && !among.includes(looksLike) ? `It looks like the id of a ${singularName(looksLike)}.` : '';
  const words = [none, form, ...unlisted.map(({ message }) => message), more];
  return new CommandError(words.filter(Boolean).join(' '), exitCodes.notFound);
}

/** The id for an id or a name. @throws CommandError as `findAmong` does */
export async function idNamed(resource: Resource, word: string, context: CommandContext): Promise<string> {
  try {
    return (await findAmong([resource], word, context)).id;
  } catch (error) {
    // The service cannot read single records, so use the id unchecked.
    const isUnread = error instanceof ServiceError && error.kind === 'capability_missing';
    if (isUnread && resource.idPattern?.test(word)) return word;
    throw error;
  }
}
