/** Finds checkpoints by id, or by the name of their training run and a step. */

import type { Checkpoint, TrainingRun } from '../contract/training.ts';
import { rememberCheckpoints, rememberedOrigin } from '../queries/checkpoint-memory.ts';
import {
  type CheckpointReading,
  checkpointCalled,
  checkpointReadings,
  isCheckpointId,
  isLikeIdOf,
  namedSteps,
  splitCheckpointName,
  unreadCheckpoints,
} from '../queries/checkpoint-names.ts';
import { checkpointsByStep } from '../queries/checkpoints.ts';
import { type Better, betterThan, type HeldOutMean, heldOutOfStep } from '../queries/held-out.ts';
import { readPart } from '../queries/remembered-fallback.ts';
import { trainingRunQuery } from '../queries/training.ts';
import { heldOutRewardsQuery } from '../queries/training-curves.ts';
import type { Resource } from '../resources/define.ts';
import { type Rivals, rivalsOf } from '../resources/describe-held-out.ts';
import { pagesOf } from '../resources/pages.ts';
import { checkpoints, training } from '../resources/training.ts';
import { ifThere, isGone, isNotOffered } from '../service/errors.ts';
import { rememberedAt } from '../store/seen.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import {
  bestNamed,
  checkOnly,
  type Found,
  findAmong,
  isCalled,
  isNone,
  type Lookup,
  type LookupResult,
  lookUp,
  readFound,
  severalNamed,
  type Use,
} from './find.ts';
import type { CommandContext } from './with-service.ts';

type Reading = CheckpointReading<Found<TrainingRun>>;

/** A checkpoint and its record in the training run. */
export interface FoundCheckpoint {
  readonly id: string;
  /** Its record; missing if only the id is known. */
  readonly row?: Checkpoint;
  readonly run?: TrainingRun;
  readonly step?: number | null | undefined;
  /** Whether the word means the latest step: a training run on its own, or `first@latest`. */
  readonly isLatest?: boolean;
  /** The held-out reward it was chosen by, for `first@best`. */
  readonly chosenBy?: HeldOutMean | undefined;
  /** The better checkpoints, see `betterThan`. */
  readonly better?: Better | undefined;
  /** Other checkpoints that may be as good. */
  readonly rivals?: Rivals | undefined;
  /** Whether the word is just the name of a training run. */
  readonly isRun?: boolean;
}

/** A dataset often has the name of the benchmark that filled it, so it is found by name only if nothing else is. */
const hasRecord = ({ get }: Resource): boolean => get !== undefined;

/** Whether the word looks like an id of no particular kind, such as a UUID. */
const isOpaque = (word: string): boolean => /^(?=.*\d)[\da-f-]{16,}$/i.test(word);

/**
 * The checkpoint that the word stands for, or else the row with this id or name. A training run on its own means the
 * run. If `among` has only one resource, no checkpoint is looked up.
 *
 * @throws the checkpoint search's error if neither is found
 */
export async function findOrCheckpoint(
  among: readonly Resource[],
  word: string,
  context: CommandContext,
  lookup: Lookup = {},
): Promise<Found | FoundCheckpoint> {
  if (among.length === 1) return findAmong(among, word, context, lookup);
  const find = () => findAmong(among, word, context, { ...lookup, isPreferred: hasRecord });
  if (!isCheckpointId(word) && !word.includes('@')) {
    const named = find();
    if (!isOpaque(word)) return named;
    const isSure = await named.then(
      ({ id }) => id === word,
      error => !isNone(error) && !(error instanceof CommandError),
    );
    const checkpoint = isSure ? undefined : (await searchCheckpoint(word, context)).found;
    return checkpoint ?? named;
  }
  let none: unknown;
  try {
    const found = await recordedCheckpoint(word, context);
    if (!found.isRun) return found;
  } catch (error) {
    if (!isNone(error)) throw error;
    none = error;
  }
  return find().catch((error: unknown) => {
    throw (isNone(error) && none) || error;
  });
}

/** Like `findCheckpoint`, but with the checkpoint's record. @throws CommandError if no training run lists it */
export async function recordedCheckpoint(word: string, context: CommandContext): Promise<FoundCheckpoint> {
  const named = await findCheckpoint(word, context);
  const found = named.row ? named : (await searchCheckpoint(named.id, context)).found;
  if (found) return found;
  throw new CommandError(clean`No listed training run has a checkpoint ${word}.${runHint(word)}`, exitCodes.notFound);
}

