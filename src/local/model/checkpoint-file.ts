/** The files of a training step: the weights, and the optimizer state needed to resume. */
import * as z from 'zod/mini';
import { CorruptFileError, pack, unpack } from './container.ts';

const aboutSchema = z.object({ base_model_slug: z.string(), step: z.int().check(z.gte(0)) });

interface CheckpointContent {
  readonly base_model_slug: string;
  /** The number of completed steps. */
  readonly step: number;
  readonly weights: Float32Array;
}

function aboutOf(value: unknown): z.output<typeof aboutSchema> {
  const read = aboutSchema.safeParse(value);
  if (!read.success) throw new CorruptFileError('The header of the checkpoint is incomplete.');
  return read.data;
}

export function packCheckpoint({ weights, ...header }: CheckpointContent): Uint8Array {
  return pack('checkpoint', header, { weights });
}

/** @throws CorruptFileError */
export function unpackCheckpoint(bytes: Uint8Array): CheckpointContent {
  const file = unpack('checkpoint', bytes);
  return { ...aboutOf(file.about), weights: file.floats('weights') };
}

/** The optimizer's moments: running means of the gradient and of its square, one number per weight. */
export interface OptimizerState {
  readonly step: number;
  readonly first: Float32Array;
  readonly second: Float32Array;
}

export function packOptimizer(base_model_slug: string, { step, first, second }: OptimizerState): Uint8Array {
  return pack('trainer state', { base_model_slug, step }, { first, second });
}

/** @throws CorruptFileError */
export function unpackOptimizer(bytes: Uint8Array): OptimizerState {
  const file = unpack('trainer state', bytes);
  return { step: aboutOf(file.about).step, first: file.floats('first'), second: file.floats('second') };
}
