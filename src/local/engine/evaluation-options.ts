/** Options of an evaluation run: names, bounds and descriptions. */
import type { OptionSpec } from './options.ts';

export const evaluationOptionSpecs = {
  evaluation_max_samples: {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    description: 'At most so many tasks of the test split, in the order of their names. Without it, all of them.',
  },
  max_output_tokens_per_step: {
    type: 'integer',
    minimum: 1,
    maximum: 4096,
    capped: true,
    description: 'Longest answer in tokens; a task may ask for less. Without it, what the task asks for.',
  },
} as const satisfies Record<string, OptionSpec>;

export type EvaluationOptions = Readonly<Partial<Record<keyof typeof evaluationOptionSpecs, number>>>;
