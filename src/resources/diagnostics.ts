/** Diagnostics of training steps: a service's measurements besides the reward. */
import type { TrainerCurve } from '../contract/trainer-curve.ts';
import type { StepDiagnostics } from '../contract/training.ts';
import { percent, reward } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';

/** The local service's diagnostics, and which of them are shares. Other services' diagnostics keep their field names. */
const diagnostics = [
  { field: 'kl', label: 'KL to the base model' },
  { field: 'entropy', label: 'entropy' },
  { field: 'gradient_norm', label: 'gradient norm' },
  { field: 'equal_groups', label: 'tasks with equal rewards', isShare: true },
  { field: 'truncated', label: 'answers cut off', isShare: true },
] as const;

const diagnosticLabels = new Map<string, string>(diagnostics.map(({ field, label }) => [field, label]));

/** A step's diagnostics, e.g. `KL to the base model 0.0210, entropy 3.10, gradient norm 0.420, …`. */
export const describeDiagnostics = (step: StepDiagnostics): string =>
  diagnostics
    .flatMap(({ field, label, ...kind }) => {
      const value = step[field];
      if (value == null) return [];
      return 'isShare' in kind ? `${percent(value)} of the ${label}` : `${label} ${reward(value)}`;
    })
    .join(', ');

/** A diagnostic's values by step. */
interface Diagnostic {
  readonly label: string;
  /** The value at each step of the curve; NaN where missing. */
  readonly values: Float64Array;
}

/** The diagnostics in a curve: the numbers beside its rewards, in order of first appearance. */
export const diagnosticsOf = ({ others }: Pick<TrainerCurve, 'others'>): readonly Diagnostic[] =>
  Array.from(others, ([field, values]) => ({ label: diagnosticLabels.get(field) ?? sanitiseLine(field), values }));
