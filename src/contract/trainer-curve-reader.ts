/** Reads a trainer's rewards into columns. Loaded with the first curve, because it needs the contract's schemas. */
import type { RowBlock, RowReader } from '../base/json-rows.ts';
import { own } from '../base/own-property.ts';
import { readWith } from './common.ts';
import { notePage } from './lists.ts';
import type { TrainerCurve } from './trainer-curve.ts';
import { type TrainerReward, trainerReward } from './training.ts';

/** Maximum number of other columns. Any further numbers are unlikely to be diagnostics. */
const maxOthers = 24;

/** The reader's state at the end of a block. */
interface Mark {
  readonly size: number;
  readonly dropped: number;
  /** The number of columns besides the rewards. */
  readonly others: number;
}

/** Collects a curve's rows as they arrive, in any order, and keeps them for the next response. */
export class TrainerCurveReader implements RowReader {
  readonly blocks: RowBlock[] = [];
  readonly #marks: Mark[] = [];
  #size = 0;
  #dropped = 0;
  /** Index of the first row that is out of order. */
  #unordered = Number.POSITIVE_INFINITY;
  #steps = new Float64Array(64);
  #rewards = new Float64Array(64);
  readonly #others = new Map<string, Float64Array>();

  /** Adds a row. Skips and counts an unreadable one. */
  add(row: unknown): void {
    const { success, data } = isPlain(row) ? { success: true, data: row } : readWith(trainerReward, row);
    if (!success) {
      this.#dropped += 1;
      return;
    }
    if (this.#size === this.#steps.length) this.#grow();
    if (this.#size > 0 && !((this.#steps[this.#size - 1] as number) <= data.step))
      this.#unordered = Math.min(this.#unordered, this.#size);
    this.#steps[this.#size] = data.step;
    this.#rewards[this.#size] = data.trainer_reward ?? Number.NaN;
    for (const field in data) {
      const value = own(data, field);
      if (field !== 'step' && field !== 'trainer_reward' && typeof value === 'number') this.#setOther(field, value);
    }
    this.#size += 1;
  }

  endBlock(block: RowBlock): void {
    this.blocks.push(block);
    this.#marks.push({ size: this.#size, dropped: this.#dropped, others: this.#others.size });
  }

  keep(blocks: number): void {
    this.blocks.length = blocks;
    this.#marks.length = blocks;
    const { size, dropped, others } = this.#marks.at(-1) ?? { size: 0, dropped: 0, others: 0 };
    [this.#size, this.#dropped] = [size, dropped];
    if (this.#unordered >= size) this.#unordered = Number.POSITIVE_INFINITY;
    for (const [index, [field, column]] of [...this.#others].entries()) {
      if (index < others) column.fill(Number.NaN, size);
      else this.#others.delete(field);
    }
  }

  #setOther(field: string, value: number): void {
    let column = this.#others.get(field);
    if (!column) {
      if (this.#others.size === maxOthers) return;
      column = new Float64Array(this.#steps.length).fill(Number.NaN);
      this.#others.set(field, column);
    }
    column[this.#size] = value;
  }

  #grow(): void {
    const grown = (column: Float64Array): Float64Array<ArrayBuffer> => {
      const longer = new Float64Array(2 * column.length).fill(Number.NaN, column.length);
      longer.set(column);
      return longer;
    };
    this.#steps = grown(this.#steps);
    this.#rewards = grown(this.#rewards);
    for (const [field, column] of this.#others) this.#others.set(field, grown(column));
  }

  /** The curve of the rows so far. `unreadableIn` counts the skipped rows, plus `before`. */
  curve(before = 0): TrainerCurve {
    const steps = this.#steps.subarray(0, this.#size);
    const order =
      this.#unordered >= this.#size
        ? undefined
        : Array.from(steps.keys()).sort((left, right) => (steps[left] as number) - (steps[right] as number));
    const ordered = (column: Float64Array): Float64Array =>
      order ? Float64Array.from(order, index => column[index] as number) : column.slice(0, this.#size);
    const curve = {
      steps: ordered(steps),
      rewards: ordered(this.#rewards),
      others: new Map([...this.#others].map(([field, column]) => [field, ordered(column)])),
    };
    notePage(curve, { dropped: before + this.#dropped, cursor: null });
    return curve;
  }
}

/** Whether the schema would leave a row unchanged, as it nearly always does. Parsing a million rows takes a second. */
function isPlain(row: unknown): row is TrainerReward {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return false;
  const { step, trainer_reward } = row as Partial<TrainerReward>;
  return Number.isFinite(step) && (trainer_reward == null || Number.isFinite(trainer_reward));
}
