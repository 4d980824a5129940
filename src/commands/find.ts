/** Finds rows of resources by id or name. */

import type { Checkpoint, HeldOutReward, TrainingRun } from '../contract/training.ts';
import { checkpointCalled, isCheckpointId, splitCheckpointName } from '../queries/checkpoint-names.ts';
import { type HeldOutMean, heldOutOfStep } from '../queries/held-out.ts';
import { rememberRows } from '../queries/remembered-fallback.ts';
import { checkpointsByStep, heldOutRewardsQuery } from '../queries/training.ts';
import { resourceNamed, resourceOfId, resources } from '../resources/catalogue.ts';
import { isFoundByLabel, type Resource, wordFor, wordsFor } from '../resources/define.ts';
import { pagesOf } from '../resources/pages.ts';
import { affectsAllRequests, isAbsent, isGone, isNotOffered, NotFoundError, ServiceError } from '../service/errors.ts';
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

/** The rows with this id or name. @throws ServiceError */
export async function rowsNamed(resource: Resource, word: string, context: CommandContext): Promise<object[]> {
  const source = resource.list({});
  // Users may know the row by its first column, its title, or its name in the manifest.
  const titles = resource.columns.filter(({ id }, index) => index === 0 || id === 'title');
  const ownName = (row: object): unknown => ('name' in row ? row.name : undefined);
  const isCalled = (row: object): boolean =>
    [source.id(row), resource.label?.(row), ...titles.map(({ value }) => value(row)), ownName(row)].includes(word);
  const found: object[] = [];
  for await (const { rows } of pagesOf(resource, {}, context)) {
    for (const row of rows) if (isCalled(row)) found.push(row);
  }
  return found;
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

/**
 * The row with this id or name among several resources. The form of an id is a guess about another service: it decides
 * what is tried first, never what exists.
 *
 * @throws CommandError or ServiceError if there is none; CommandError if several share the name
 */
export async function findAmong(among: readonly Resource[], word: string, context: CommandContext): Promise<Found> {
  const kinds = oneOf(among.map(wordFor));
  if (word.trim() === '') throw new CommandError(`Give the id or the name of a ${kinds}: it was empty.`);
  const looksLike = resourceOfId(word);
  const guess = among.find(resource => resource === looksLike);
  const guessed = guess && (await tryId(guess, word, context));
  if (isFound(guessed)) return guessed;
  const found: Found[] = [];
  const unlisted: ServiceError[] = [];
  let unread: ServiceError | undefined;
  // A service may have too many rows without names to look through for a word that looks like an id.
  for (const resource of among.length > 1 || guess ? among.filter(isFoundByLabel) : among) {
    const rows = await rowsNamed(resource, word, context).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || affectsAllRequests(error) || context.signal.aborted) throw error;
      if (isNotOffered(error) && (among.length > 1 || guess)) unlisted.push(error);
      else unread ??= error;
      return [];
    });
    for (const row of rows) found.push({ resource, id: resource.list({}).id(row), row });
  }
  // A service may use ids of another form, and may not list this resource.
  const isListed = found.length > 0;
  let refusal = guessed;
  for (const resource of isListed ? [] : among.filter(each => each !== guess)) {
    const tried = await tryId(resource, word, context);
    // What looks like another id may be answered with another row.
    const isSure = among.length === 1 && !looksLike;
    if (isFound(tried) && (isSure || resource.list({}).id(tried.row) === word)) {
      // An id belongs to one resource.
      found.push(tried);
      break;
    }
    if (isSure && tried instanceof ServiceError) refusal = tried;
  }
  const [first, ...others] = found;
  // A list that cannot be read may have the same name, but not the same id.
  if (unread && first?.id !== word) throw unread;
  if (!first) throw noneFound(word, { among, looksLike, refusal, unlisted });
  if (others.length > 0) {
    const ids = among.flatMap(resource => {
      const ofIt = found.filter(each => each.resource === resource).map(({ row }) => row);
      return distinguishRows(resource, ofIt).map(words => (among.length > 1 ? `${wordFor(resource)} ${words}` : words));
    });
    const what = oneOf(among.map(wordsFor));
    throw new CommandError(clean`${found.length} ${what} are named ${word}. Give the id of one: ${ids.join(', ')}.`);
  }
  return isListed ? { ...first, row: (await readOne(first.resource, first.id, context)) ?? first.row } : first;
}

/** What was tried for a word that nothing has as its id or name. */
interface Tried {
  readonly among: readonly Resource[];
  /** The resource whose ids have this form. */
  readonly looksLike: Resource | undefined;
  /** The service's answer to the word as an id of the only or the guessed resource. */
  readonly refusal: ServiceError | undefined;
  readonly unlisted: readonly ServiceError[];
}

