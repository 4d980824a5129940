/** Finds rows of resources by id or name. */

import type { Checkpoint, HeldOutReward, TrainingRun } from '../contract/training.ts';
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
import { type Better, betterThan, type HeldOutMean, heldOutOfStep, tiedSteps } from '../queries/held-out.ts';
import { rememberRows } from '../queries/remembered-fallback.ts';
import { checkpointsByStep, heldOutRewardsQuery } from '../queries/training.ts';
import { resourceNamed, resourceOfId, resources } from '../resources/catalogue.ts';
import { idOf as idOfRow, isFoundByLabel, type Resource, wordFor, wordsFor } from '../resources/define.ts';
import { pagesOf, type ResourcePage } from '../resources/pages.ts';
import { affectsAllRequests, ifThere, isGone, isNotOffered, NotFoundError, ServiceError } from '../service/errors.ts';
import { rememberedAt } from '../store/seen.ts';
import { clean } from '../text/sanitise.ts';
import { distinguishRows } from './distinguish.ts';
import { CommandError, exitCodes } from './exit.ts';
import { didYouMean } from './suggest.ts';
import type { CommandContext } from './with-service.ts';

/** @throws CommandError listing all resources */
export function resourceOrThrow(name: string): Resource {
  const found = resourceNamed(name.toLowerCase());
  if (found) return found;
  const all = resources.map(({ names }) => names[0]);
  const names = resources.flatMap(({ names: [many, one] }) => [many, one]);
  if (name === '') throw new CommandError(`The name of the resource is empty. The resources are ${all.join(', ')}.`);
  throw new CommandError(
    clean`There is no resource ${name}. ${didYouMean(name, names) || `The resources are ${all.join(', ')}.`}`,
  );
}

/** E.g. `run, training run or secret`. */
const oneOf = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ');

/** Whether a row has this id or name. Users may know it by its first column, its title, or its name in the manifest. */
function isCalled(resource: Resource, row: object, word: string): boolean {
  const titles = resource.columns.filter(({ id }, index) => index === 0 || id === 'title');
  const ownName: unknown = 'name' in row ? row.name : undefined;
  return [idOfRow(resource, row), resource.label?.(row), ...titles.map(({ value }) => value(row)), ownName].includes(
    word,
  );
}

/** Why lists may have rows that were not read, and whether they were not read to their end. */
type Gaps = Pick<ResourcePage<object>, 'unread' | 'isCutOff'>;

/** Rows with an id or name. */
interface NamedRows {
  readonly rows: readonly object[];
  readonly gaps: Gaps;
}

const noGaps: Gaps = { unread: [], isCutOff: false };

/** The rows with this id or name. @param listed called with each row of the list @throws ServiceError */
export async function rowsNamed(
  resource: Resource,
  word: string,
  context: CommandContext,
  listed: (row: object) => void = () => undefined,
): Promise<NamedRows> {
  const found: object[] = [];
  let gaps = noGaps;
  for await (const page of pagesOf(resource, {}, context)) {
    page.rows.forEach(listed);
    for (const row of page.rows) if (isCalled(resource, row, word)) found.push(row);
    gaps = page;
  }
  return { rows: found, gaps };
}

async function readOne(resource: Resource, id: string, context: CommandContext): Promise<object | undefined> {
  const query = resource.get?.(id);
  const row = await query?.read(context);
  if (query && row) rememberRows(context.memory, query, [row]);
  return row;
}

/** A row and its resource. */
export interface Found {
  readonly resource: Resource;
  readonly id: string;
  readonly row: object;
}

/** For questions and results, e.g. `run first (evr_1)`. */
export const nameOf = ({ resource, row, id }: Found): string => {
  const label = resource.label?.(row) || id;
  return clean`${wordFor(resource)} ${label === id ? id : clean`${label} (${id})`}`;
};

/** Whether the service refuses an id, or cannot say whether it exists: it may be a name, or an id of another kind. */
const isRefusedId = (error: unknown): error is ServiceError =>
  isNotOffered(error) ||
  (error instanceof ServiceError &&
    // Some services answer a malformed id with an error.
    (error.kind === 'not_found' || error.kind === 'validation' || error.status === 404));

/** The row with this id, or why there is none. @throws ServiceError if it could not be asked for */
async function tryId(
  resource: Resource,
  id: string,
  context: CommandContext,
): Promise<Found | ServiceError | undefined> {
  try {
    const row = await readOne(resource, id, context);
    return row && { resource, id, row };
  } catch (error) {
    if (isRefusedId(error)) return error;
    throw error;
  }
}

