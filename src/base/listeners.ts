/** Returns a function that ends several subscriptions. */
export const endAll = (stops: readonly (() => unknown)[]) => (): void => {
  for (const stop of stops) stop();
};

/** Subscribes to something that never changes. */
export const neverChanges = () => (): void => {};

/** Callbacks for changes and events; `subscribe` has the form that React's `useSyncExternalStore` expects. */
export class Listeners<Event = void> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Calls `listener` with every event, until the returned function is called. */
  readonly subscribe = (listener: (event: Event) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly notify = (event: Event): void => {
    for (const listener of this.#listeners) listener(event);
  };

  get size(): number {
    return this.#listeners.size;
  }

  clear(): void {
    this.#listeners.clear();
  }
}