/** How to refer to a training run whose name looks like a checkpoint id; empty for other words. */
export const runHint = (word: string): string =>
  isCheckpointId(word) ? clean` If it is the name of a training run, give ${word}@latest for its last checkpoint.` : '';

export interface CheckpointSearch {
  readonly found?: FoundCheckpoint | undefined;
  /** Whether every checkpoint on the service was searched; if so, one that was not found does not exist. */
  readonly isComplete: boolean;
}

/** How many training runs to search in parallel. */
const searchedAtOnce = 4;

/** Searches the remembered training run of the checkpoint with this id, then every listed one. */
export async function searchCheckpoint(id: string, context: CommandContext): Promise<CheckpointSearch> {
  let isComplete = true;
  const checkpointOf = async (run: TrainingRun): Promise<FoundCheckpoint | undefined> => {
    try {
      for await (const page of pagesOf(checkpoints, { training: run.training_run_id }, context)) {
        const row = page.rows.find(({ checkpoint_id }) => checkpoint_id === id);
        if (row) return { id, row, run, step: row.step_index };
        isComplete &&= page.notes.length === 0;
      }
    } catch (error) {
      // The run may have been deleted. Other errors end the search, because they would recur for every run.
      if (!isGone(error)) throw error;
      isComplete = false;
    }
    return undefined;
  };
  const { training_run_id: known } = rememberedOrigin(id, context.memory) ?? {};
  // The run may have been deleted, or the service may not read one alone.
  const run = known === undefined ? undefined : await ifThere(() => trainingRunQuery(known).read(context));
  const remembered = run && (await checkpointOf(run));
  if (remembered) return { found: remembered, isComplete };
  try {
    for await (const { rows, notes } of pagesOf(training, {}, context)) {
      isComplete &&= notes.length === 0;
      for (let at = 0; at < rows.length; at += searchedAtOnce) {
        const some = await Promise.all(rows.slice(at, at + searchedAtOnce).map(checkpointOf));
        const found = some.find(each => each !== undefined);
        if (found) return { found, isComplete };
      }
    }
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    isComplete = false;
  }
  return { isComplete };
}

/** The error for a word with several meanings; it gives an unambiguous word for each. */
function ambiguous(word: string, readings: readonly Reading[]): CommandError {
  const [first] = readings;
  if (first && readings.every(({ isRun }) => isRun === first.isRun)) {
    const found = readings.map(({ run }) => run);
    return severalNamed([training], first.name, found);
  }
  const each = readings.map(({ run: { id }, name, which, isRun }) =>
    isRun
      ? clean`${id} for the training run with this name`
      : clean`${id}@${which} for checkpoint ${which} of training run ${name}`,
  );
  return new CommandError(clean`${word} has ${readings.length} meanings. Give ${each.join(', or ')}.`);
}

/**
 * Notes that the run may have more checkpoints than were read, so a different one may be meant.
 *
 * @param what e.g. `The latest checkpoint of first`
 * @throws CommandError for a write
 */
function checkAll(
  checkpoints: readonly Checkpoint[],
  what: string,
  { io }: Pick<CommandContext, 'io'>,
  use: Use,
): void {
  const unread = unreadCheckpoints(checkpoints);
  if (unread === undefined) return;
  const why = `${what} is not known: ${unread}.`;
  if (use === 'write') throw new CommandError(`${why} Give the id of a checkpoint. Nothing was changed.`);
  io.note(why);
}

/** The ways to read a word as a training run's name, on its own or with one of its checkpoints. */
interface Readings {
  readonly readings: readonly Reading[];
  /** The name before an `@`; the word itself without one. */
  readonly name: string;
  /** The training runs with this name. */
  readonly named: LookupResult<TrainingRun>;
}

/** The whole word may also be a training run's name; one listing finds both. @throws CommandError, ServiceError */
async function readingsOf(word: string, context: CommandContext): Promise<Readings> {
  const wholes: Found<TrainingRun>[] = [];
  const { name } = splitCheckpointName(word);
  const named = await lookUp([training], name, context, {
    listed: each => {
      if (isCalled(training, each.row, word)) wholes.push(each);
    },
  });
  const readings = checkpointReadings(
    word,
    each => (each === name ? named.found : bestNamed(wholes, word)),
    ({ id }) => id,
  );
  return { readings, name, named };
}

/**
 * The checkpoint for `first@latest`, `first@best`, `first@6`, `trn_1@6` or an id. A training run on its own means its
 * latest checkpoint. A word that looks like a checkpoint id is taken as one, and sent to the service unchecked.
 *
 * @throws CommandError if there is none, if the word has several meanings or, for a write, may have several
 */
