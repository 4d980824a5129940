/** Exports in progress. Each reads all of its rows and writes its file in the background. */

import { Listeners } from '../base/listeners.ts';
import type { Waiter } from '../queries/lists/read-all.ts';

export interface Export {
  /** The plural noun for the exported rows, e.g. `trajectories`. */
  readonly title: string;
  /** The number of rows read so far. */
  readonly rows: number;
  readonly stop: () => void;
}

export class Exports {
  readonly #running = new Map<symbol, Export>();
  #list: readonly Export[] = [];
  readonly #listeners = new Listeners();

  /** The running exports, oldest first; the same array until something changes. */
  readonly list = (): readonly Export[] => this.#list;

  /** Calls `listener` after every change, until the returned function is called. */
  readonly subscribe = this.#listeners.subscribe;

  /** Runs an export and lists it until it ends. Returns the result of `work`. @throws any error from `work` */
  async run<Result>(title: string, work: (waiter: Waiter) => Promise<Result>): Promise<Result> {
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
