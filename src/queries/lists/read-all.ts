/** Reads a list to its end, once for the view and all exports that are waiting for it. */

import { setImmediate as turn } from 'node:timers/promises';
import { unlessAborted } from '../../base/abort.ts';
import { asError } from '../../base/errors.ts';
import type { QueryContext } from '../query-context.ts';

/** How reading the rest ended. */
export type RestOutcome = 'complete' | 'stopped' | 'failed';

/** A caller that is waiting for the rest. */
export interface Waiter {
  /** Ends this wait, but not the others. */
  readonly signal: AbortSignal;
  /** Called with the number of rows read so far. */
  readonly onProgress: (rows: number) => void;
}

/** The result of one step: a new page, a page read again, or a refusal because the cursor has expired. */
export type RestStep = 'new' | 'again' | 'refused';

/** The list reader's functions that read the rest. */
export interface RestPorts {
  readonly context: (signal: AbortSignal) => Promise<QueryContext>;
  /** The number of rows read so far. */
  readonly size: () => number;
  /** Whether everything has been read since `notBefore`, in epoch milliseconds. */
  readonly isRead: (notBefore: number) => boolean;
  /** Reads the next page; undefined if there is none. @throws ServiceError */
  readonly step: (notBefore: number, context: QueryContext) => Promise<RestStep | undefined>;
  /** The maximum number of consecutive pages without a new row before reading fails. */
  readonly mostFruitless: () => number;
  readonly publish: () => void;
  /** Called with the number of rows read so far, and with undefined at the end. */
  readonly onProgress: (rows: number | undefined) => void;
  /** Called with the error if reading fails, and with undefined when it begins. */
  readonly onError: (error: Error | undefined) => void;
}

/** The interval between progress reports, in milliseconds. */
const progressMs = 100;
/** How often reading may start over. */
const maxRefusals = 5;

export class RestReader {
  readonly #ports: RestPorts;
  #rest: { readonly stop: AbortController; readonly outcome: Promise<RestOutcome> } | undefined;
  /** The callers that are waiting. Reading continues until the last one gives up. */
  readonly #waiting = new Set<Waiter>();

  constructor(ports: RestPorts) {
    this.#ports = ports;
  }

  get isReading(): boolean {
    return this.#rest !== undefined;
  }

  /**
   * Reads all rows that are unread, or were last read before `notBefore`, in epoch milliseconds. If reading stops or
   * fails, the rows read so far stay.
   */
  async read(notBefore: number, waiter: Waiter): Promise<RestOutcome> {
    const { signal } = waiter;
    const giveUp = (): void => {
      this.#waiting.delete(waiter);
      if (this.#waiting.size > 0) return;
      this.#rest?.stop.abort();
      this.#ports.publish();
      this.#ports.onProgress(undefined);
    };
    signal.addEventListener('abort', giveUp);
    this.#waiting.add(waiter);
    try {
      for (;;) {
        if (signal.aborted) return 'stopped';
        if (!this.#rest && this.#ports.isRead(notBefore)) return 'complete';
        this.#report();
        const begun = this.#rest === undefined;
        this.#rest ??= this.#begin(notBefore);
        const outcome = await unlessAborted(this.#rest.outcome, signal).catch((): RestOutcome => 'stopped');
        // A read for another waiter may have stopped, or have accepted rows that are too old for this one.
        if (begun || outcome === 'failed') return outcome;
      }
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#waiting.delete(waiter);
    }
  }

  #begin(notBefore: number) {
    const stop = new AbortController();
    this.#ports.onError(undefined);
    const outcome = this.#readAll(stop.signal, notBefore).finally(() => {
      this.#rest = undefined;
      this.#ports.publish();
      this.#ports.onProgress(undefined);
    });
    return { stop, outcome };
  }

  /** Reports the progress to the list and to everyone waiting. */
  #report(): void {
    if (this.#waiting.size === 0) return;
    const rows = this.#ports.size();
    this.#ports.onProgress(rows);
    for (const { onProgress } of this.#waiting) onProgress(rows);
  }

  async #readAll(signal: AbortSignal, notBefore: number): Promise<RestOutcome> {
    const { mostFruitless, context: contextFor, size, step, onError } = this.#ports;
    let fruitless = 0;
    let refused = 0;
    const progress = setInterval(() => this.#report(), progressMs);
    try {
      const context = await contextFor(signal);
      for (let before = size(), did = await step(notBefore, context); did; did = await step(notBefore, context)) {
        if (did === 'refused') refused += 1;
        if (refused > maxRefusals) throw new Error('The list changes faster than it can be read.');
        fruitless = size() > before || did === 'again' ? 0 : fruitless + 1;
        if (fruitless >= mostFruitless()) throw new Error(`The last ${fruitless} pages had no new rows.`);
        before = size();
        // Let keys be handled between two pages, even if the service responds immediately.
        await turn();
        signal.throwIfAborted();
      }
      return 'complete';
    } catch (error) {
      if (signal.aborted) return 'stopped';
      onError(asError(error));
      return 'failed';
    } finally {
      clearInterval(progress);
    }
  }
}
