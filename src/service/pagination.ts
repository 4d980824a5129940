/** Reads a list page by page. */
import type { Page } from '../contract/common.ts';

/** A page; `mayBeEmpty` if one without rows is not the end. */
type ReadPage = Page<unknown> & { readonly mayBeEmpty?: boolean };

/**
 * The cursor of the next page. Undefined at the end: a page that says so, an empty page unless it `mayBeEmpty`, or a
 * cursor that is empty or `isFollowed` already: a service that keeps saying `has_more` must not cause a loop.
 */
export function nextCursor(
  { items, dropped, has_more, next_cursor, mayBeEmpty = false }: ReadPage,
  isFollowed: (cursor: string) => boolean,
): string | undefined {
  const empty = items.length === 0 && dropped === 0 && !mayBeEmpty;
  return has_more && !empty && next_cursor && !isFollowed(next_cursor) ? next_cursor : undefined;
}

/** Yields the pages of a list, each read on demand. */
export async function* readPages<Read extends ReadPage>(
  readPage: (cursor: string | undefined) => Promise<Read>,
): AsyncGenerator<Read, void> {
  const followed = new Set<string>();
  let cursor: string | undefined;
  do {
    const page: Read = await readPage(cursor);
    yield page;
    cursor = nextCursor(page, next => followed.has(next));
    if (cursor !== undefined) followed.add(cursor);
  } while (cursor !== undefined);
}
