/** The neighbours of a thing in the list that it was opened from, so that `[` and `]` go on without going back. */

const orders = new Map<string, readonly string[]>();

/** Remembers the order in which a list showed the things of a view. */
export function rememberSiblings(view: string, ids: readonly string[]): void {
  orders.set(view, ids);
}

/** The id before or after `id`, or undefined at the ends and where the thing was not opened from a list. */
export function siblingOf(view: string, id: string, direction: -1 | 1): string | undefined {
  const ids = orders.get(view) ?? [];
  const index = ids.indexOf(id);
  return index === -1 ? undefined : ids[index + direction];
}

/** Where `id` stands in its list, e.g. `3/64`; empty where it has none. */
export function siblingPosition(view: string, id: string): string {
  const ids = orders.get(view) ?? [];
  const index = ids.indexOf(id);
  return index === -1 ? '' : `${index + 1}/${ids.length}`;
}
