/** The optimizer: Adam (Kingma and Ba 2015), with the gradient clipped by its norm. */
import type { OptimizerState } from './checkpoint-file.ts';

const beta1 = 0.9;
const beta2 = 0.99;
const epsilon = 1e-8;
/**
 * Longer gradients are scaled down to this norm, so that an odd batch does not move the weights further than others.
 */
const longestGradient = 1;

export function freshOptimizer(size: number): OptimizerState {
  return { step: 0, first: new Float32Array(size), second: new Float32Array(size) };
}

/** Updates the weights in place. Returns the state for the next step, and the norm of the gradient before it was clipped. */
export function moveWeights(
  weights: Float32Array,
  gradient: Float32Array,
  learningRate: number,
  { step, first, second }: OptimizerState,
): { readonly state: OptimizerState; readonly gradientNorm: number } {
  let squares = 0;
  for (const slope of gradient) squares += slope * slope;
  const norm = Math.sqrt(squares);
  const scale = norm > longestGradient ? longestGradient / norm : 1;
  const done = step + 1;
  const bias1 = 1 - beta1 ** done;
  const bias2 = 1 - beta2 ** done;
  for (let index = 0; index < weights.length; index += 1) {
    const slope = (gradient[index] ?? 0) * scale;
    const mean = beta1 * (first[index] ?? 0) + (1 - beta1) * slope;
    const square = beta2 * (second[index] ?? 0) + (1 - beta2) * slope * slope;
    first[index] = mean;
    second[index] = square;
    weights[index] = (weights[index] ?? 0) - (learningRate * (mean / bias1)) / (Math.sqrt(square / bias2) + epsilon);
  }
  return { state: { step: done, first, second }, gradientNorm: norm };
}
