/** Diagnostics of training steps: a service's measurements besides the reward. */
import type { TrainerCurve } from '../contract/trainer-curve.ts';
import { sanitiseLine } from '../text/sanitise.ts';

/** Labels for the local service's diagnostics. Other services' diagnostics keep their field names. */
const diagnosticLabels = new Map([
  ['kl', 'KL to the base model'],
  ['entropy', 'entropy'],
  ['gradient_norm', 'gradient norm'],
  ['equal_groups', 'tasks with equal rewards'],
  ['truncated', 'answers cut off'],
]);

/** A diagnostic's values by step. */
export interface Diagnostic {
  readonly label: string;
  /** The value at each step of the curve; NaN where missing. */
  readonly values: Float64Array;
}

/** The diagnostics in a curve: the numbers beside its rewards, in order of first appearance. */
export const diagnosticsOf = ({ others }: Pick<TrainerCurve, 'others'>): readonly Diagnostic[] =>
  Array.from(others, ([field, values]) => ({ label: diagnosticLabels.get(field) ?? sanitiseLine(field), values }));
