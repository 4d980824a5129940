/** A trainer's rewards, in columns: a run may have a million steps, which take 150 MB as objects. */

/** A curve, ordered by step. */
export interface TrainerCurve {
  readonly steps: Float64Array;
  /** NaN for a step without a reward. */
  readonly rewards: Float64Array;
  /** Other numbers in the rows, by field, in order of first appearance. NaN for a missing value. */
  readonly others: ReadonlyMap<string, Float64Array>;
}

/** A curve without steps. */
export const emptyCurve: TrainerCurve = { steps: new Float64Array(), rewards: new Float64Array(), others: new Map() };

/** Pairs each step with its value in a column; undefined for NaN. */
export function stepValues(
  { steps }: Pick<TrainerCurve, 'steps'>,
  values: Float64Array,
): { readonly step: number; readonly value: number | undefined }[] {
  return Array.from(steps, (step, index) => {
    const value = values[index] as number;
    return { step, value: Number.isNaN(value) ? undefined : value };
  });
}

/** The newest reward; undefined if there is none. */
export const lastReward = ({ rewards }: TrainerCurve): number | undefined =>
  rewards.findLast(reward => !Number.isNaN(reward));
