/** Walks a list page by page, or item by item, for as long as the service has more. */
import type { Page } from '../contract/common.ts';

/** Iterates over the items; `pages` iterates over the pages that they come in. Each iteration starts anew. */
export interface Listing<Item> extends AsyncIterable<Item> {
  readonly pages: () => AsyncGenerator<Page<Item>, void>;
}

/**
 * Ends at a page that says so, at an empty one, and at a cursor that is empty or has been followed before: a service
 * that keeps saying `has_more` must not keep anybody going round in circles.
 */
export function paginate<Query extends { readonly cursor?: string | null | undefined }, Item>(
  readPage: (query: Query) => Promise<Page<Item>>,
  query: Query,
): Listing<Item> {
  async function* pages(): AsyncGenerator<Page<Item>, void> {
    const followed = new Set<string>();
    let next = query;
    for (;;) {
      const page = await readPage(next);
      if (page.items.length > 0 || page.dropped > 0) yield page;
      const cursor = page.next_cursor;
      const empty = page.items.length === 0 && page.dropped === 0;
      if (!page.has_more || empty || !cursor || followed.has(cursor) || cursor === query.cursor) return;
      followed.add(cursor);
      next = { ...query, cursor };
    }
  }
  async function* items(): AsyncGenerator<Item, void> {
    for await (const page of pages()) yield* page.items;
  }
  return { pages, [Symbol.asyncIterator]: items };
}
