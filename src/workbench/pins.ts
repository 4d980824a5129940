/** Watch's pins: saved between sessions, and observable. */

import { isDeepStrictEqual } from 'node:util';
import { Listeners } from '../base/listeners.ts';
import type { RememberedStore, ResourceRef } from '../store/store.ts';

export class Pins {
  readonly #remembered: () => RememberedStore;
  readonly #listeners = new Listeners();
  #list: readonly ResourceRef[];
  /** Whether the stored pins have changed but could not be read. */
  #isOld = false;

  constructor(remembered: () => RememberedStore) {
    this.#remembered = remembered;
    this.#list = this.#read() ?? [];
  }

  /** In the order they were pinned; the same array until it changes. */
  list(): readonly ResourceRef[] {
    return this.#list;
  }

  /** Applies other processes' pins. @param isNew whether another process has written since the last call */
  readAgain(isNew = this.#remembered().file.wasWrittenElsewhere()): void {
    if (!isNew && !this.#isOld) return;
    const list = this.#read();
    if (list && !isDeepStrictEqual(list, this.#list)) this.#set(list);
  }

  has(kind: string, id: string): boolean {
    return this.list().some(pin => pin.kind === kind && pin.id === id);
  }

  /**
   * Pins or unpins a resource. Returns the new state; undefined if it could not be saved and has therefore not changed.
   */
  toggle(resource: ResourceRef): 'pinned' | 'unpinned' | undefined {
    const { kind, id } = resource;
    const wasPinned = this.has(kind, id);
    const isKept = wasPinned ? this.#remembered().unpin(kind, id) : this.#remembered().pin(resource);
    this.#set(this.#read() ?? this.list());
    if (!isKept) return undefined;
    return wasPinned ? 'unpinned' : 'pinned';
  }

  remove(kind: string, id: string): void {
    if (this.has(kind, id)) this.toggle({ kind, id, label: id });
  }

  readonly subscribe = this.#listeners.subscribe;

  /** Undefined if the pins cannot be read: the pins on screen then stay, and the next `readAgain` tries again. */
  #read(): readonly ResourceRef[] | undefined {
    const list = this.#remembered().pinned();
    this.#isOld = list === undefined;
    return list;
  }

  #set(list: readonly ResourceRef[]): void {
    this.#list = list;
    this.#listeners.notify();
  }
}
