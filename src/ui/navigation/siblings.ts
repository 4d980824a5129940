import type { Place } from '../../resources/place.ts';

/** A list as it was when something was opened from it. */
export interface SiblingList {
  readonly ids: readonly string[];
  /** Where the resource at an index of `ids` is shown; undefined where it has no place. */
  readonly placeAt: (index: number) => Place | undefined;
  /** The service has more than these. */
  readonly partial?: boolean;
}

/** The neighbours of what is shown in the list that it was opened from, so that `[` and `]` step through that list. */
export class Siblings {
  readonly #lists = new Map<string, SiblingList>();

  /** Remembers the list from which records of a resource were opened. */
  remember(resource: string, list: SiblingList): void {
    this.#lists.set(resource, list);
  }

  /** The place before or after `id`; undefined at the ends, and where `id` was not opened from a list. */
  next(resource: string, id: string, direction: -1 | 1): Place | undefined {
    const list = this.#lists.get(resource);
    const index = list?.ids.indexOf(id) ?? -1;
    return index === -1 ? undefined : list?.placeAt(index + direction);
  }

  /** Whether more follow in the list that a record was opened from than were read. */
  isPartial(resource: string): boolean {
    return this.#lists.get(resource)?.partial ?? false;
  }

  /** Where `id` is in its list, e.g. `3/64`, or `3/200+` where more follow; empty where it was not opened from one. */
  position(resource: string, id: string): string {
    const { ids = [], partial = false } = this.#lists.get(resource) ?? {};
    const index = ids.indexOf(id);
    return index === -1 ? '' : `${index + 1}/${ids.length}${partial ? '+' : ''}`;
  }
}
