/** Reads a list page by page, for as long as the service has more. */
import type { Page } from '../contract/common.ts';

/**
 * The pages of a list, each read when it is asked for. The end is a page that says so, an empty one, and a cursor that is
 * empty or has been followed before: a service that keeps saying `has_more` must not be read in circles.
 */
export async function* readPages<Read extends Page<unknown>>(
  readPage: (cursor: string | undefined) => Promise<Read>,
): AsyncGenerator<Read, void> {
  const followed = new Set<string>();
  let cursor: string | undefined;
  do {
    const page: Read = await readPage(cursor);
    yield page;
    const { items, dropped, has_more, next_cursor } = page;
    const empty = items.length === 0 && dropped === 0;
    cursor = has_more && !empty && next_cursor && !followed.has(next_cursor) ? next_cursor : undefined;
    if (cursor !== undefined) followed.add(cursor);
  } while (cursor !== undefined);
}
