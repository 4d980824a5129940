/** The run options supported here, and their bounds. */
import { own } from '../../base/own-property.ts';

export interface OptionSpec {
  readonly type: 'integer' | 'number';
  readonly minimum: number;
  readonly maximum: number;
  /** Missing if the default depends on the run. */
  readonly default?: number;
  /** Whether a value above the maximum is lowered to it. */
  readonly capped?: boolean;
  readonly description: string;
}

type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** Names an invalid option and the reason. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
  readonly option: string;

  constructor(option: string, message: string) {
    super(message);
    this.option = option;
  }
}

interface ReadOptions<Name extends string> {
  readonly set: Readonly<Partial<Record<Name, number>>>;
  /** The names of options that were ignored, fully or in part. */
  readonly ignored: readonly string[];
}

/**
 * Reads a run's options. Null counts as missing. Other generations' options that have no meaning here are accepted, and
 * listed as ignored.
 *
 * @throws OptionError for the first one that is out of bounds
 */
export function readOptions<Specs extends OptionSpecs>(
  specs: Specs,
  input: Readonly<Record<string, unknown>>,
): ReadOptions<keyof Specs & string> {
  const set: [string, number][] = [];
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (value === null) continue;
    const spec = own<OptionSpec>(specs, name);
    if (!spec) {
      ignored.push(name);
      continue;
    }
    const number = readOption(name, spec, value);
    if (number !== value) ignored.push(name);
    set.push([name, number]);
  }
  return { set: Object.fromEntries(set) as Partial<Record<keyof Specs & string, number>>, ignored };
}

function readOption(name: string, { type, minimum, maximum, capped = false }: OptionSpec, value: unknown): number {
  const right = typeof value === 'number' && Number.isFinite(value) && (type === 'number' || Number.isInteger(value));
  if (right && value > maximum && capped) return maximum;
  if (!right || value < minimum || value > maximum) {
    const what = type === 'integer' ? 'a whole number' : 'a number';
    throw new OptionError(name, `${name} is ${what} from ${minimum} to ${maximum}.`);
  }
  return value;
}

/** Options in the newest generation's format. `computed` contains the defaults that depend on the run, if known. */
export function listOptions(specs: OptionSpecs, computed: Readonly<Record<string, number>> = {}) {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { type, minimum, maximum, default: fixed, description }]) => [
      name,
      {
        type,
        min: minimum,
        max: maximum,
        default: fixed ?? own(computed, name) ?? null,
        choices: null,
        default_kind: fixed === undefined ? 'computed' : 'fixed',
        description,
      },
    ]),
  );
}

/** The defaults that do not depend on the run. */
export function defaultsOf<Specs extends OptionSpecs>(specs: Specs) {
  type Fixed = { readonly [Name in keyof Specs as Specs[Name] extends { default: number } ? Name : never]: number };
  return Object.fromEntries(Object.entries(specs).map(([name, { default: fixed }]) => [name, fixed])) as Fixed;
}

/** An evaluation run's options. A training run's options, which depend on each other, are in `training-options.ts`. */
export const evaluationOptionSpecs = {
  evaluation_max_samples: {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of tasks from the test split, ordered by name. By default, all tasks.',
  },
  evaluation_samples_per_task: {
    type: 'integer',
    minimum: 1,
    maximum: 64,
    default: 1,
    description: 'Answers sampled for each task.',
  },
  seed: {
    type: 'integer',
    minimum: 0,
    maximum: 4_294_967_295,
    default: 1,
    description: 'Runs with the same seed draw the same random numbers for a task, even with different models.',
  },
  max_output_tokens_per_step: {
    type: 'integer',
    minimum: 1,
    maximum: 4096,
    capped: true,
    description: "Longest answer in tokens; a task may set a lower limit. By default, the task's limit.",
  },
} as const satisfies Record<string, OptionSpec>;

type EvaluationOption = keyof typeof evaluationOptionSpecs;
export type EvaluationOptions = Readonly<Partial<Record<EvaluationOption, number>>> &
  Readonly<Record<'evaluation_samples_per_task' | 'seed', number>>;

/** An evaluation's options, including the defaults that do not depend on a task. */
export const evaluationOptions = (input: Readonly<Partial<Record<EvaluationOption, number>>>): EvaluationOptions => ({
  ...defaultsOf(evaluationOptionSpecs),
  ...input,
});
