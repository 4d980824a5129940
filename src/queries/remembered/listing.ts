/**
 * Lists and records that fall back on remembered data. If the service does not list a kind of resource, or only part of
 * it, resources seen earlier are shown instead, with a note.
 */
import type { ListQuery } from '../../contract/common.ts';
import type { Operation } from '../../contract/endpoints.ts';
import {
  CapabilityMissingError,
  isGone,
  isNotOffered,
  mayLackPath,
  NotFoundError,
  ServiceError,
} from '../../service/errors.ts';
import { readPages } from '../../service/pagination.ts';
import { type AnnotatedPage, type ListSource, pageSize, wholePage } from '../lists/list.ts';
import type { LiveQuery } from '../live-query.ts';
import type { QueryContext } from '../query-context.ts';
import type { Observation } from '../statuses/store.ts';
import { rememberedAt } from './seen.ts';
import type { RememberedResource, RememberedStore } from './store.ts';

export interface Remembering<Row> {
  readonly kind: string;
  /** The id field of a row. */
  readonly idName: string;
  /** What a row says about its resource. */
  readonly observe: (row: Row) => Observation;
  /** Only resources of this parent. */
  readonly parent?: string | undefined;
  /** The remembered rows that belong into the list; all by default. */
  readonly keeps?: (row: Row) => boolean;
  /** In the plural, for the note: `runs`. */
  readonly words: string;
}

/** A row seen only in part, e.g. in an answer about progress, has just its id. Its age is a time like all others. */
function rowOf<Row>({ id, record, seenAt }: RememberedResource, idName: string): Row {
  return { [idName]: id, ...record, remembered_at: new Date(seenAt).toISOString() } as unknown as Row;
}

/** Shows what was remembered if the service does not list it, and declares what the rows of a list say. */
export function remembering<Row extends object>(
  source: ListSource<Row>,
  { kind, idName, observe, parent, keeps = () => true, words }: Remembering<Row>,
): ListSource<Row> {
  return {
    ...source,
    observes: observe,
    instead: ({ memory }): AnnotatedPage<Row> => {
      const seen = memory.list(kind, parent);
      const items = seen.map(resource => rowOf<Row>(resource, idName)).filter(keeps);
      const note = `This service does not list ${words}: showing those seen here, as they were then`;
      return { ...wholePage(items, note), remembered_at: seen[0]?.seenAt ?? 0 };
    },
  };
}

/** Reads a page of a list, or what is shown if the service does not list it. @throws ServiceError */
export async function readListed<Row>(
  { readPage, instead }: ListSource<Row>,
  context: QueryContext & { readonly query: ListQuery },
): Promise<AnnotatedPage<Row>> {
  try {
    return await readPage(context);
  } catch (error) {
    if (instead && isNotOffered(error)) return instead(context);
    throw error;
  }
}

/** Where to find a record that the service does not serve by itself. */
export interface Fallback<Row> {
  /** The list that contains it, by its parent; the list of all if the parent is unknown. */
  readonly listed: { readonly by: Operation; readonly in: (parent: string | undefined) => ListSource<Row> };
  /**
   * The record from another endpoint, or from memory.
   *
   * @param error why its record could not be read
   * @throws ServiceError, a NotFoundError if it does not exist
   */
  readonly read: (context: QueryContext, seen: Row | undefined, error: unknown) => Promise<Row>;
}

/** Pages of the list of all that are searched for a record whose parent is not known, 50 benchmarks each. */
const mostPagesSearched = 20;

/** Makes a record fall back on other endpoints and remembered data, and declares what it says. */
export function rememberingOne<Row extends object>(
  query: LiveQuery<Row>,
  id: string,
  { kind, idName, observe }: Pick<Remembering<Row>, 'kind' | 'idName' | 'observe'>,
  elsewhere?: Fallback<Row>,
): LiveQuery<Row> {
  const inList = async (
    context: QueryContext,
    { by, in: listIn }: Fallback<Row>['listed'],
  ): Promise<Row | undefined> => {
    const { memory, service } = context;
    const { capabilities } = service;
    const parent = memory.find(kind, id)?.parent;
    if (!capabilities.has(by) || (parent === undefined && capabilities.isUnlisted(id))) return undefined;
    const source = listIn(parent);
    const readPage = (cursor: string | undefined) =>
      readListed(source, { ...context, query: { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) } });
    let pages = 0;
    for await (const { items } of readPages(readPage)) {
      const row = items.find(each => source.id(each) === id && rememberedAt(each) === undefined);
      if (row) return row;
      pages += 1;
      if (parent === undefined && pages === mostPagesSearched) break;
    }
    // Searching takes a request for each benchmark: once is enough.
    if (parent === undefined) capabilities.noteUnlisted(id);
    return undefined;
  };
  /** Its own endpoint comes first, then the list for the status that it may lack. */
  const readOtherwise = async (
    context: QueryContext,
    { listed, read }: Fallback<Row>,
    row: Row | undefined,
    error: unknown,
  ): Promise<Row> => {
    const unlessRefused = (failure: unknown): ServiceError => {
      if (failure instanceof ServiceError && !context.signal.aborted) return failure;
      throw failure;
    };
    const known = await read(context, row, error).catch(unlessRefused);
    const isKnown = !(known instanceof ServiceError);
    if (isKnown && observe(known).status != null && rememberedAt(known) === undefined) return known;
    const found = await inList(context, listed).catch(unlessRefused);
    if (found && !(found instanceof ServiceError)) return found;
    if (isKnown) return known;
    // A 404 without an envelope says nothing about the record.
    throw known instanceof NotFoundError && !isGone(known) ? error : known;
  };
  return {
    ...query,
    about: { kind, id },
    observes: observe,
    read: async context => {
      try {
        return await query.read(context);
      } catch (error) {
        if (!isNotOffered(error) && !(elsewhere && mayLackPath(error))) throw error;
        const seen = context.memory.find(kind, id);
        const row = seen && rowOf<Row>(seen, idName);
        if (!elsewhere && row) return row;
        if (!elsewhere) throw error;
        const found = await readOtherwise(context, elsewhere, row, error);
        if (mayLackPath(error) && rememberedAt(found) === undefined) context.service.capabilities.confirmMissing(error);
        return found;
      }
    },
  };
}

/**
 * Reads what belongs to a record. A 404 concerns the endpoint if the record is found: some services answer a path they
 * do not have as they answer an id they do not have.
 *
 * @throws ServiceError, a CapabilityMissingError if only the record exists
 */
export async function readPart<Data, Row extends object>(
  operation: Operation,
  record: Pick<LiveQuery<Row>, 'read'>,
  context: QueryContext,
  read: () => Promise<Data>,
): Promise<Data> {
  try {
    return await read();
  } catch (error) {
    if (!isGone(error) && !mayLackPath(error)) throw error;
    const found = await record.read(context);
    const isPast = rememberedAt(found) !== undefined;
    if (isPast && !mayLackPath(error)) throw error;
    if (!isPast && mayLackPath(error)) context.service.capabilities.confirmMissing(error);
    throw new CapabilityMissingError(operation);
  }
}

/** Remembers what a command read, since commands have no observed cache. */
export function rememberRows<Row>(
  memory: RememberedStore,
  { observes }: { readonly observes?: ((row: Row) => Observation) | undefined },
  rows: readonly Row[],
): void {
  if (observes) memory.see(rows.filter(row => rememberedAt(row as object) === undefined).map(observes));
}
