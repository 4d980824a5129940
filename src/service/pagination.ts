/** Walks a list page by page, or item by item, for as long as the service has more. */
import type { Page } from '../contract/common.ts';

/** Iterates over the items; `pages` iterates over the pages that they come in. Each iteration starts with the first page. */
export interface Listing<Item> extends AsyncIterable<Item> {
  readonly pages: () => AsyncGenerator<Page<Item>, void>;
}

/**
 * Follows the cursors of one list: gives the cursor of the next page, or undefined at the end. The end is a page that says
 * so, an empty one, and a cursor that is empty or has been followed before: a service that keeps saying `has_more` must not
 * be read in circles.
 */
export function followCursors(
  first: string | null | undefined,
): (page: Omit<Page<unknown>, 'items'> & { readonly items: readonly unknown[] }) => string | undefined {
  const followed = new Set([first]);
  return ({ items, dropped, has_more, next_cursor }) => {
    const empty = items.length === 0 && dropped === 0;
    if (!has_more || empty || !next_cursor || followed.has(next_cursor)) return undefined;
    followed.add(next_cursor);
    return next_cursor;
  };
}

/** Walks the pages of a list to its end, as `followCursors` has it. */
export function paginate<Query extends { readonly cursor?: string | null | undefined }, Item>(
  readPage: (query: Query) => Promise<Page<Item>>,
  query: Query,
): Listing<Item> {
  async function* pages(): AsyncGenerator<Page<Item>, void> {
    const follow = followCursors(query.cursor);
    let next: Query | undefined = query;
    while (next) {
      const page: Page<Item> = await readPage(next);
      if (page.items.length > 0 || page.dropped > 0) yield page;
      const cursor = follow(page);
      next = cursor === undefined ? undefined : { ...query, cursor };
    }
  }
  async function* items(): AsyncGenerator<Item, void> {
    for await (const page of pages()) yield* page.items;
  }
  return { pages, [Symbol.asyncIterator]: items };
}
