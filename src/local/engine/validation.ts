/**
 * The tasks that a training run is measured on. Its checkpoints are chosen by this measure, so it must not be the one that
 * the result is reported with: a part of the train split is kept aside for it, and the test split stays for evaluations.
 */
import { hashOf } from '../../text/hash.ts';

/** One task in this many is for validation. */
const validationShare = 4;
/** Fewer tasks would say little, or leave too few to learn from. */
const fewest = 8;

export interface TrainingSplits<Task> {
  readonly train: readonly Task[];
  readonly heldOut: readonly Task[];
  /** What the held-out tasks are: a part of the train split, or the test split where that is too small to be divided. */
  readonly heldOutSplit: 'validation' | 'test';
}

/** Divides the train split by the tasks' names, so that a run which continues another one keeps aside the same tasks. */
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
