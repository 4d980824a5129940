/** `benchtop evaluate`, `train`, `deploy` and `build`: commands that start long-running work. */
import { jsonOrText } from '../base/json-depth.ts';
import { pushAll } from '../base/many.ts';
import type { Benchmark } from '../contract/benchmarks.ts';
import { deploymentRoles } from '../contract/deployments.ts';
import { endpoints } from '../contract/endpoints.ts';
import { modelSlug } from '../contract/model-slug.ts';
import { isRunning } from '../contract/status.ts';
import { modelList } from '../queries/models.ts';
import { rememberRows } from '../queries/remembered-fallback.ts';
import {
  type OptionsChoice,
  type OptionsOperation,
  optionNames,
  type RunInput,
  readRunOptions,
} from '../queries/run-options.ts';
import { readTokenUse } from '../queries/token-use.ts';
import { checkpointsByStep } from '../queries/training.ts';
import { nameOfStart, type RunStart, type Start, startedOtherwise } from '../resources/action.ts';
import { benchmarkActions } from '../resources/benchmarks.ts';
import { idOf, labelOf, type Resource, startedAdvice, wordFor, wordsFor } from '../resources/define.ts';
import { slugOf } from '../resources/deployments.ts';
import { pagesOf } from '../resources/pages.ts';
import { choiceWords, trainingActions } from '../resources/training.ts';
import { isGone, isNotOffered, ServiceError } from '../service/errors.ts';
import type { EarlierStart } from '../store/start-keys.ts';
import { clean } from '../text/sanitise.ts';
import { clockOrDay, parseTime } from '../text/time.ts';
import { type ActFlags, checkOutcomeFlags, confirm, earlierWords, finish, printRequests, start } from './act.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { findAmong, resourceOrThrow } from './find.ts';
import {
  type CheckpointSearch,
  checkAll,
  type FoundCheckpoint,
  findCheckpoint,
  runHint,
  searchCheckpoint,
} from './find-checkpoint.ts';
import type { CommandIo } from './io.ts';
import { confirmEntry } from './production.ts';
import { missingSecrets } from './readiness.ts';
import { didYouMean } from './suggest.ts';
import type { CommandInput } from './table/commands.ts';
import { parseUntil } from './until.ts';
import { type CommandContext, repeatAdvice, withService } from './with-service.ts';

/** Checks the print flags against the start's response and, with --wait, the final record. @throws CommandError */
function checkPrinted(flags: ActFlags, { prints }: Pick<Start, 'prints'>, io: CommandIo): Promise<void> {
  const operations = flags.wait ? prints : prints.slice(0, 1);
  return checkOutcomeFlags(
    flags,
    operations.map(name => endpoints[name].response),
    io,
  );
}

