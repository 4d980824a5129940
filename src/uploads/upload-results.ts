/** The results of one run of a trajectory upload. */
import { isDeepStrictEqual } from 'node:util';
import { pushAll } from '../base/many.ts';
import type { Item } from './trajectory-file.ts';
import type { BatchReport, Outcome } from './trajectory-outcomes.ts';

/** The trajectories' outcomes so far, and the service's reports on whole requests. */
export class UploadResults {
  readonly #outcomes: Outcome[] = [];
  #sorted: readonly Outcome[] | undefined;
  /** The service's reports, in the order the requests were sent. */
  readonly reports: BatchReport[] = [];
  /** The failed items' places in the file. */
  readonly failed = new Set<string>();

  /** In file order. The same array until one is added. */
  get outcomes(): readonly Outcome[] {
    this.#sorted ??= this.#outcomes.toSorted((left, right) => left.line - right.line);
    return this.#sorted;
  }

  /** Whether the service reported a failure besides the trajectories that failed or have an unknown outcome. */
  get hasOtherFailure(): boolean {
    return (
      this.reports.some(({ kind }) => kind === 'failure') ||
      this.#outcomes.some(({ failed, isReported }) => !failed && isReported)
    );
  }

  /** @param outcomes one for each item, or none */
  add(items: readonly Item[], outcomes: readonly Outcome[]): void {
    pushAll(this.#outcomes, outcomes);
    this.#sorted = undefined;
    items.forEach(({ place }, index) => {
      if (outcomes[index]?.failed) this.failed.add(place);
    });
  }

  /** Adds a report. Merges it with the previous one if both differ only in their lines, which are consecutive. */
  report(report: BatchReport): void {
    const last = this.reports.at(-1);
    const isSame = last !== undefined && isDeepStrictEqual({ ...report, lines: last.lines }, last);
    if (isSame) this.reports.splice(-1, 1, { ...report, lines: [last.lines[0], report.lines[1]] });
    else this.reports.push(report);
  }
}