const isFound = (tried: Found | ServiceError | undefined): tried is Found =>
  tried !== undefined && !(tried instanceof ServiceError);

/** What has a word as its id, or else as its name. */
interface LookedUp {
  readonly found: readonly Found[];
  /** Whether `found` are rows of lists, which may have less than their records. */
  readonly isListed: boolean;
  /** Why others may have the word as their name. */
  readonly gaps?: Gaps;
  /** Why nothing was found, if so. */
  readonly none?: Error;
}

/**
 * Looks a word up among several resources. An id beats every name, or else it could not be named. The form of an id is a
 * guess about another service: it decides what is tried first, never what exists.
 *
 * @param listed called with each row of the lists
 * @throws CommandError for an empty word; ServiceError if what could have the name cannot be read
 */
async function lookUp(
  among: readonly Resource[],
  word: string,
  context: CommandContext,
  listed?: (row: object) => void,
): Promise<LookedUp> {
  if (word.trim() === '') {
    throw new CommandError(`Give the id or the name of a ${oneOf(among.map(wordFor))}: it was empty.`);
  }
  const looksLike = resourceOfId(word);
  const guess = among.find(resource => resource === looksLike);
  const guessed = guess && (await tryId(guess, word, context));
  if (isFound(guessed)) return { found: [guessed], isListed: false };
  const rows: Found[] = [];
  const unlisted: ServiceError[] = [];
  const gaps: Gaps[] = [];
  let failure: ServiceError | undefined;
  // A service may have too many rows without names to look through for a word that looks like an id.
  for (const resource of among.length > 1 || guess ? among.filter(isFoundByLabel) : among) {
    const named = await rowsNamed(resource, word, context, listed).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || affectsAllRequests(error) || context.signal.aborted) throw error;
      if (isNotOffered(error) && (among.length > 1 || guess)) unlisted.push(error);
      else failure ??= error;
      return { rows: [], gaps: noGaps };
    });
    gaps.push(named.gaps);
    for (const row of named.rows) rows.push({ resource, id: idOfRow(resource, row), row });
  }
  const byId = rows.filter(({ id }) => id === word);
  if (byId.length > 0) return { found: byId, isListed: true };
  // A service may use ids of another form, and may not list this resource: then its names are those seen here.
  const isRemembered = rows.every(({ row }) => rememberedAt(row) !== undefined);
  let refusal = guessed;
  for (const resource of isRemembered ? among.filter(each => each !== guess) : []) {
    const tried = await tryId(resource, word, context);
    // What looks like another id may be answered with another row.
    const isSure = among.length === 1 && !looksLike;
    if (isFound(tried) && (isSure || idOfRow(resource, tried.row) === word)) {
      // An id belongs to one resource.
      return { found: [tried], isListed: false };
    }
    if (isSure && tried instanceof ServiceError) refusal = tried;
  }
  // A list that cannot be read may have the same name.
  if (failure) throw failure;
  const unread = [...new Set(gaps.flatMap(each => each.unread))];
  if (rows.length > 0)
    return { found: rows, isListed: true, gaps: { unread, isCutOff: gaps.some(each => each.isCutOff) } };
  return { found: [], isListed: true, none: noneFound(word, { among, looksLike, refusal, unlisted, unread }) };
}

/** What a row is looked up for: a write must not go to another row of the same name. */
type Use = 'read' | 'write';

/**
 * Notes that a list may have another row of the name.
 *
 * @throws CommandError for a write if the list was not read to its end
 */
function checkOnly(found: Found, { unread, isCutOff }: Gaps = noGaps, { note }: CommandContext, use: Use): void {
  if (unread.length === 0) return;
  const why = clean`another ${wordFor(found.resource)} may have that name, because not all could be read: ${unread.join('. ')}.`;
  if (use === 'write' && isCutOff)
    throw new CommandError(`Give the id. ${nameOf(found)} has that name, but ${why} Nothing was changed.`);
  note(`${nameOf(found)} is taken by its name, but ${why}`);
}

/**
 * The row with this id or name among several resources.
 *
 * @throws CommandError or ServiceError if there is none; CommandError if several share the name, or for a write may
 */