export async function findCheckpoint(
  word: string,
  context: CommandContext,
  use: Use = 'read',
): Promise<FoundCheckpoint> {
  if (isCheckpointId(word)) return { id: word };
  const { service, signal } = context;
  const { readings, name, named } = await readingsOf(word, context);
  const [reading, ...others] = readings;
  // A service may use a different form of checkpoint id.
  const mayBeId = name === word && (!reading || (isOpaque(word) && reading.run.id !== word));
  const listed = mayBeId ? (await searchCheckpoint(word, context)).found : undefined;
  if (listed) return listed;
  if (others.length > 0) throw ambiguous(word, readings);
  if (!reading) {
    const { capabilities } = service;
    const isKnown = capabilities.has('listCheckpoints') && capabilities.has('listTrainingRuns');
    // If checkpoints are not listed, only the service knows whether this one exists.
    if (name === word && !isKnown) return { id: word };
    throw named.none;
  }
  if (reading.run.id !== reading.name) checkOnly(reading.run, named.gaps, context, use);
  const { which, isRun } = reading;
  if (which === '') throw new CommandError(clean`${word} has no step: add one after @, or latest or best.`);
  const readRun = async () => {
    const run = named.isListed || reading.name !== name ? await readFound(reading.run, context) : reading.run;
    const steps = await readPart('listCheckpoints', trainingRunQuery(run.id), context, () =>
      checkpointsByStep(service, run.id, { signal }),
    );
    return { run, steps };
  };
  // The word may still be an id if its name is only remembered, and the service no longer has the run or lists no
  // checkpoints.
  const isPast = isRun && reading.run.id !== word && rememberedAt(reading.run.row) !== undefined;
  const known = isPast ? await ifThere(readRun) : await readRun();
  if (!known) return { id: word };
  const { run, steps } = known;
  // A checkpoint's id takes precedence over a training run's name, but not over a training run's id.
  const other =
    isRun && run.id !== word && isLikeIdOf(word, steps) ? (await searchCheckpoint(word, context)).found : undefined;
  if (other) return other;
  if (Object.hasOwn(namedSteps, which))
    checkAll(steps, clean`The ${which} checkpoint of ${reading.name}`, context, use);
  return checkpointOfRun({ ...reading, run }, steps, context);
}

/** The checkpoint for one reading of a word. @throws CommandError if there is none */
async function checkpointOfRun(
  { run: { id: runId, row }, name, which, isRun }: Reading,
  steps: readonly Checkpoint[],
  context: CommandContext,
): Promise<FoundCheckpoint> {
  const isRated = which === 'best' && steps.length > 0;
  const heldOut = (isRated && (await ifThere(() => heldOutRewardsQuery(runId, true).read(context)))) || [];
  const checkpoint = checkpointCalled(which, steps, heldOut);
  if (!checkpoint) throw noCheckpoint(name, which, steps);
  const { checkpoint_id: id, step_index: step } = checkpoint;
  // Other records contain only the checkpoint's id; remembering it lets them show its run and step.
  rememberCheckpoints(runId, [checkpoint], context.memory, row.display_name ?? undefined);
  const meanOf = heldOutOfStep(heldOut);
  const chosenBy = meanOf(step);
  const means = steps.flatMap(each => meanOf(each.step_index) ?? []);
  return {
    ...{ id, row: checkpoint, run: row, step, isLatest: which === 'latest', isRun, chosenBy },
    better: chosenBy && betterThan(chosenBy, heldOut),
    rivals: chosenBy && rivalsOf(chosenBy, means, context.compare?.rewardRange),
  };
}

/** The error for a step without a checkpoint; it names the steps that have one. */
function noCheckpoint(name: string, which: string, steps: readonly Checkpoint[]): CommandError {
  const saved = steps.map(each => each.step_index).join(', ');
  const one = steps.length === 1 ? 'a checkpoint at step' : 'checkpoints at steps';
  const there = steps.length === 0 ? 'it has none yet' : `it has ${one} ${saved}`;
  const isUnrated = which === 'best' && steps.length > 0;
  const why = isUnrated ? `no checkpoint's held-out reward is known; ${there}` : there;
  const unread = unreadCheckpoints(steps);
  const gap = unread === undefined ? '' : ` ${unread}.`;
  return new CommandError(clean`${name} has no checkpoint ${which}: ${why}.${gap}`, exitCodes.notFound);
}
