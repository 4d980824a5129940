/** Refuses to filter or sort a list by a column without values, and notes such a column if the user chose it. */
import { type Column, describeAbsentColumn } from '../present/column.ts';
import { CommandError } from './exit.ts';

/** The columns that lists of some services lack, and that have had no value in any row so far. */
export class LackingColumns {
  readonly #byId: Map<string, Column<object>>;
  readonly #needed: readonly Column<object>[];

  /** @param needed by the filter and the sort order @param chosen by the user */
  constructor(needed: readonly Column<object>[], chosen: readonly Column<object>[]) {
    this.#needed = needed;
    const lackable = [...chosen, ...needed].filter(({ readBy }) => readBy !== undefined);
    this.#byId = new Map(lackable.map(column => [column.id, column]));
  }

  look(rows: readonly object[]): void {
    for (const [id, { value }] of this.#byId) if (rows.some(row => value(row) !== undefined)) this.#byId.delete(id);
  }

  /** Whether the rows cannot be filtered or sorted. */
  get refuses(): boolean {
    return this.#needed.some(({ id }) => this.#byId.has(id));
  }

  /** @throws CommandError if the rows cannot be filtered or sorted */
  check(): void {
    const column = this.#needed.find(({ id }) => this.#byId.has(id));
    if (column) throw new CommandError(`${describeAbsentColumn(column)}.`);
  }

  readonly notes = (): readonly string[] => [...this.#byId.values()].map(column => `${describeAbsentColumn(column)}.`);
}
