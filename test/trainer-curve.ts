/** Makes trainers' curves. */
import type { TrainerCurve } from '../src/contract/trainer-curve.ts';
import { TrainerCurveReader } from '../src/contract/trainer-curve-reader.ts';

/** The curve of these rows. */
export function trainerCurveOf(rows: readonly unknown[]): TrainerCurve {
  const reader = new TrainerCurveReader();
  for (const row of rows) reader.add(row);
  return reader.curve();
}
