/** Options of an evaluation run: names, bounds and descriptions. */
import type { OptionSpec } from './options.ts';

export const evaluationOptionSpecs = {
  evaluation_max_samples: {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of tasks of the test split, in order of name. By default, all of them.',
  },
  max_output_tokens_per_step: {
    type: 'integer',
    minimum: 1,
    maximum: 4096,
    capped: true,
    description: 'Longest answer in tokens; a task may set less. By default, the limit of the task.',
  },
} as const satisfies Record<string, OptionSpec>;

export type EvaluationOptions = Readonly<Partial<Record<keyof typeof evaluationOptionSpecs, number>>>;
