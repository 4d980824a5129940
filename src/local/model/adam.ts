/** The optimizer: Adam (Kingma and Ba 2015), with the gradient clipped by its norm. */
import type { OptimizerState } from './checkpoint-file.ts';

const beta1 = 0.9;
const beta2 = 0.99;
const epsilon = 1e-8;
/** A gradient with a larger norm is scaled down to it, so that no single batch moves the weights far. */
const maxGradientNorm = 1;

export function freshOptimizer(size: number): OptimizerState {
  return { step: 0, first: new Float32Array(size), second: new Float32Array(size) };
}

/** Updates the weights in place. Returns the state for the next step, and the norm of the gradient before clipping. */
export function adamStep(
  weights: Float32Array,
  gradient: Float32Array,
  learningRate: number,
  { step, first, second }: OptimizerState,
): { readonly state: OptimizerState; readonly gradientNorm: number } {
  let squares = 0;
  for (const grad of gradient) squares += grad * grad;
  const norm = Math.sqrt(squares);
  const scale = norm > maxGradientNorm ? maxGradientNorm / norm : 1;
  const next = step + 1;
  const bias1 = 1 - beta1 ** next;
  const bias2 = 1 - beta2 ** next;
  for (let index = 0; index < weights.length; index += 1) {
    const grad = (gradient[index] ?? 0) * scale;
    const mean = beta1 * (first[index] ?? 0) + (1 - beta1) * grad;
    const square = beta2 * (second[index] ?? 0) + (1 - beta2) * grad * grad;
    first[index] = mean;
    second[index] = square;
    weights[index] = (weights[index] ?? 0) - (learningRate * (mean / bias1)) / (Math.sqrt(square / bias2) + epsilon);
  }
  return { state: { step: next, first, second }, gradientNorm: norm };
}
