/**
 * How fresh the main data of the view is, kept outside of what is drawn: every answer makes it newer, and the frame is drawn
 * only when its words change.
 */
import type { Freshness } from '../../queries/freshness.ts';

export class FreshnessStore {
  #current: Freshness | undefined;
  #told = '';
  readonly #listeners = new Set<() => void>();

  get current(): Freshness | undefined {
    return this.#current;
  }

  readonly set = (freshness: Freshness | undefined): void => {
    this.#current = freshness;
    const told = wordsOf(freshness);
    if (told === this.#told) return;
    this.#told = told;
    for (const listener of this.#listeners) listener();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes when something else is to be said at once; growing older is told by the clock. */
  readonly told = (): string => this.#told;
}

function wordsOf(freshness: Freshness | undefined): string {
  if (!freshness) return '';
  const { kind } = freshness;
  const at = 'at' in freshness && kind !== 'fresh' ? freshness.at : undefined;
  const intervalMs = kind === 'fresh' ? freshness.intervalMs : undefined;
  const again = kind === 'failing' ? freshness.retryAt : kind === 'limited' ? freshness.until : undefined;
  return JSON.stringify({ kind, at, intervalMs, again });
}
