/** What is pinned to Watch: kept between two starts, and announced when it changes. */
import type { PinnedThing, RememberedStore, ThingKind } from './remembered/store.ts';

export class Pins {
  readonly #remembered: () => RememberedStore;
  readonly #listeners = new Set<() => void>();
  #list: readonly PinnedThing[] | undefined;

  constructor(remembered: () => RememberedStore) {
    this.#remembered = remembered;
  }

  /** In the order in which they were pinned; the same array until it changes. */
  list(): readonly PinnedThing[] {
    this.#list ??= this.#remembered().pinned();
    return this.#list;
  }

  has(kind: ThingKind, id: string): boolean {
    return this.list().some(pin => pin.kind === kind && pin.id === id);
  }

  /** Pins it, or unpins it. Gives whether it is pinned now. */
  toggle(thing: PinnedThing): boolean {
    const { kind, id } = thing;
    const wasPinned = this.has(kind, id);
    if (wasPinned) this.#remembered().unpin(kind, id);
    else this.#remembered().pin(thing);
    this.#changed();
    return !wasPinned;
  }

  remove(kind: ThingKind, id: string): void {
    if (this.has(kind, id)) this.toggle({ kind, id, label: id });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #changed(): void {
    this.#list = undefined;
    for (const listener of this.#listeners) listener();
  }
}
