/** Names for the checkpoints of a training run: `first@latest`, `first@best`, `first@6`. Pure. */
import type { Checkpoint, HeldOutReward } from '../contract/training.ts';
import { bestHeldOut, heldOutOfStep } from './held-out.ts';

/** The names that stand in for a step, with their meaning. */
export const namedSteps = {
  latest: 'its last checkpoint',
  best: 'its checkpoint with the highest held-out reward',
} as const;

/** Whether the word looks like a checkpoint id. No operation reads a checkpoint by id. */
export function isCheckpointId(word: string): boolean {
  return /^(ckpt|cp|checkpoint)[_-][^@]*$/.test(word);
}

/**
 * Splits `first@best` into the training run and the checkpoint of it; without `@`, that is the latest.
 *
 * @param isName whether a training run has this whole name, which may contain `@`
 */
export function splitCheckpointName(
  word: string,
  isName: (word: string) => boolean = () => false,
): { readonly name: string; readonly which: string } {
  const at = isName(word) ? -1 : word.lastIndexOf('@');
  return at < 0 ? { name: word, which: 'latest' } : { name: word.slice(0, at), which: word.slice(at + 1) };
}

/**
 * The checkpoint of a run that is called `latest`, `best` or by its step. `best` has the highest held-out reward, and of
 * equal ones the latest; none is the best if no held-out reward is known.
 */
export function checkpointCalled<Row extends Checkpoint>(
  which: string,
  checkpoints: readonly Row[],
  heldOut: readonly HeldOutReward[],
): Row | undefined {
  const inOrder = checkpoints.toSorted((left, right) => (left.step_index ?? 0) - (right.step_index ?? 0));
  if (which === 'latest') return inOrder.at(-1);
  if (which !== 'best') return inOrder.find(({ step_index }) => String(step_index) === which);
  const meanOf = heldOutOfStep(heldOut);
  const best = bestHeldOut(inOrder.flatMap(({ step_index }) => meanOf(step_index) ?? []));
  return best && inOrder.find(({ step_index }) => step_index === best.step);
}
