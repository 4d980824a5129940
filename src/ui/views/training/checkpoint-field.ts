/** The form field for a checkpoint: options with their numbers, and names that can be typed. Pure. */
import type { EvalRun } from '../../../contract/evaluations.ts';
import type { Checkpoint, HeldOutReward, TrainingRun } from '../../../contract/training.ts';
import { formatLimits } from '../../../present/number-columns.ts';
import type { Range } from '../../../present/statistics/tasks.ts';
import {
  type CheckpointReading,
  checkpointCalled,
  checkpointReadings,
  isCheckpointId,
  namedSteps,
  splitCheckpointName,
  unreadCheckpoints,
} from '../../../queries/checkpoint-names.ts';
import { bestCell, describeEvaluations, type Measured, withMeasured } from '../../../resources/checkpoint-columns.ts';
import { describeMeasured, heldOutLimits } from '../../../resources/describe-held-out.ts';
import { reward } from '../../../text/numbers.ts';
import { clean } from '../../../text/sanitise.ts';
import type { Service } from '../../../workbench/workbench.ts';
import type { ChoiceFieldSpec, ChoiceOption, FormValues } from '../../widgets/form/form-state.ts';

/** Finds the checkpoint that a form first shows; undefined if the user must choose it. */
export type FindCheckpoint = (service: Service) => Promise<Checkpoint | undefined>;

/** A checkpoint, its measurements, and its training run. */
export interface OfferedCheckpoint {
  readonly run: TrainingRun;
  readonly row: Checkpoint & Measured;
  /** The 95% limits of its held-out reward, if known. */
  readonly limits?: { readonly low: number; readonly high: number } | undefined;
  /** The words that name it after the `@`, besides its step. */
  readonly called: readonly string[];
}

export const runName = ({ display_name, training_run_id }: TrainingRun): string => display_name ?? training_run_id;

/** `step 5 of words`; the id if the step is unknown. */
export const describeCheckpoint = ({ row: { step_index: step, checkpoint_id }, run }: OfferedCheckpoint): string =>
  clean`${step == null ? checkpoint_id : `step ${step}`} of ${runName(run)}`;

/** A run's checkpoints, newest first. */
export function offeredOf(
  run: TrainingRun,
  checkpoints: readonly Checkpoint[],
  heldOut: readonly HeldOutReward[],
  evaluations: readonly EvalRun[],
  range: Range,
): readonly OfferedCheckpoint[] {
  const limits = new Map(heldOutLimits(heldOut, range).map(each => [each.step, each]));
  const newestFirst = checkpoints.toSorted((left, right) => (right.step_index ?? 0) - (left.step_index ?? 0));
  // If some are unread, one of them may be the latest or the best.
  const which = unreadCheckpoints(checkpoints) === undefined ? Object.keys(namedSteps) : [];
  const names = which.map(each => [each, checkpointCalled(each, checkpoints, heldOut)] as const);
  return withMeasured(newestFirst, heldOut, evaluations, range).map(row => ({
    run,
    row,
    limits: row.step_index == null ? undefined : limits.get(row.step_index),
    called: names.flatMap(([name, found]) => (found?.checkpoint_id === row.checkpoint_id ? [name] : [])),
  }));
}

/** Returns a function that finds the possible meanings of a typed word among these runs. */
export function readingsAmong<Run extends TrainingRun>(
  runs: readonly Run[],
): (word: string) => readonly CheckpointReading<Run>[] {
  const byName = Map.groupBy(
    runs.flatMap(run => [...new Set([run.training_run_id, runName(run)])].map(name => ({ name, run }))),
    ({ name }) => name,
  );
  const called = (name: string) => byName.get(name)?.map(({ run }) => run) ?? [];
  return word => checkpointReadings(word, called, run => run.training_run_id);
}

/** A checkpoint's numbers, most important first. */
function factsOf({ row, limits }: OfferedCheckpoint): string[] {
  const { held_out, rivals, evaluations, is_deployable } = row;
  const samples = held_out?.samples === undefined ? '' : ` n=${held_out.samples}`;
  return [
    held_out ? `held-out ${reward(held_out.reward)}` : '',
    [bestCell(row), rivals && rivals.ties.length > 0 ? `of ${rivals.ties.length + 1} equal` : '']
      .filter(Boolean)
      .join(' '),
    formatLimits(limits) || samples.trim(),
    evaluations ? describeEvaluations(evaluations) : '',
    is_deployable === false ? 'cannot be deployed' : '',
  ];
}

function optionOf(
  offered: OfferedCheckpoint,
  { isOfOne, model }: Pick<CheckpointChoice, 'isOfOne' | 'model'>,
  readingsOf: (word: string) => readonly CheckpointReading<TrainingRun>[],
): ChoiceOption {
  const { run, row, called } = offered;
  const step = row.step_index == null ? row.checkpoint_id : `step ${row.step_index}`;
  const isOther = run.base_model_slug != null && model !== undefined && run.base_model_slug !== model;
  const isMeant = (word: string): boolean => {
    const [reading, ...others] = isCheckpointId(word) ? [] : readingsOf(word);
    return others.length === 0 && reading?.run.training_run_id === run.training_run_id;
  };
  const [heldOut = '', ...facts] = factsOf(offered);
  const steps = row.step_index == null ? called : [...called, String(row.step_index)];
  const words = [...new Set([run.training_run_id, runName(run)])].flatMap(name => [
    ...steps.map(which => `${name}@${which}`),
    ...(called.includes('latest') ? [name] : []),
  ]);
  const aliases = words.filter(isMeant);
  return {
    value: row.checkpoint_id,
    label: clean`${step}${isOfOne ? '' : ` of ${runName(run)}`}`,
    facts: isOther ? ['other model', ...facts] : [heldOut, ...facts],
    aliases: isOfOne ? [...aliases, ...steps] : aliases,
  };
}