interface BeginFlags extends ActFlags {
  readonly model?: string | undefined;
  readonly checkpoint?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The kind of resource that a start creates, the operation that lists it, and the benchmark it is started on. */
export interface Creation extends Pick<Start, 'kind' | 'listedBy'> {
  readonly benchmark?: Benchmark;
}

/** The name that the input gives to the new resource. */
function nameIn(input: object): string | undefined {
  const { display_name, model_slug } = input as { readonly display_name?: unknown; readonly model_slug?: unknown };
  return [display_name, model_slug].find(name => typeof name === 'string');
}

/** After a lost answer, how long the service may take to list such work, in milliseconds. */
const listedMs = 5_000;

interface Listing {
  /** Whether the service lists such work; undefined if it does not answer. */
  readonly isListed: boolean | undefined;
  /** The rows with the name, as far as the list was read. */
  readonly named: readonly object[];
}

/** Looks in the service's list for what was started. */
async function listingOf(
  { kind, listedBy, benchmark }: Creation,
  name: string | undefined,
  { service, memory, signal }: CommandContext,
): Promise<Listing> {
  const named: object[] = [];
  if (listedBy === undefined || !service.capabilities.has(listedBy)) return { isListed: false, named };
  const asked = {
    service: service.background,
    memory,
    signal: AbortSignal.any([signal, AbortSignal.timeout(listedMs)]),
  };
  const resource = resourceOrThrow(kind);
  let isListed: boolean | undefined;
  try {
    const pages = pagesOf(resource, benchmark ? { benchmark: benchmark.bench_id } : {}, asked);
    for await (const { rows, isRemembered } of pages) {
      if (isRemembered) return { isListed: false, named };
      isListed = true;
      pushAll(
        named,
        rows.filter(row => labelOf(resource, row) === name),
      );
    }
  } catch (error) {
    if (isNotOffered(error)) isListed ??= false;
  }
  return { isListed, named };
}

/** When a row was created, in epoch milliseconds. */
const createdAt = (row: object): number | undefined => parseTime((row as { readonly created_at?: unknown }).created_at);

/** The newest row with that name, and its time, which shows whether it is the one that was started. */
function newestWords(resource: Resource, named: readonly object[]): string {
  const [newest] = named.toSorted((left, right) => (createdAt(right) ?? 0) - (createdAt(left) ?? 0));
  if (!newest) return '';
  const at = createdAt(newest);
  const created = at === undefined ? '' : `, created at ${clockOrDay(at)}`;
  return clean`The newest ${wordFor(resource)} of that name is ${idOf(resource, newest)}${created}. `;
}

/**
 * Whether the same start may have happened before this command. A count that the command has read may then include it.
 */
export const mayBeRepeat = ({ keyed = '' }: Start['send'], input: object, { memory }: CommandContext): boolean =>
  memory.startKeys.earlier(keyed, input) !== undefined;

/**
 * How to find out on this service whether work started although its answer was lost.
 *
 * @param isRepeat from `mayBeRepeat`, before it was sent
 */
export async function whereToLook(
  creation: Creation,
  input: object,
  context: CommandContext,
  isRepeat: boolean,
): Promise<string> {
  const { kind, benchmark } = creation;
  const resource = resourceOrThrow(kind);
  const { isListed, named } = await listingOf(creation, nameIn(input), context);
  if (isListed !== false)
    return `${newestWords(resource, named)}${startedAdvice(resource, `benchtop list ${resource.names[0]}`, isListed)}`;
  const unlisted = `This service does not list ${wordsFor(resource)}`;
  const { bench_id = '', label, eval_run_count: count } = benchmark ?? {};
  if (kind !== 'run' || count == null) return `${unlisted}, so benchtop cannot find out whether it has started.`;
  const name = label ?? bench_id;
  const [when, shown] = isRepeat
    ? ['when last read, the earlier one included if it has started', 'how many there are']
    : ['before', 'whether there is one more'];
  return clean`${unlisted}. It counted ${count} of ${name} ${when}: benchtop get benchmark ${bench_id} --field eval_run_count shows ${shown}.`;
}

/** Tells after a lost answer how to find out whether the work has started, and how to repeat the start. */
async function withRepeatAdvice(
  error: ServiceError,
  creation: Creation,
  input: object,
  context: CommandContext,
  isRepeat: boolean,
): Promise<ServiceError> {
  if (error.idempotencyKey === undefined) return error;
  const where = await whereToLook(creation, input, context, isRepeat);
  return new ServiceError(error.kind, `${error.message} ${where} ${repeatAdvice(error.idempotencyKey)}`, error);
}

/** Refuses to repeat a start that may have happened, and says how to check and how to repeat it anyway. */
async function inDoubt(
  earlier: EarlierStart,
  creation: Creation,
  input: object,
  context: CommandContext,
): Promise<CommandError> {
  const where = await whereToLook(creation, input, context, true);
  const repeat = earlier.isExpired
    ? 'Its idempotency key is too old to be honoured: to start another, add --idempotency-key with a new one.'
    : repeatAdvice(earlier.key);
  return new CommandError(`Nothing was sent. ${earlierWords(earlier)} ${where} ${repeat}`, exitCodes.endUnseen);
}

/** Adds the cause of a failed start, if other records of the service show it. */
async function withCause(
  error: unknown,
  creation: Creation,
  input: object,
  { model, checkpoint = '' }: BeginFlags,
  context: CommandContext,
  isRepeat: boolean,
): Promise<unknown> {
  if (!(error instanceof ServiceError)) return error;
  const hint = runHint(checkpoint);
  if (hint !== '' && isGone(error) && error.message.includes(checkpoint)) {
    return new ServiceError(error.kind, `${error.message}${hint}`, error);
  }
  if (error.outcomeUnknown) return withRepeatAdvice(error, creation, input, context, isRepeat);
  if (error.kind === 'validation' && model !== undefined) return ofModel(error, model, context);
  if (error.kind !== 'conflict' || !creation.benchmark) return error;
  const { names, notes } = await missingSecrets(creation.benchmark.bench_id, context);
  return names.length === 0 ? error : new ServiceError(error.kind, [error.message, ...notes].join(' '), error);
}

/** Treats a start that was refused for an unlisted model as not found. */
async function ofModel(error: ServiceError, model: string, context: CommandContext): Promise<ServiceError> {
  if (!error.param?.includes('model') && !error.message.includes(model)) return error;
  try {
    const { items } = await modelList.readPage({ ...context, query: {} });
    const slugs = items.map(({ model_slug }) => model_slug);
    if (slugs.includes(model)) return error;
    const hint = didYouMean(model, slugs) || 'benchtop list models lists them.';
    return new ServiceError('not_found', `${error.message} ${hint}`, error);
  } catch {
    return error;
  }
}

/** Sends, waits and prints; or shows the request only. */
async function begin<Input extends object>(
  creation: Pick<Start<Input>, 'send'> & Creation,
  input: Input,
  flags: BeginFlags,
  context: CommandContext,
  io: CommandIo,
): Promise<ExitCode> {
  const { send, kind } = creation;
  const { idempotencyKey } = flags;
  if (flags.dryRun) return printRequests(send, [input], context, flags, io);
  // Without its answer, only the error says that it may have started, and with which key.
  io.stopOnSignals?.();
  const onDoubt = async (earlier: EarlierStart): Promise<void> => {
    throw await inDoubt(earlier, creation, input, context);
  };
  const isRepeat = mayBeRepeat(send, input, context);
  const result = await start(send, input, context, { idempotencyKey, onDoubt }).catch(async (error: unknown) => {
    throw await withCause(error, creation, input, flags, context, isRepeat);
  });
  const otherwise = startedOtherwise(result as object, input);
  if (otherwise !== undefined) io.note(otherwise);
  const { ignored_options: ignored } = result as { readonly ignored_options?: unknown };
  // Options without effect may be mistakes.
  if (Array.isArray(ignored) && ignored.length > 0) io.note(clean`Ignored by the service: ${ignored.map(String)}.`);
  const resource = resourceOrThrow(kind);
  const started = { ...result, ...input };
  const ref = { kind, id: idOf(resource, started), label: labelOf(resource, started) };
  const again = async (): Promise<object> => {
    const query = resource.get?.(ref.id);
    const row = await query?.read(context);
    if (query && row) rememberRows(context.memory, query, [row]);
    return row ?? {};
  };
  return finish(ref, result, again, flags, context, io);
}

async function benchmarkOf(word = '', context: CommandContext): Promise<Benchmark> {
  return (await findAmong([resourceOrThrow('benchmarks')], word, context, 'write')).row as Benchmark;
}

/** The user's choices for a run; everything else follows from them. */
interface Chosen {
  readonly model?: string | undefined;
  readonly checkpoint?: FoundCheckpoint | undefined;
  readonly name?: string | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** The options as the service describes them, if they were read. */
  readonly offered?: unknown;
}

/** The input of a start. Without a chosen name, the run gets an unused one. */
export function runInput(start: RunStart, benchmark: Benchmark, chosen: Chosen, { memory }: CommandContext): RunInput {
  const { checkpoint, name, options, offered } = chosen;
  const { id, run, step } = checkpoint ?? {};
  const model = chosen.model ?? run?.base_model_slug ?? undefined;
  const from = { benchmark, model, checkpoint, run, options, offered };
  const named = (display_name: string): RunInput => ({
    bench_id: benchmark.bench_id,
    model,
    display_name,
    checkpoint: id,
    ...(run && { trained: { training_run_id: run.training_run_id, step } }),
    ...(options && { options }),
  });
  const { keyed = '' } = start.send;
  const isOpen = (usual: string): boolean => memory.startKeys.earlier(keyed, named(usual)) !== undefined;
  return named(name ?? memory.freeName(start.kind, nameOfStart(start, from), isOpen));
}

/** The default slug for a checkpoint; empty if there is no name to derive it from. */
export const defaultSlug = ({ run }: FoundCheckpoint): string =>
  slugOf(run?.display_name ?? run?.training_run_id ?? '');

/** `num_steps=20` as a field: numbers, lists and the like are read as JSON. @throws CommandError */
function optionOf(pair: string): [string, unknown] {
  const at = pair.indexOf('=');
  if (at < 1) throw new CommandError(`--option takes NAME=VALUE, not ${pair}.`);
  return [pair.slice(0, at), jsonOrText(pair.slice(at + 1))];
}

/**
 * Refuses unknown options before anything is sent, since the service would ignore them. If it describes none,
 * the service decides.
 *
 * @returns the options as the service describes them
 * @throws CommandError for an unknown option
 */
async function checkOptions(
  operation: OptionsOperation,
  options: Readonly<Record<string, unknown>>,
  choice: OptionsChoice,
  { service, signal }: CommandContext,
  io: CommandIo,
): Promise<unknown> {
  const answer = await readRunOptions(service, operation, choice, signal).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || signal.aborted || exitCodeOf(error) === exitCodes.forbidden) throw error;
    return {};
  });
  const known = optionNames(answer, choice.model);
  if (known.length === 0) io.note('The service does not list its options: --option is sent unchecked.');
  const wrong = known.length === 0 ? undefined : Object.keys(options).find(name => !known.includes(name));
  if (wrong === undefined) return answer;
  const hint = didYouMean(wrong, known) || clean`The options are ${known}.`;
  throw new CommandError(clean`There is no option ${wrong}. ${hint} Nothing was started.`);
}

