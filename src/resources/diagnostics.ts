/** The diagnostics of a training step: what a service measures besides the reward. */
import { perObject } from '../base/memo.ts';
import { own } from '../base/own-property.ts';
import type { TrainerReward } from '../contract/training.ts';
import type { StepValue } from '../present/curve-words.ts';
import { sanitiseLine } from '../text/sanitise.ts';

/** Names of the local service's diagnostics. Those of other services keep their field names. */
export const diagnosticLabels = new Map([
  ['kl', 'KL to the base model'],
  ['entropy', 'entropy'],
  ['gradient_norm', 'gradient norm'],
  ['equal_groups', 'tasks with equal rewards'],
  ['truncated', 'answers cut off'],
]);

/** A diagnostic by step. */
export interface Diagnostic {
  /** The name of its field. */
  readonly field: string;
  readonly label: string;
  readonly points: readonly StepValue[];
}

/** With more fields than this, they are hardly diagnostics. */
const mostFields = 24;

function numberIn(row: TrainerReward, field: string): number | undefined {
  const value = own(row, field);
  return typeof value === 'number' ? value : undefined;
}

/** The diagnostics of a curve: the numbers beside its rewards, in the order in which they first appear. */
export const diagnosticsOf = perObject((trainer: readonly TrainerReward[]): readonly Diagnostic[] => {
  const fields = new Set<string>();
  for (const row of trainer) {
    for (const field of Object.keys(row)) {
      if (fields.size < mostFields && numberIn(row, field) !== undefined) fields.add(field);
    }
  }
  fields.delete('step');
  fields.delete('trainer_reward');
  return [...fields].map(field => ({
    field,
    label: diagnosticLabels.get(field) ?? sanitiseLine(field),
    points: trainer.map(row => ({ step: row.step, value: numberIn(row, field) })),
  }));
});
