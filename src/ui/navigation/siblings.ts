/** The neighbours of what is shown in the list that it was opened from, so that `[` and `]` step through that list. */
export class Siblings {
  readonly #orders = new Map<string, readonly string[]>();

  /** Remembers the order in which a list showed the ids of a view. */
  remember(view: string, ids: readonly string[]): void {
    this.#orders.set(view, ids);
  }

  /** The id before or after `id`; undefined at the ends, and where `id` was not opened from a list. */
  next(view: string, id: string, direction: -1 | 1): string | undefined {
    const ids = this.#orders.get(view) ?? [];
    const index = ids.indexOf(id);
    return index === -1 ? undefined : ids[index + direction];
  }

  /** Where `id` is in its list, e.g. `3/64`; empty where it was not opened from one. */
  position(view: string, id: string): string {
    const ids = this.#orders.get(view) ?? [];
    const index = ids.indexOf(id);
    return index === -1 ? '' : `${index + 1}/${ids.length}`;
  }
}