/** Says how `first@best` was chosen, and which step `first@latest` is while there may be more. */
function noteChoice(word: string | undefined, checkpoint: FoundCheckpoint | undefined, io: CommandIo): void {
  const { chosenBy, isLatest, run, step, ...others } = checkpoint ?? {};
  if (isLatest && step != null && isRunning(run?.status))
    io.note(clean`${word ?? ''} is step ${step}, the latest checkpoint so far.`);
  if (chosenBy) io.note(clean`${word ?? ''} is ${choiceWords(chosenBy, others)}.`);
}

type RunCommand = CommandInput<'evaluate'> | CommandInput<'train'>;

/** The shared part of `evaluate` and `train`. @throws CommandError if neither a model nor a checkpoint is given */
async function startRun({ args: [word], flags }: RunCommand, run: RunStart, io: CommandIo): Promise<number> {
  const { model, checkpoint: from, name, option } = flags;
  if (model === undefined && from === undefined) {
    throw new CommandError(`Specify what to ${run.command}: --model MODEL, --checkpoint CHECKPOINT, or both.`);
  }
  const options = option && Object.fromEntries(option.map(optionOf));
  if ('until' in flags && flags.until !== undefined) parseUntil(flags.until);
  await checkPrinted(flags, run, io);
  return withService(flags, io, async context => {
    const benchmark = await benchmarkOf(word, context);
    const checkpoint = from === undefined ? undefined : await findCheckpoint(from, context, 'write');
    noteChoice(from, checkpoint, io);
    const base = checkpoint?.run?.base_model_slug;
    if (model !== undefined && base != null && model !== base) {
      throw new CommandError(clean`${from ?? ''} is a checkpoint of ${base}, not of ${model}. Nothing was started.`);
    }
    const wanted = model ?? checkpoint?.run?.base_model_slug ?? undefined;
    const choice = { benchId: benchmark.bench_id, model: wanted };
    const known = options && (await checkOptions(run.options, options, choice, context, io));
    if (flags.dryRun && run.cost) {
      // Nothing depends on it.
      const offered =
        known ?? (await readRunOptions(context.service, run.options, choice, context.signal).catch(() => undefined));
      const before = wanted === undefined ? undefined : readTokenUse(choice.benchId, wanted, context);
      io.note(`What it takes: ${run.cost(options ?? {}, offered, wanted, await before?.catch(() => undefined))}.`);
    }
    const { startKeys } = context.memory;
    const { idempotencyKey: key } = flags;
    const sent = key === undefined ? undefined : startKeys.nameOf(run.kind, key);
    const chosen = { model, checkpoint, name: name ?? sent, options, offered: known };
    const input = runInput(run, benchmark, chosen, context);
    const { display_name } = input;
    if (key !== undefined && display_name !== undefined && !flags.dryRun)
      startKeys.keepName(run.kind, key, display_name);
    return begin({ ...run, benchmark }, input, flags, context, io);
  });
}

