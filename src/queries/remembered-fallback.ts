/**
 * Lists and records that fall back on remembered data. If the service does not list a kind of resource, or only some of
 * them, remembered resources are shown instead, with a note.
 */
import type { Operation } from '../contract/endpoints.ts';
import { hasEnded } from '../contract/status.ts';
import {
  CapabilityMissingError,
  isGone,
  isNotOffered,
  mayLackPath,
  NotFoundError,
  ServiceError,
} from '../service/errors.ts';
import { readPages } from '../service/pagination.ts';
import { rememberedAt } from '../store/seen.ts';
import type { RememberedResource, RememberedStore, SeenResource } from '../store/store.ts';
import { clockBehind, parseTime } from '../text/time.ts';
import { savedMeans } from './held-out.ts';
import { type AnnotatedPage, type ListSource, pageSize, readListed, wholePage } from './lists/list-source.ts';
import type { LiveQuery } from './live-query.ts';
import type { QueryContext } from './query-context.ts';
import type { Observation } from './statuses/known-resource.ts';

/** The declaration of a kind of resource whose rows are remembered. */
interface Remembering<Row> {
  readonly kind: string;
  /** The row's id field. */
  readonly idName: keyof Row & string;
  /** The plural noun for the resources in the note: `runs`. */
  readonly words: string;
  /** The observation from a row. By default, the whole row is remembered. */
  readonly observe: (row: Row) => Omit<Observation, 'kind' | 'id'>;
  /** Adds what this machine knows of the resource to its row. */
  readonly recall?: ((row: Row, seen: RememberedResource | undefined) => Row) | undefined;
}

/** The remembered rows that belong to a list; by default, all of the kind. */
interface RememberedRows<Row> {
  /** Only resources with this parent. */
  readonly parent?: string | undefined;
  readonly keeps?: (row: Row) => boolean;
}

/** When the resource was started, or else first seen; in epoch milliseconds. */
export function startTime({ record, startedAt, firstSeenAt }: RememberedResource): number {
  const created = record['created_at'];
  return (typeof created === 'string' ? parseTime(created) : undefined) ?? startedAt ?? firstSeenAt;
}

/** Where else to find a record if the service has no endpoint for it. */
export interface Fallback<Row> {
  /** The list of its parent or, if the parent is unknown, of all resources. */
  readonly listed: { readonly by: Operation; readonly in: (parent: string | undefined) => ListSource<Row> };
  /** Reads the record from another endpoint, or from memory. @throws ServiceError, a NotFoundError if it does not exist */
  readonly read: (context: QueryContext, seen: Row | undefined) => Promise<Row>;
}

/** Maximum number of pages, of 50 benchmarks each, to search for a record whose parent is unknown. */
const maxPagesSearched = 20;

/** Makes the lists and records of a kind fall back on remembered data, and declares their observations. */
export function rememberedKind<Row extends object>({
  kind,
  idName,
  words,
  observe: observeRow,
  recall,
}: Remembering<Row>) {
  const idOf = (row: Row): string => row[idName] as string;
  const observe = (row: Row): Observation => ({
    ...{ kind, id: idOf(row), record: row as Readonly<Record<string, unknown>> },
    ...observeRow(row),
  });
  const recalled = (row: Row, memory: RememberedStore): Row =>
    recall ? recall(row, memory.seen.find(kind, idOf(row))) : row;
  /**
   * Makes a row from a remembered resource. It contains only the id if no response contained the record. If the service
   * sent no start time, uses the time on this machine, converted to the service's clock.
   */
  const rowOf = (resource: RememberedResource): Row => {
    const { id, record, seenAt, startedAt } = resource;
    const timeOf = (at: number): string => new Date(at).toISOString();
    const created_at =
      record['created_at'] ?? (startedAt === undefined ? undefined : timeOf(startedAt - clockBehind()));
    const row = {
      [idName]: id,
      ...record,
      ...(created_at !== undefined && { created_at }),
      remembered_at: timeOf(seenAt),
    } as unknown as Row;
    return recall ? recall(row, resource) : row;
  };
  return {
    observe,
    list(
      source: Omit<ListSource<Row>, 'id'>,
      { parent, keeps = () => true }: RememberedRows<Row> = {},
    ): ListSource<Row> {
      return {
        ...source,
        id: idOf,
        observes: observe,
        readPage: async context => {
          const page = await source.readPage(context);
          return recall ? { ...page, items: page.items.map(row => recalled(row, context.memory)) } : page;
        },
        fallback: ({ memory }): AnnotatedPage<Row> => {
          const seen = memory.seen.list(kind, parent).sort((left, right) => startTime(right) - startTime(left));
          const note = `This service does not list ${words}: these were seen on this machine, and may be out of date`;
          return {
            ...wholePage(seen.map(rowOf).filter(keeps), note),
            remembered_at: seen.reduce((oldest, { seenAt }) => Math.min(oldest || seenAt, seenAt), 0),
          };
        },
      };
    },
    one(query: LiveQuery<Row>, id: string, elsewhere: Fallback<Row>): LiveQuery<Row> {
      const read = async (context: QueryContext): Promise<Row> => {
        try {
          return await query.read(context);
        } catch (error) {
          if (!isNotOffered(error) && !mayLackPath(error)) throw error;
          const seen = context.memory.seen.find(kind, id);
          const past = { row: seen && rowOf(seen), parent: seen?.parent, error };
          const found = await readElsewhere(id, observe, elsewhere, context, past);
          if (rememberedAt(found) === undefined) context.service.capabilities.confirmMissing(error);
          return found;
        }
      };
      const about = { kind, id };
      return {
        ...query,
        about,
        observes: observe,
        read: async context => recalled(await read(context), context.memory),
      };
    },
  };
}

