/** The pins of Watch: saved between starts, and observable. */

import { isDeepStrictEqual } from 'node:util';
import { Listeners } from '../text/listeners.ts';
import type { RememberedStore, ResourceRef } from './remembered/store.ts';

const noPins: readonly ResourceRef[] = [];

export class Pins {
  readonly #remembered: () => RememberedStore;
  readonly #listeners = new Listeners();
  #list: readonly ResourceRef[] | undefined;

  constructor(remembered: () => RememberedStore) {
    this.#remembered = remembered;
  }

  /** In the order of pinning; the same array until it changes. Opens the remembered store. */
  list(): readonly ResourceRef[] {
    if (this.#list) return this.#list;
    const list = this.#remembered().pinned();
    this.#list = list;
    // May be called during rendering.
    if (list.length > 0) queueMicrotask(this.#listeners.notify);
    return list;
  }

  /** The same without opening the store: empty before the pins were first read, which the first frame does not do. */
  known(): readonly ResourceRef[] {
    return this.#list ?? noPins;
  }

  /** Takes in what other programs have pinned and unpinned since the last call. */
  readAgain(): void {
    const memory = this.#remembered();
    const isNew = memory.wasWrittenElsewhere();
    if (isNew && this.#list && !isDeepStrictEqual(memory.pinned(), this.#list)) this.#changed();
  }

  has(kind: string, id: string): boolean {
    return this.list().some(pin => pin.kind === kind && pin.id === id);
  }

  /**
   * Pins or unpins a resource. Returns the new state; undefined if it could not be saved, in which case nothing has
   * changed.
   */
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

  readonly subscribe = this.#listeners.subscribe;

  #changed(): void {
    this.#list = this.#remembered().pinned();
    this.#listeners.notify();
  }
}
