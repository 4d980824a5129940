/** What is pinned to Watch: kept between two starts, and announced when it changes. */
import type { RememberedStore, ResourceRef } from './remembered/store.ts';

const noPins: readonly ResourceRef[] = [];

export class Pins {
  readonly #remembered: () => RememberedStore;
  readonly #listeners = new Set<() => void>();
  #list: readonly ResourceRef[] | undefined;

  constructor(remembered: () => RememberedStore) {
    this.#remembered = remembered;
  }

  /** In the order in which they were pinned; the same array until it changes. Opens the store of what was seen. */
  list(): readonly ResourceRef[] {
    if (this.#list) return this.#list;
    const list = this.#remembered().pinned();
    this.#list = list;
    // It may be asked for while something is drawn.
    if (list.length > 0) queueMicrotask(() => this.#announce());
    return list;
  }

  /** The same without opening anything: none before they were first asked for, which the first frame does not. */
  known(): readonly ResourceRef[] {
    return this.#list ?? noPins;
  }

  has(kind: string, id: string): boolean {
    return this.list().some(pin => pin.kind === kind && pin.id === id);
  }

  /** Pins it, or unpins it. Returns what it is now; undefined if that could not be kept, and nothing has changed. */
  toggle(resource: ResourceRef): 'pinned' | 'unpinned' | undefined {
    const { kind, id } = resource;
    const wasPinned = this.has(kind, id);
    const isKept = wasPinned ? this.#remembered().unpin(kind, id) : this.#remembered().pin(resource);
    this.#changed();
    if (!isKept) return undefined;
    return wasPinned ? 'unpinned' : 'pinned';
  }

  remove(kind: string, id: string): void {
    if (this.has(kind, id)) this.toggle({ kind, id, label: id });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #changed(): void {
    this.#list = this.#remembered().pinned();
    this.#announce();
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}
