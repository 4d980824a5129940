/** Exports under way: each reads its rows to the end and writes its file, whatever is on screen meanwhile. */

import { Listeners } from '../text/listeners.ts';
import type { Background } from './lists/rest.ts';

/** An export under way. */
export interface Export {
  /** What is exported, e.g. `trajectories`. */
  readonly title: string;
  /** Rows read so far. */
  readonly rows: number;
  readonly stop: () => void;
}

export class Exports {
  readonly #running = new Map<symbol, Export>();
  #list: readonly Export[] = [];
  readonly #listeners = new Listeners();

  /** Those under way, in the order in which they began; the same array while nothing has changed. */
  readonly list = (): readonly Export[] => this.#list;

  /** Calls `listener` after every change, until the returned function is called. */
  readonly subscribe = this.#listeners.subscribe;

  /**
   * Runs an export, listed as under way until it settles. Returns what `work` gives. @throws whatever `work` throws
   */
  async run<Result>(title: string, work: (background: Background) => Promise<Result>): Promise<Result> {
    const id = Symbol(title);
    const controller = new AbortController();
    const stop = (): void => controller.abort(new Error('the export was stopped'));
    const onProgress = (rows: number): void => this.#set(id, { title, rows, stop });
    onProgress(0);
    try {
      return await work({ signal: controller.signal, onProgress });
    } finally {
      this.#set(id, undefined);
    }
  }

  /** Stops all of them. */
  stop(): void {
    for (const { stop } of this.#list) stop();
  }

  #set(id: symbol, state: Export | undefined): void {
    if (state) this.#running.set(id, state);
    else this.#running.delete(id);
    this.#list = [...this.#running.values()];
    this.#listeners.notify();
  }
}
