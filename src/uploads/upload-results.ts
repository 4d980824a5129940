/** The results of one run of an upload of trajectories. */
import { isDeepStrictEqual } from 'node:util';
import { pushAll } from '../base/many.ts';
import type { Item } from './trajectory-file.ts';
import type { BatchReport, Outcome } from './trajectory-outcomes.ts';

/** The outcomes of the trajectories so far, and the service's reports on whole requests. */
export class UploadResults {
  readonly #outcomes: Outcome[] = [];
  #sorted: readonly Outcome[] | undefined;
  #reports: readonly BatchReport[] = [];
  readonly #failed: Pick<Item, 'start' | 'end'>[] = [];

  /** In file order. The same array until one is added. */
  get outcomes(): readonly Outcome[] {
    this.#sorted ??= this.#outcomes.toSorted((left, right) => left.line - right.line);
    return this.#sorted;
  }

  /** Byte ranges of the failed items. */
  get failed(): readonly Pick<Item, 'start' | 'end'>[] {
    return this.#failed;
  }

  /** In the order in which the requests were sent. */
  get reports(): readonly BatchReport[] {
    return this.#reports;
  }

  /** Whether the service reported a failure other than those of the failed trajectories. */
  get hasOtherFailure(): boolean {
    return (
      this.#reports.some(({ kind }) => kind !== 'summary') ||
      this.#outcomes.some(({ failed, isReported }) => !failed && isReported)
    );
  }

  /** @param outcomes one for each item, or none */
  add(items: readonly Item[], outcomes: readonly Outcome[]): void {
    pushAll(this.#outcomes, outcomes);
    this.#sorted = undefined;
    items.forEach(({ start, end }, index) => {
      if (outcomes[index]?.failed) this.#failed.push({ start, end });
    });
  }

  /** Adds a report. Merges it with the previous one if the service said the same about the next lines. */
  report(report: BatchReport): void {
    const last = this.#reports.at(-1);
    const isSame = last !== undefined && isDeepStrictEqual({ ...report, lines: last.lines }, last);
    const merged = isSame ? { ...report, lines: [last.lines[0], report.lines[1]] as const } : report;
    this.#reports = [...this.#reports.slice(0, isSame ? -1 : undefined), merged];
  }
}
