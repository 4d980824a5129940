/**
 * How fresh the main data of the view is, kept outside of what is drawn: every answer makes it newer, and the frame is drawn
 * only when its words change.
 */
import type { Freshness } from '../../queries/freshness.ts';

export class FreshnessStore {
  #current: Freshness | undefined;
  #stamp = '';
  readonly #listeners = new Set<() => void>();

  get current(): Freshness | undefined {
    return this.#current;
  }

  readonly set = (freshness: Freshness | undefined): void => {
    this.#current = freshness;
    const stamp = stampOf(freshness);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    for (const listener of this.#listeners) listener();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes when the words change at once; that time passes is the business of the clock. */
  readonly stamp = (): string => this.#stamp;
}

/** All of it, but for the time of an answer that came as it was meant to. */
function stampOf(freshness: Freshness | undefined): string {
  if (freshness === undefined) return '';
  return JSON.stringify(freshness.kind === 'fresh' ? { ...freshness, at: 0 } : freshness);
}
