/** The diagnostics of training steps: the measurements of a service besides the reward. */
import type { TrainerCurve } from '../contract/trainer-curve.ts';
import { sanitiseLine } from '../text/sanitise.ts';

/** The names of the local service's diagnostics. Diagnostics of other services keep their field names. */
const diagnosticLabels = new Map([
  ['kl', 'KL to the base model'],
  ['entropy', 'entropy'],
  ['gradient_norm', 'gradient norm'],
  ['equal_groups', 'tasks with equal rewards'],
  ['truncated', 'answers cut off'],
]);

/** A diagnostic by step. */
export interface Diagnostic {
  readonly label: string;
  /** The value at each step of the curve; NaN if it is missing. */
  readonly values: Float64Array;
}

/** The diagnostics of a curve: the numbers beside its rewards, in the order in which they first appear. */
export const diagnosticsOf = ({ others }: Pick<TrainerCurve, 'others'>): readonly Diagnostic[] =>
  Array.from(others, ([field, values]) => ({ label: diagnosticLabels.get(field) ?? sanitiseLine(field), values }));