export interface CheckpointChoice {
  readonly offered: readonly OfferedCheckpoint[];
  /** The runs that may be named; only some of them have their checkpoints in `offered`. */
  readonly runs: readonly TrainingRun[];
  /** Whether the form names the run, so that the rows need not. */
  readonly isOfOne: boolean;
  /** The new run's base model, if known. */
  readonly model?: string | undefined;
  /** Why a typed name is not a checkpoint; undefined for an id. */
  readonly problem: (word: string) => string | undefined;
}

export const chosenOf = (offered: readonly OfferedCheckpoint[], id: string | undefined) =>
  offered.find(({ row }) => row.checkpoint_id === id);

/** Names the run's best checkpoint if another one is chosen; otherwise empty. */
export function betterChoice({ run, row }: OfferedCheckpoint, offered: readonly OfferedCheckpoint[]): string {
  const isBest = (each: OfferedCheckpoint): boolean =>
    each.run.training_run_id === run.training_run_id && each.called.includes('best');
  const { step_index, checkpoint_id, held_out } = offered.find(isBest)?.row ?? row;
  if (checkpoint_id === row.checkpoint_id || step_index == null || !held_out) return '';
  return `This run's best is step ${step_index}, ${describeMeasured(held_out)}.`;
}

interface CheckpointFieldOptions {
  readonly name: string;
  readonly label: string;
  readonly initial: string;
  /** The first entry in an optional field. */
  readonly none?: string;
  /** Why an offered checkpoint must not be chosen, given the form's values. */
  readonly refuses?: (chosen: OfferedCheckpoint, values: FormValues) => string | undefined;
}

const fieldHelp =
  "Held-out reward (best: the run's highest), its 95% interval, mean of its evaluations. Type NAME@best, NAME@STEP or an id to find one.";

export function checkpointField(
  choice: CheckpointChoice,
  { name, label, initial, none, refuses }: CheckpointFieldOptions,
): ChoiceFieldSpec {
  const readingsOf = readingsAmong(choice.runs);
  const options = choice.offered.map(each => optionOf(each, choice, readingsOf));
  return {
    kind: 'choice',
    isList: true,
    name,
    label,
    initial,
    isSubject: initial !== '',
    help: fieldHelp,
    // A run may have a name that looks like an id, or like another run's step.
    isName: word => isCheckpointId(word) || readingsOf(word).length > 0,
    options: none === undefined ? options : [{ value: '', label: none }, ...options],
    check: (value, values = {}) => {
      if (value === '') return none === undefined ? 'Choose a checkpoint, or type its id' : undefined;
      const chosen = chosenOf(choice.offered, value);
      return chosen ? refuses?.(chosen, values) : choice.problem(value);
    },
  };
}

/** How far a run's checkpoints have been read. */
interface ReadState {
  readonly isRead: boolean;
  readonly error: Error | undefined;
  /** Why its held-out rewards are unknown. */
  readonly heldOutError?: Error | undefined;
  /** Why it may have other checkpoints; see `unreadCheckpoints`. */
  readonly unread?: string | undefined;
}

/** Why this name is not a checkpoint; undefined if it may be an id, which the service checks. */
export function nameProblem(
  word: string,
  runs: readonly TrainingRun[],
  list: { readonly loaded: boolean; readonly complete: boolean },
  stateOf: (run: TrainingRun) => ReadState | undefined,
): string | undefined {
  if (isCheckpointId(word)) return /\s/.test(word) ? 'An id has no spaces' : undefined;
  const readings = readingsAmong(runs)(word);
  const [reading] = readings;
  if (reading && readings.length > 1) {
    const { name, isRun } = reading;
    if (readings.every(each => each.isRun === isRun))
      return clean`${readings.length} training runs are called ${name}: use the id of one`;
    const words = readings.map(({ run, which, isRun }) => run.training_run_id + (isRun ? '' : `@${which}`));
    return clean`Use ${words.join(' or ')}: ${word} has ${readings.length} meanings`;
  }
  if (reading) {
    const { run, name, which } = reading;
    const state = stateOf(run);
    if (state?.error) return clean`The checkpoints of ${name} could not be read: ${state.error.message}`;
    if (!state?.isRead) return clean`Reading the checkpoints of ${name}…`;
    if (state.unread && which !== '') return clean`${which} is not known: ${state.unread}. Use an id`;
    if (which === 'best' && state.heldOutError)
      return clean`The held-out rewards of ${name} could not be read: ${state.heldOutError.message}`;
    const why = which === 'best' ? ': none has a held-out reward' : '';
    return which === '' ? `Add a step after @, or latest or best` : clean`${name} has no checkpoint ${which}${why}`;
  }
  if (!list.loaded) return 'Reading the training runs…';
  const { name } = splitCheckpointName(word);
  if (name === word) return /\s/.test(word) ? 'An id has no spaces' : undefined;
  return clean`No training run here is called ${name}${list.complete ? '' : ', among the ones read so far: use an id'}`;
}
