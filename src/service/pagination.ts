/** Reads a list page by page. */
import { trimEnd } from '../base/trim.ts';
import type { Page } from '../contract/common.ts';
import { ServiceError } from './errors.ts';

/**
 * The cursor of the next page; undefined at the end. The list ends at a page without a cursor, or with a cursor that
 * has been followed before (`isFollowed`): a faulty service must not cause an endless loop.
 */
export function nextCursor(
  { has_more, next_cursor }: Page<unknown>,
  isFollowed: (cursor: string) => boolean,
): string | undefined {
  return has_more && next_cursor && !isFollowed(next_cursor) ? next_cursor : undefined;
}

/** Whether the service has more rows, but sent no cursor to read them. */
export const isCutOff = ({ has_more }: Page<unknown>, next: string | null | undefined): boolean =>
  has_more && next == null;

export const cutOffMessage = 'There may be more rows, but the service gives no way to read them';

/** Statuses with which services reject an expired cursor. */
const refusals: readonly (number | undefined)[] = [400, 410, 422];

/** Whether the service may have refused a page's cursor. */
export const isRefusedCursor = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && refusals.includes(error.status);

/** The error for a page: the user did not choose its cursor, and so cannot correct it. */
function pageError(error: unknown, cursor: string | undefined): unknown {
  if (cursor === undefined || !isRefusedCursor(error)) return error;
  const words = trimEnd(error.words ?? error.message, '.');
  return new ServiceError('api', `The service refused to read on: ${words}. Try again.`, error);
}

/** The first row of a list that passes the test. Later pages are not read. */
export async function findOnPages<Row>(
  readPage: (cursor: string | undefined) => Promise<Page<Row>>,
  test: (row: Row) => boolean,
): Promise<Row | undefined> {
  for await (const { items } of readPages(readPage)) {
    const found = items.find(test);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Yields a list's pages, read on demand, each with whether the list is cut off after it. */
export async function* readPages<Read extends Page<unknown>>(
  readPage: (cursor: string | undefined) => Promise<Read>,
): AsyncGenerator<Read & { readonly isCutOff: boolean }, void> {
  const followed = new Set<string | undefined>();
  let cursor: string | undefined;
  do {
    followed.add(cursor);
    const page: Read = await readPage(cursor).catch((error: unknown) => {
      throw pageError(error, cursor);
    });
    cursor = nextCursor(page, next => followed.has(next));
    yield { ...page, isCutOff: isCutOff(page, cursor) };
  } while (cursor !== undefined);
}
