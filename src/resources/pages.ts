/** Reads a resource's list to the end, page by page. */
import { errorMessage } from '../base/errors.ts';
import { pushAll } from '../base/many.ts';
import { trimEnd } from '../base/trim.ts';
import { describePartlyRead, unreadableFields } from '../contract/lists.ts';
import {
  describeUnrelated,
  describeUnsure,
  maxPagesWithoutNewRows,
  pageSize,
  readListed,
} from '../queries/lists/list-source.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { rememberRows } from '../queries/remembered-fallback.ts';
import { cutOffMessage, readPages } from '../service/pagination.ts';
import { keptOfKind } from '../store/seen.ts';
import { counted } from '../text/numbers.ts';
import { pluralName, type ResourceOf } from './define.ts';
import type { Scope } from './place.ts';

export interface ResourcePage<Row> {
  readonly rows: readonly Row[];
  /** Why the list may be incomplete. The last page's notes cover all pages. */
  readonly notes: readonly string[];
  /** Notes about rows that the service may have but that were not read. */
  readonly unread: readonly string[];
  /** Whether rows are missing because they could not be requested, or because reading them failed. */
  readonly isCutOff: boolean;
  /** Whether the rows come from memory, because the service does not list them. */
  readonly isRemembered: boolean;
}

/** The rows of a list, page by page, without duplicate ids. */
export async function* pagesOf<Row extends object>(
  resource: Pick<ResourceOf<Row>, 'list'>,
  scope: Scope,
  context: QueryContext,
): AsyncGenerator<ResourcePage<Row>, void> {
  const source = resource.list(scope);
  const seen = new Set<string>();
  let dropped = 0;
  const partly: Row[] = [];
  let repeated = 0;
  let others = 0;
  const unsure = new Set<string>();
  let fruitless = 0;
  const mostFruitless = maxPagesWithoutNewRows(source);
  const readPage = (cursor: string | undefined) =>
    readListed(source, { ...context, query: { limit: pageSize, cursor } });
  for await (const page of readPages(readPage)) {
    const rows = page.items.filter(row => {
      const id = source.id(row);
      return !seen.has(id) && seen.add(id);
    });
    // Do not remember more rows than the store keeps: the list may be endless.
    if (seen.size <= keptOfKind) rememberRows(context.memory, source, rows);
    dropped += page.dropped;
    pushAll(
      partly,
      rows.filter(row => Object.hasOwn(row, unreadableFields)),
    );
    repeated += page.mayRepeat ? 0 : page.items.length - rows.length;
    others += page.others ?? 0;
    for (const id of page.unsure ?? []) if (seen.has(id)) unsure.add(id);
    fruitless = rows.length > 0 ? 0 : fruitless + 1;
    const rest = [
      fruitless < mostFruitless ? '' : `The last ${mostFruitless} pages had no new rows: there may be more`,
      page.isCutOff ? cutOffMessage : '',
      page.note ?? '',
    ];
    const unreadable = dropped === 0 ? '' : `${counted(dropped, 'row')} could not be read`;
    const notes = [
      unreadable,
      describePartlyRead(partly) ?? '',
      repeated === 0 ? '' : `${counted(repeated, 'row')} with a duplicate id left out`,
      others === 0 ? '' : describeUnrelated(others),
      unsure.size === 0 ? '' : describeUnsure(unsure.size),
      ...rest,
    ];
    const isCutOff = fruitless === mostFruitless || page.isCutOff || page.isPartial === true;
    const unread = [unreadable, ...(isCutOff || page.dropped > 0 ? rest : [])].filter(Boolean);
    const isRemembered = page.remembered_at !== undefined;
    yield { rows, notes: notes.filter(Boolean), unread, isCutOff, isRemembered };
    if (fruitless === mostFruitless) return;
  }
}

/**
 * All rows of a resource's list, and why others may be missing. If a page after the first one fails, its error is one of
 * the reasons.
 *
 * @throws ServiceError if nothing can be read
 */
export async function readEveryPage<Row extends object>(
  resource: Pick<ResourceOf<Row>, 'list' | 'names'>,
  context: QueryContext,
): Promise<Pick<ResourcePage<Row>, 'rows' | 'unread' | 'isRemembered'>> {
  const rows: Row[] = [];
  let unread: readonly string[] | undefined;
  let isRemembered = false;
  try {
    for await (const page of pagesOf(resource, {}, context)) {
      pushAll(rows, page.rows);
      ({ unread, isRemembered } = page);
    }
  } catch (error) {
    context.signal.throwIfAborted();
    if (unread === undefined) throw error;
    if (unread.length === 0) unread = [errorMessage(error)];
  }
  const name = pluralName(resource);
  const reasons = (unread ?? []).map(why => `Not all ${name} could be read: ${trimEnd(why, '.')}`);
  return { rows, unread: reasons, isRemembered };
}