export async function findAmong(
  among: readonly Resource[],
  word: string,
  context: CommandContext,
  use: Use = 'read',
): Promise<Found> {
  const { found, isListed, gaps, none } = await lookUp(among, word, context);
  const [first, ...others] = found;
  if (!first) throw none;
  if (others.length > 0) throw severalNamed(among, word, found);
  checkOnly(first, gaps, context, use);
  return isListed ? readFound(first, context) : first;
}

/** The error that several share a name, with the id and the differences of each. */
function severalNamed(among: readonly Resource[], word: string, found: readonly Found[]): CommandError {
  const ids = among.flatMap(resource => {
    const ofIt = found.filter(each => each.resource === resource).map(({ row }) => row);
    return distinguishRows(resource, ofIt).map(words => (among.length > 1 ? `${wordFor(resource)} ${words}` : words));
  });
  const what = oneOf(among.map(wordsFor));
  return new CommandError(clean`${found.length} ${what} are named ${word}. Give the id of one: ${ids.join(', ')}.`);
}

/** A row of a list as its record. */
const readFound = async (found: Found, context: CommandContext): Promise<Found> => ({
  ...found,
  row: (await readOne(found.resource, found.id, context)) ?? found.row,
});

/** What was tried for a word that nothing has as its id or name. */
interface Tried {
  readonly among: readonly Resource[];
  /** The resource whose ids have this form. */
  readonly looksLike: Resource | undefined;
  /** The service's answer to the word as an id of the only or the guessed resource. */
  readonly refusal: ServiceError | undefined;
  readonly unlisted: readonly ServiceError[];
  /** Why their lists may have more than was read. */
  readonly unread: readonly string[];
}

/** The error for a word that nothing has as its id or name. */
function noneFound(word: string, { among, looksLike, refusal, unlisted, unread }: Tried): Error {
  const gaps =
    unread.length === 0
      ? ''
      : clean`Something may have that name, because not all could be read: ${unread.join('. ')}.`;
  if (refusal && among.length > 1 && looksLike && isGone(refusal)) {
    const words = clean`There is no ${wordFor(looksLike)} ${word}: ${refusal.message}`;
    return new NotFoundError(`${words} Nothing else was found with this id or name.`, refusal);
  }
  // A refusal of the id's form says only that it is none.
  const isOfForm = looksLike !== undefined && refusal?.kind === 'validation';
  if (refusal && !isOfForm)
    return gaps === '' ? refusal : new ServiceError(refusal.kind, `${refusal.message} ${gaps}`, refusal);
  const none = clean`There is no ${oneOf(among.map(wordFor))} ${word}.`;
  const form = looksLike && !among.includes(looksLike) ? `It looks like the id of a ${wordFor(looksLike)}.` : '';
  const words = [none, form, ...unlisted.map(({ message }) => message), gaps];
  return new CommandError(words.filter(Boolean).join(' '), exitCodes.notFound);
}

/** The id for an id or a name. @throws CommandError as `findAmong` does */
export async function idOf(resource: Resource, word: string, context: CommandContext): Promise<string> {
  try {
    return (await findAmong([resource], word, context)).id;
  } catch (error) {
    // The service cannot read single records, so use the id unchecked.
    const isUnread = error instanceof ServiceError && error.kind === 'capability_missing';
    if (isUnread && resource.idPattern?.test(word)) return word;
    throw error;
  }
}

/** A checkpoint and its record in the training run. */
export interface FoundCheckpoint {
  readonly id: string;
  /** Its record; missing if only the id is known. */
  readonly row?: Checkpoint;
  readonly run?: TrainingRun;
  readonly step?: number | null | undefined;
  /** The word left the step open: a training run alone, or `first@latest`. */
  readonly isLatest?: boolean;
  /** The held-out reward that chose it, for `first@best`. */
  readonly chosenBy?: HeldOutMean | undefined;
  /** What is better than it, see `betterThan`. */
  readonly better?: Better | undefined;
  /** The steps of the other checkpoints that are as good. */
  readonly ties?: readonly number[] | undefined;
  /** The word names the training run alone. */
  readonly isRun?: boolean;
}

/** Whether nothing with this id or name was found. */
const isNone = (error: unknown): boolean =>
  isRefusedId(error) || (error instanceof CommandError && error.exitCode === exitCodes.notFound);

/** Whether the word looks like an id of no particular kind, such as a UUID. */
const isOpaque = (word: string): boolean => /^(?=.*\d)[\da-f-]{16,}$/i.test(word);