/**
 * Reads a record from its other endpoint. If that lacks the status, also searches the list.
 *
 * @throws ServiceError
 */
async function readElsewhere<Row extends object>(
  id: string,
  observe: (row: Row) => Observation,
  { listed, read }: Fallback<Row>,
  context: QueryContext,
  seen: { readonly row: Row | undefined; readonly parent: string | undefined; readonly error: unknown },
): Promise<Row> {
  const unlessRefused = (failure: unknown): ServiceError => {
    if (failure instanceof ServiceError && !context.signal.aborted) return failure;
    throw failure;
  };
  const { row, parent, error } = seen;
  const other = await read(context, row).catch(unlessRefused);
  const isFound = !(other instanceof ServiceError);
  if (isFound && observe(other).status != null && rememberedAt(other) === undefined) return other;
  const found = await searchList<Row>(id, listed, parent, context).catch(unlessRefused);
  if (found && !(found instanceof ServiceError)) return found;
  if (isFound) return other;
  // A 404 without an envelope does not mean that the record is missing.
  throw other instanceof NotFoundError && !isGone(other) ? error : other;
}

/** Finds the record in its parent's list or, if the parent is unknown, in the list of all. */
async function searchList<Row extends object>(
  id: string,
  { by, in: listIn }: Fallback<Row>['listed'],
  parent: string | undefined,
  context: QueryContext,
): Promise<Row | undefined> {
  const { capabilities } = context.service;
  if (!capabilities.has(by) || (parent === undefined && capabilities.unlisted.has(id))) return undefined;
  const source = listIn(parent);
  const readPage = (cursor: string | undefined) =>
    readListed(source, { ...context, query: { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) } });
  let pages = 0;
  for await (const { items } of readPages(readPage)) {
    const row = items.find(each => source.id(each) === id && rememberedAt(each) === undefined);
    if (row) return row;
    pages += 1;
    if (parent === undefined && pages === maxPagesSearched) break;
  }
  // Search the list of all only once, because it takes one request per benchmark.
  if (parent === undefined) capabilities.unlisted.add(id);
  return undefined;
}

/**
 * Reads a part of a record. After a 404, reads the record itself: if that exists, the endpoint is missing. Some
 * services respond the same way to unknown paths and unknown ids.
 *
 * @throws ServiceError, a CapabilityMissingError if only the record exists
 */
export async function readPart<Data, Row extends object>(
  operation: Operation,
  record: Pick<LiveQuery<Row>, 'read' | 'about'>,
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
    const { capabilities } = context.service;
    const isDropped = !isPast && operation.endsWith('Progress') && 'status' in found && hasEnded(String(found.status));
    if (isDropped) capabilities.withoutProgress.add(record.about?.id);
    // One ended run may have lost its progress. A second one shows that the endpoint is missing.
    if (!isPast && !(isDropped && capabilities.withoutProgress.size === 1)) capabilities.confirmMissing(error);
    throw new CapabilityMissingError(operation);
  }
}

/** Remembers observations for the next session, without the long curves that only the screen draws. */
export function rememberObserved(memory: RememberedStore, observations: readonly SeenObservation[], at?: number): void {
  memory.see(
    observations.map(each => (each.measured ? { ...each, measured: savedMeans(each.measured) } : each)),
    at,
  );
}

type SeenObservation = Observation & Pick<SeenResource, 'isStart'>;

/** Remembers rows on behalf of commands, which have no cache to observe. */
export function rememberRows<Row>(
  memory: RememberedStore,
  { observes }: { readonly observes?: ((row: Row) => Observation) | undefined },
  rows: readonly Row[],
): void {
  if (observes) memory.see(rows.filter(row => rememberedAt(row as object) === undefined).map(observes));
}
