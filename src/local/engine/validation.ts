/**
 * A training run's held-out tasks. Their reward chooses the checkpoint, so they come from the train split, and the test
 * split is left for evaluations.
 */
import { hashOf } from '../../base/hash.ts';

/** One task in this many is used for validation. */
const validationShare = 4;
/** With fewer tasks, the estimate would be too noisy, or too few tasks would be left to learn from. */
const fewest = 8;

interface TrainingSplits<Task> {
  readonly train: readonly Task[];
  readonly heldOut: readonly Task[];
  /** The split of the held-out tasks: a part of the train split, or the test split if that part would be too small. */
  readonly heldOutSplit: 'validation' | 'test';
}

/** Divides the train split by task name, so that a run that continues another holds out the same tasks. */
export function trainingSplits<Task extends { readonly task_id: string }>(
  train: readonly Task[],
  test: readonly Task[],
): TrainingSplits<Task> {
  const isAside = ({ task_id }: Task): boolean => hashOf(`validation ${task_id}`) % validationShare === 0;
  const aside = train.filter(isAside);
  const isEnough = aside.length >= fewest && train.length - aside.length >= fewest;
  if (!isEnough) return { train, heldOut: test, heldOutSplit: 'test' };
  return { train: train.filter(task => !isAside(task)), heldOut: aside, heldOutSplit: 'validation' };
}