export const evaluate = (given: CommandInput<'evaluate'>, io: CommandIo): Promise<number> =>
  startRun(given, benchmarkActions.evaluate.sends, io);

export const train = (given: CommandInput<'train'>, io: CommandIo): Promise<number> =>
  startRun(given, benchmarkActions.train.sends, io);

/** A checkpoint given by id alone, with its record if the service lists it. @throws CommandError */
async function recorded({ id }: FoundCheckpoint, context: CommandContext): Promise<FoundCheckpoint> {
  const search = await searchCheckpoint(id, context).catch((error: unknown): CheckpointSearch => {
    // If it cannot be looked up, the service decides.
    if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
    return { isComplete: false };
  });
  if (!search.found && search.isComplete) {
    throw new CommandError(clean`There is no checkpoint ${id}. Nothing was changed.${runHint(id)}`, exitCodes.notFound);
  }
  return search.found ?? { id };
}

/**
 * The checkpoint to deploy: without a step, the newest that the service would deploy.
 *
 * @param note called with the reason if that is not the newest
 * @throws CommandError if there is none, or none that can be deployed
 */
export async function deployableCheckpoint(
  word: string,
  context: CommandContext,
  note: (text: string) => void,
): Promise<FoundCheckpoint> {
  const named = await findCheckpoint(word, context, 'write');
  const found = named.row ? named : await recorded(named, context);
  const { id, row, run, step } = found;
  if (row?.is_deployable !== false) return found;
  const checkpoint = step == null ? id : clean`the checkpoint of step ${step} (${id})`;
  const refuse = (which: string): never => {
    throw new CommandError(clean`The service says that ${which} be deployed. Nothing was changed.`, exitCodes.failed);
  };
  if (!run || !named.isLatest) return refuse(`${checkpoint} cannot`);
  const { service, signal } = context;
  const steps = await checkpointsByStep(service, run.training_run_id, { signal });
  checkAll(steps, 'The latest checkpoint that can be deployed', context, 'write');
  const last = steps.findLast(({ is_deployable }) => is_deployable !== false);
  if (!last) return refuse('none of its checkpoints can');
  note(clean`The service says that ${checkpoint} cannot be deployed: step ${last.step_index} is deployed instead.`);
  return { id: last.checkpoint_id, row: last, run, step: last.step_index };
}