/** The error for a word that nothing has as its id or name. */
function noneFound(word: string, { among, looksLike, refusal, unlisted }: Tried): Error {
  if (refusal && among.length > 1 && looksLike && isGone(refusal)) {
    const words = clean`There is no ${wordFor(looksLike)} ${word}: ${refusal.message}`;
    return new NotFoundError(`${words} Nothing else was found with this id or name.`, refusal);
  }
  // A refusal of the id's form says only that it is none.
  const isOfForm = looksLike !== undefined && refusal?.kind === 'validation';
  if (refusal && !isOfForm) return refusal;
  const none = clean`There is no ${oneOf(among.map(wordFor))} ${word}.`;
  const form = looksLike && !among.includes(looksLike) ? `It looks like the id of a ${wordFor(looksLike)}.` : '';
  const words = [none, form, ...unlisted.map(({ message }) => message)];
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
}

/** Whether nothing with this id or name was found. */
const isNone = (error: unknown): boolean =>
  isAbsent(error) || (error instanceof CommandError && error.exitCode === exitCodes.notFound);

/**
 * The checkpoint that a word looks like, or else what has the word as its id or name.
 *
 * @throws what reading the checkpoint threw, if there is neither
 */
export async function orNamed<Row>(
  checkpoint: Promise<Row>,
  among: readonly Resource[],
  word: string,
  context: CommandContext,
): Promise<Row | Found> {
  try {
    return await checkpoint;
  } catch (error) {
    if (!isNone(error)) throw error;
    return findAmong(among, word, context).catch((other: unknown) => {
      throw isNone(other) ? error : other;
    });
  }
}

/** The error that no listed checkpoint matches the word. */
export function noCheckpoint(word: string): CommandError {
  return new CommandError(clean`No listed training run has a checkpoint ${word}.`, exitCodes.notFound);
}

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

/** Resources of one name that are looked through on this machine. */
const mostNamed = 100;

/** The held-out rewards of a training run; none if the service does not offer them. */
async function heldOutRewards(runId: string, context: CommandContext): Promise<readonly HeldOutReward[]> {
  try {
    return await heldOutRewardsQuery(runId, true).read(context);
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    return [];
  }
}

/**
 * The checkpoint for `first@latest`, `first@best`, `first@6`, `trn_1@6` or an id. A training run alone means its latest.
 *
 * @throws CommandError if there is none
 */
export async function findCheckpoint(word: string, context: CommandContext): Promise<FoundCheckpoint> {
  // The id goes unchecked to the service, unless a training run seen here has that name.
  const isNamed = (): boolean =>
    context.memory.seenNamed(word, mostNamed).some(({ kind, label }) => kind === 'training' && label === word);
  const isWhole = isNamed();
  if (isCheckpointId(word) && !isWhole) return { id: word };
  const { name, which } = splitCheckpointName(word, isNamed);
  const isRunOnly = name === word;
  if (which === '') throw new CommandError(clean`${word} has no step: add one after @, or latest or best.`);
  const search = findAmong([resourceOrThrow('training')], name, context);
  await Promise.allSettled([search]);
  // The search has listed the runs: one may have an @ in its name.
  if (!isWhole && isNamed()) return findCheckpoint(word, context);
  const found = await search.catch(async (error: unknown) => {
    // A service may use checkpoint ids of another form.
    const listed = isNone(error) && isRunOnly ? (await searchCheckpoint(word, context)).found : undefined;
    if (listed) return listed;
    const { capabilities } = context.service;
    const isListed = capabilities.has('listCheckpoints') && capabilities.has('listTrainingRuns');
    // If checkpoints are not listed, the service decides whether it exists.
    if (isNone(error) && isRunOnly && !isListed) return { id: word };
    throw error;
  });
  if (!('resource' in found)) return found;
  const { service, signal } = context;
  const run = found.row as TrainingRun;
  const steps = await checkpointsByStep(service, found.id, { signal });
  const isBest = which === 'best' && steps.length > 0;
  const heldOut = isBest ? await heldOutRewards(found.id, context) : [];
  const checkpoint = checkpointCalled(which, steps, heldOut);
  if (checkpoint) {
    const { checkpoint_id: id, step_index: step } = checkpoint;
    return { id, row: checkpoint, run, step, isLatest: which === 'latest', chosenBy: heldOutOfStep(heldOut)(step) };
  }
  const saved = steps.map(each => each.step_index).join(', ');
  const there =
    steps.length === 0 ? 'it has none yet' : `there is one at step${steps.length === 1 ? '' : 's'} ${saved}`;
  const why = isBest ? `no held-out reward is known of any of its checkpoints; ${there}` : there;
  throw new CommandError(clean`${name} has no checkpoint ${which}: ${why}.`, exitCodes.notFound);
}
