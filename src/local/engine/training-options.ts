/** A training run's options: names, bounds, defaults and descriptions. */

import { maxOf } from '../../base/many.ts';
import { buildBaseModel } from '../model/base-models.ts';
import { mostSteps } from '../model/tools.ts';
import type { Task } from '../samples/manifest.ts';
import { defaultsOf, type OptionSpec, readOptions } from './options.ts';

export const trainingOptionSpecs = {
  num_steps: {
    type: 'integer',
    minimum: 1,
    maximum: 2000,
    description:
      'Training steps; each samples a batch of tasks and updates the weights once. By default, about a minute of work.',
  },
  train_batch_size: {
    type: 'integer',
    minimum: 1,
    maximum: 128,
    default: 16,
    description: 'Tasks from the train split per step.',
  },
  samples_per_instance: {
    type: 'integer',
    minimum: 2,
    maximum: 64,
    default: 16,
    description: 'Answers sampled for each task in a step; their mean reward is the baseline.',
  },
  max_output_tokens_per_step: {
    type: 'integer',
    minimum: 1,
    maximum: 256,
    capped: true,
    description:
      'Longest answer in tokens; a task may set a lower limit. By default 32, or the highest limit of the tasks if that is lower.',
  },
  learning_rate: {
    type: 'number',
    minimum: 1e-6,
    maximum: 1,
    default: 0.01,
    description: 'Step size of the optimizer.',
  },
  kl_penalty: {
    type: 'number',
    minimum: 0,
    maximum: 10,
    default: 0.01,
    description: 'Penalty on the KL divergence from the base model, per nat.',
  },
  held_out_every: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    description:
      'Steps between two evaluations on held-out tasks; a checkpoint is committed at each. By default, a twentieth of the run.',
  },
  seed: {
    type: 'integer',
    minimum: 0,
    maximum: 4_294_967_295,
    default: 1,
    description: 'The same seed gives the same run.',
  },
} as const satisfies Record<string, OptionSpec>;

export type TrainingOptions = Readonly<Record<keyof typeof trainingOptionSpecs, number>>;

/** The model and tasks that a training run uses. */
interface TrainedOn {
  readonly base_model_slug: string;
  readonly tasks: readonly (Pick<Task, 'max_tokens'> & Partial<Pick<Task, 'tools'>>)[];
  /** The highest token limit of any task, including those held out; infinite if a task has none. */
  readonly longestAnswer: number;
}

const defaultLongest = 32;

/** See `TrainedOn`. */
export const longestAnswerOf = (tasks: readonly Pick<Task, 'max_tokens'>[]): number =>
  maxOf(tasks.map(({ max_tokens }) => max_tokens ?? Number.POSITIVE_INFINITY));

/** The number of weight multiplications in a run of default length, about 45 seconds of work. */
const defaultWork = 14e9;
const defaultSteps = { minimum: 60, maximum: 240 } as const;

const sizes = new Map<string, number>();

/** How many weights a base model has, which is known only once it is built. */
function weightsOf(slug: string): number {
  const size = sizes.get(slug) ?? buildBaseModel(slug).network.weights.length;
  sizes.set(slug, size);
  return size;
}

/** Small models and short answers get more steps for the same amount of work, up to a limit on the data recorded. */
function stepsOf({ base_model_slug, tasks }: TrainedOn, options: Omit<TrainingOptions, 'num_steps'>): number {
  const { max_output_tokens_per_step: longest, train_batch_size, samples_per_instance } = options;
  const words = maxOf(
    tasks.map(({ max_tokens, tools }) => Math.min(longest, max_tokens ?? longest) * mostSteps(tools)),
  );
  const work = train_batch_size * samples_per_instance * words * weightsOf(base_model_slug);
  const steps = Math.round(defaultWork / work / 10) * 10;
  return Math.min(defaultSteps.maximum, Math.max(defaultSteps.minimum, steps));
}

/**
 * A run's options: checked values, and defaults for the rest. The answer length is capped at the tasks' highest limit,
 * so that the run shows the effective limit.
 *
 * @throws OptionError for the first invalid option
 */
export function readTrainingOptions(input: Readonly<Record<string, unknown>>, on: TrainedOn) {
  const { set, ignored } = readOptions(trainingOptionSpecs, input);
  const { max_output_tokens_per_step: asked } = set;
  const max_output_tokens_per_step = Math.min(asked ?? defaultLongest, on.longestAnswer);
  const isLowered = asked !== undefined && asked > max_output_tokens_per_step;
  const most = { ...defaultsOf(trainingOptionSpecs), held_out_every: 0, ...set, max_output_tokens_per_step };
  const num_steps = set.num_steps ?? stepsOf(on, most);
  // At least five steps, and a multiple of five.
  const held_out_every = set.held_out_every ?? Math.min(num_steps, Math.max(5, Math.round(num_steps / 100) * 5));
  const lowered = isLowered ? ['max_output_tokens_per_step'] : [];
  return { options: { ...most, num_steps, held_out_every }, ignored: [...new Set([...ignored, ...lowered])] };
}