/** `Step 6 of words (ckpt_1) goes into production as my-model.` */
export function productionWords({ id, step, run }: FoundCheckpoint, slug: string): string {
  const of = run?.display_name ?? run?.training_run_id;
  const what = step == null ? id : `Step ${step}${of === undefined ? '' : ` of ${of}`} (${id})`;
  return clean`${what} goes into production as ${slug}.`;
}

export async function deploy({ args: [word = ''], flags }: CommandInput<'deploy'>, io: CommandIo): Promise<number> {
  const start = trainingActions.deploy.sends;
  await checkPrinted(flags, start, io);
  return withService(flags, io, async context => {
    const checkpoint = await deployableCheckpoint(word, context, io.note);
    noteChoice(word, checkpoint, io);
    const model_slug = flags.slug ?? defaultSlug(checkpoint);
    if (model_slug === '') throw new CommandError('Specify a slug: --slug SLUG.');
    if (!modelSlug.pattern.test(model_slug) || model_slug.length > modelSlug.maximum) {
      throw new CommandError(
        `--slug takes up to ${modelSlug.maximum} letters, digits, - and _, not ${model_slug}. Nothing was sent.`,
      );
    }
    const input = { checkpoint_id: checkpoint.id, model_slug, role: flags.role ?? deploymentRoles[0] };
    if (input.role === 'production' && !flags.dryRun) {
      context.service.requireWrites();
      const ask = async (replaced: string): Promise<boolean> => {
        await confirm(`${productionWords(checkpoint, model_slug)} ${replaced}`, flags, io, model_slug);
        return true;
      };
      if (!flags.yes) await confirmEntry({ slug: model_slug }, ask, context);
    }
    return begin(start, input, flags, context, io);
  });
}

export async function build({ args: [word], flags }: CommandInput<'build'>, io: CommandIo): Promise<number> {
  const { change } = benchmarkActions.build;
  await checkPrinted(flags, change, io);
  return withService(flags, io, async context => {
    const benchmark = await benchmarkOf(word, context);
    return begin({ ...change, benchmark }, benchmark, flags, context, io);
  });
}
