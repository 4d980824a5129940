/** Reads a list page by page. */
import type { Page } from '../contract/common.ts';

/**
 * Yields the pages of a list, each read on demand. Ends at a page that says so, at an empty page unless it `mayBeEmpty`,
 * and at a cursor that is empty or was already followed: a service that keeps saying `has_more` must not cause a loop.
 */
export async function* readPages<Read extends Page<unknown> & { readonly mayBeEmpty?: boolean }>(
  readPage: (cursor: string | undefined) => Promise<Read>,
): AsyncGenerator<Read, void> {
  const followed = new Set<string>();
  let cursor: string | undefined;
  do {
    const page: Read = await readPage(cursor);
    yield page;
    const { items, dropped, has_more, next_cursor, mayBeEmpty = false } = page;
    const empty = items.length === 0 && dropped === 0 && !mayBeEmpty;
    cursor = has_more && !empty && next_cursor && !followed.has(next_cursor) ? next_cursor : undefined;
    if (cursor !== undefined) followed.add(cursor);
  } while (cursor !== undefined);
}
