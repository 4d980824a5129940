/** Names for a training run's checkpoints: `first@latest`, `first@best`, `first@6`. Pure. */
import { hasMoreAfter, unreadableIn } from '../contract/lists.ts';
import type { Checkpoint, HeldOutReward } from '../contract/training.ts';
import { cutOffMessage } from '../service/pagination.ts';
import { counted } from '../text/numbers.ts';
import { bestHeldOut, heldOutOfStep } from './held-out.ts';

/** The names that can stand in for a step, with their meanings. */
export const namedSteps = {
  latest: 'its last checkpoint',
  best: 'its checkpoint with the highest held-out reward',
} as const;

/**
 * Whether the word looks like a checkpoint id. Such a word is always treated as one, even if a training run has this
 * name, because no operation can check: none reads a checkpoint by its id alone. Users can refer to the run as
 * `NAME@latest`.
 */
export function isCheckpointId(word: string): boolean {
  return /^(ckpt|cp|checkpoint)[_-][^@]*$/.test(word);
}

/**
 * Whether the word has the same form as these checkpoints' ids: the same prefix, or the same length and punctuation.
 */
export function isLikeIdOf(word: string, checkpoints: readonly Checkpoint[]): boolean {
  const formsOf = (id: string): readonly (string | undefined)[] => [
    /^[a-z]+[_-](?=.*\d)/i.exec(id)?.[0],
    /\d/.test(id) ? id.replaceAll(/[a-z\d]/gi, 'x') : undefined,
  ];
  const forms = formsOf(word);
  return checkpoints.some(({ checkpoint_id }) =>
    formsOf(checkpoint_id).some((form, at) => form !== undefined && form === forms[at]),
  );
}

/** Splits `first@best` into the training run's name and the checkpoint. Without `@`, the checkpoint is the latest. */
export function splitCheckpointName(word: string): { readonly name: string; readonly which: string } {
  const at = word.lastIndexOf('@');
  return at < 1 ? { name: word, which: 'latest' } : { name: word.slice(0, at), which: word.slice(at + 1) };
}

/** One meaning of a word: a checkpoint of a training run. */
export interface CheckpointReading<Run> {
  readonly run: Run;
  /** The part of the word that is the run's id or name. */
  readonly name: string;
  /** The step, `latest` or `best`. */
  readonly which: string;
  /** Whether the word names only the run. */
  readonly isRun: boolean;
}

/**
 * All meanings of a word as a checkpoint of a training run: `a@6` is step 6 of the run `a`, or a run called `a@6`. A
 * run's id beats names. It does not matter whether the run has the checkpoint, because otherwise the meaning would
 * change while it trains.
 *
 * @param called returns the training runs with this id or name
 */
export function checkpointReadings<Run>(
  word: string,
  called: (name: string) => readonly Run[],
  idOf: (run: Run) => string,
): readonly CheckpointReading<Run>[] {
  const { name, which } = splitCheckpointName(word);
  const wholes = called(word).map(run => ({ run, name: word, which: 'latest', isRun: true }));
  const isStep = Object.hasOwn(namedSteps, which) || /^\d+$/.test(which);
  // If there is only one meaning, the error can name the problem with the step.
  const parts = (name === word ? [] : called(name))
    .filter(run => isStep || wholes.length === 0 || idOf(run) === name)
    .map(run => ({ run, name, which, isRun: false }));
  const readings = [...wholes, ...parts];
  const byId = readings.filter(reading => idOf(reading.run) === reading.name);
  return byId.length > 0 ? byId : readings;
}

/**
 * Why the latest or best checkpoint may be missing, without a full stop: a row could not be read, the list was cut off,
 * or only some checkpoints have a step. Undefined if none can be missing.
 */
export function unreadCheckpoints(checkpoints: readonly Checkpoint[]): string | undefined {
  const unread = unreadableIn(checkpoints);
  const unplaced = checkpoints.filter(({ step_index }) => step_index == null).length;
  const why = [
    unread > 0 ? `${counted(unread, 'checkpoint')} could not be read` : '',
    unplaced > 0 && unplaced < checkpoints.length ? `the step of ${counted(unplaced, 'checkpoint')} is not known` : '',
    hasMoreAfter(checkpoints) ? cutOffMessage : '',
  ];
  return why.filter(Boolean).join('. ') || undefined;
}

/**
 * A run's checkpoint by name (`latest`, `best`) or step. `best` has the highest held-out reward; on a tie, the latest
 * one wins. Without held-out rewards, no checkpoint is the best.
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