/**
 * The checkpoint that the word stands for, or else what has the word as its id or name: a training run alone is itself.
 * A single resource has no checkpoints.
 *
 * @throws what looking for the checkpoint threw, if there is neither
 */
export async function findOrCheckpoint(
  among: readonly Resource[],
  word: string,
  context: CommandContext,
): Promise<Found | FoundCheckpoint> {
  if (among.length === 1) return findAmong(among, word, context);
  if (!isCheckpointId(word) && !word.includes('@')) {
    const named = findAmong(among, word, context);
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
  return findAmong(among, word, context).catch((error: unknown) => {
    throw (isNone(error) && none) || error;
  });
}

/** The checkpoint with its record, as `findCheckpoint`. @throws CommandError if no training run lists it */
export async function recordedCheckpoint(word: string, context: CommandContext): Promise<FoundCheckpoint> {
  const named = await findCheckpoint(word, context);
  const found = named.row ? named : (await searchCheckpoint(named.id, context)).found;
  if (found) return found;
  throw new CommandError(clean`No listed training run has a checkpoint ${word}.${runHint(word)}`, exitCodes.notFound);
}

/** How to name a training run whose name looks like the id of a checkpoint; nothing for other words. */
export const runHint = (word: string): string =>
  isCheckpointId(word) ? clean` If it is the name of a training run, give ${word}@latest for its last checkpoint.` : '';

export interface CheckpointSearch {
  readonly found?: FoundCheckpoint | undefined;
  /** Whether every checkpoint of the service was searched; if so, one that was not found does not exist. */
  readonly isComplete: boolean;
}

/** Training runs whose checkpoints are read in parallel. */
const searchedAtOnce = 4;

/** The checkpoint with this id, searched in every listed training run. */
export async function searchCheckpoint(id: string, context: CommandContext): Promise<CheckpointSearch> {
  let isComplete = true;
  const checkpointOf = async (run: TrainingRun): Promise<FoundCheckpoint | undefined> => {
    try {
      for await (const page of pagesOf(resourceOrThrow('checkpoints'), { training: run.training_run_id }, context)) {
        const row = (page.rows as Checkpoint[]).find(({ checkpoint_id }) => checkpoint_id === id);
        if (row) return { id, row, run, step: row.step_index };
        isComplete &&= page.notes.length === 0;
      }
    } catch (error) {
      // The run may have been deleted. A service that does not list checkpoints lists them for no run.
      if (!isGone(error)) throw error;
      isComplete = false;
    }
    return undefined;
  };
  try {
    for await (const { rows, notes } of pagesOf(resourceOrThrow('training'), {}, context)) {
      isComplete &&= notes.length === 0;
      for (let at = 0; at < rows.length; at += searchedAtOnce) {
        const some = await Promise.all((rows as TrainingRun[]).slice(at, at + searchedAtOnce).map(checkpointOf));
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

/** The held-out rewards of a training run; none if the service does not offer them. */
async function heldOutRewards(runId: string, context: CommandContext): Promise<readonly HeldOutReward[]> {
  try {
    return await heldOutRewardsQuery(runId, true).read(context);
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    return [];
  }
}

/** The error that a word means several checkpoints, with another word for each. */
function ambiguous(word: string, readings: readonly CheckpointReading<Found>[]): CommandError {
  const [first] = readings;
  if (first && readings.every(({ isRun }) => isRun === first.isRun)) {
    const found = readings.map(({ run }) => run);
    return severalNamed([training], first.name, found);
  }
  const each = readings.map(({ run: { id }, name, which, isRun }) =>
    isRun
      ? clean`${id} for the training run of this name`
      : clean`${id}@${which} for checkpoint ${which} of training run ${name}`,
  );
  return new CommandError(clean`${word} has ${readings.length} meanings. Give ${each.join(', or ')}.`);
}

/**
 * Notes that the run may have more checkpoints than were read, so that another may be meant.
 *
 * @param what e.g. `The latest checkpoint of first`
 * @throws CommandError for a write
 */
export function checkAll(
  checkpoints: readonly Checkpoint[],
  what: string,
  { note }: Pick<CommandContext, 'note'>,
  use: Use,
): void {
  const unread = unreadCheckpoints(checkpoints);
  if (unread === undefined) return;
  const why = `${what} is not known: ${unread}.`;
  if (use === 'write') throw new CommandError(`${why} Give the id of a checkpoint. Nothing was changed.`);
  note(why);
}

const training = resourceOrThrow('training');

/**
 * The checkpoint for `first@latest`, `first@best`, `first@6`, `trn_1@6` or an id. A training run alone means its latest.
 * What looks like the id of a checkpoint is one, and goes unchecked to the service.
 *
 * @throws CommandError if there is none, if the word has several meanings, or for a write if it may mean another one
 */
export async function findCheckpoint(
  word: string,
  context: CommandContext,
  use: Use = 'read',
): Promise<FoundCheckpoint> {
  if (isCheckpointId(word)) return { id: word };
  const { service, signal } = context;
  // A training run may have the whole word as its name: one listing tells both.
  const wholes: Found[] = [];
  const { name } = splitCheckpointName(word);
  const { found, isListed, gaps, none } = await lookUp([training], name, context, row => {
    if (isCalled(training, row, word)) wholes.push({ resource: training, id: idOfRow(training, row), row });
  });
  const [reading, ...others] = checkpointReadings(
    word,
    each => (each === name ? found : wholes),
    ({ id }) => id,
  );
  // A service may use checkpoint ids of another form.
  const mayBeId = name === word && (!reading || (isOpaque(word) && reading.run.id !== word));
  const listed = mayBeId ? (await searchCheckpoint(word, context)).found : undefined;
  if (listed) return listed;
  if (others.length > 0 && reading) throw ambiguous(word, [reading, ...others]);
  if (!reading) {
    const { capabilities } = service;
    const isKnown = capabilities.has('listCheckpoints') && capabilities.has('listTrainingRuns');
    // If checkpoints are not listed, the service decides whether it exists.
    if (name === word && !isKnown) return { id: word };
    throw none;
  }
  if (reading.run.id !== reading.name) checkOnly(reading.run, gaps, context, use);
  const { which, isRun } = reading;
  if (which === '') throw new CommandError(clean`${word} has no step: add one after @, or latest or best.`);
  const readRun = async () => {
    const { id, row } = isListed || reading.name !== name ? await readFound(reading.run, context) : reading.run;
    return { id, run: row as TrainingRun, steps: await checkpointsByStep(service, id, { signal }) };
  };
  // A name last seen here says nothing about the ids of a service that has no such run now, or lists no checkpoints.
  const isPast = isRun && reading.run.id !== word && rememberedAt(reading.run.row) !== undefined;
  const known = isPast ? await ifThere(true, readRun) : await readRun();
  if (!known) return { id: word };
  const { id, run, steps } = known;
  // An id beats every name; that of the training run itself stays its id.
  const other =
    isRun && id !== word && isLikeIdOf(word, steps) ? (await searchCheckpoint(word, context)).found : undefined;
  if (other) return other;
  if (Object.hasOwn(namedSteps, which))
    checkAll(steps, clean`The ${which} checkpoint of ${reading.name}`, context, use);
  const isBest = which === 'best' && steps.length > 0;
  const heldOut = isBest ? await heldOutRewards(id, context) : [];
  const checkpoint = checkpointCalled(which, steps, heldOut);
  if (checkpoint) {
    const { checkpoint_id, step_index: step } = checkpoint;
    const chosenBy = heldOutOfStep(heldOut)(step);
    const better = chosenBy && betterThan(chosenBy, heldOut);
    const means = steps.flatMap(each => heldOutOfStep(heldOut)(each.step_index) ?? []);
    const ties = chosenBy && tiedSteps(chosenBy, means);
    const isLatest = which === 'latest';
    return { ...{ id: checkpoint_id, row: checkpoint, run, step, isLatest, isRun }, chosenBy, better, ties };
  }
  throw noCheckpoint(reading.name, which, steps);
}

/** The error where a training run has no such checkpoint; it names those that there are. */
function noCheckpoint(name: string, which: string, steps: readonly Checkpoint[]): CommandError {
  const saved = steps.map(each => each.step_index).join(', ');
  const there =
    steps.length === 0 ? 'it has none yet' : `there is one at step${steps.length === 1 ? '' : 's'} ${saved}`;
  const isUnrated = which === 'best' && steps.length > 0;
  const why = isUnrated ? `no held-out reward is known of any of its checkpoints; ${there}` : there;
  const unread = unreadCheckpoints(steps);
  const gap = unread === undefined ? '' : ` ${unread}.`;
  return new CommandError(clean`${name} has no checkpoint ${which}: ${why}.${gap}`, exitCodes.notFound);
}
