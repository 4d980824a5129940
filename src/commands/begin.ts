/** Sends a start request, waits for the work to end and prints the outcome; explains a failed start. */
import { pushAll } from '../base/many.ts';
import { own } from '../base/own-property.ts';
import type { Benchmark } from '../contract/benchmarks.ts';
import type { Endpoint } from '../contract/common.ts';
import { endpoints } from '../contract/endpoints.ts';
import { isHarmlessRepeat, sendKeyed } from '../queries/action.ts';
import { modelList } from '../queries/models.ts';
import { rememberRows } from '../queries/remembered-fallback.ts';
import { describeWrongStart, type Start } from '../resources/action.ts';
import { benchmarks } from '../resources/benchmarks.ts';
import { idOf, labelOf, pluralName, type Resource, singularName, startedAdvice } from '../resources/define.ts';
import { pagesOf } from '../resources/pages.ts';
import { CapabilityMissingError, isGone, isNotOffered, ServiceError } from '../service/errors.ts';
import type { EarlierStart } from '../store/start-keys.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { clockOrDay, parseTime } from '../text/time.ts';
import { type ActFlags, checkOutcomeField, finish, printRequests, type StartedWork } from './act.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { resourceOrThrow } from './find.ts';
import { runHint } from './find-checkpoint.ts';
import { missingSecrets } from './readiness.ts';
import { didYouMean } from './suggest.ts';
import { type CommandContext, repeatAdvice } from './with-service.ts';

/** Checks --field against the start's response and, with --wait, the final record. @throws CommandError */
export function checkPrinted(flags: ActFlags, { prints }: Pick<Start, 'prints'>): void {
  const operations = flags.wait ? prints : prints.slice(0, 1);
  checkOutcomeField(
    flags,
    operations.map(name => endpoints[name].response),
  );
}

export interface BeginFlags extends ActFlags {
  readonly model?: string | undefined;
  readonly checkpoint?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The kind of resource that a request starts, the operation that lists it, and the benchmark it is started on. */
export interface Creation extends Pick<Start, 'kind' | 'listedBy'> {
  readonly benchmark?: Benchmark;
  /** If the command starts several, the flags that start only this one: `--model acme/small --seed 2`. */
  readonly alone?: string | undefined;
}

/** The name that the input gives the new resource. */
function nameIn(input: object): string | undefined {
  const { display_name, model_slug } = input as { readonly display_name?: unknown; readonly model_slug?: unknown };
  return [display_name, model_slug].find(name => typeof name === 'string');
}

/** Time limit for listing the work after a lost response, in milliseconds. */
const listedMs = 5_000;

interface Listing {
  /** Whether the service lists this kind of work; undefined if it does not respond. */
  readonly isListed: boolean | undefined;
  /** The rows with that name, in the part of the list that was read. */
  readonly named: readonly object[];
}

/** Looks for the started work in the service's list. */
async function listingOf(
  { kind, listedBy, benchmark }: Creation,
  name: string | undefined,
  context: CommandContext,
): Promise<Listing> {
  const { service } = context;
  const named: object[] = [];
  if (listedBy === undefined || !service.capabilities.has(listedBy)) return { isListed: false, named };
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(listedMs)]);
  const limited = { ...context, service: service.background, signal };
  const resource = resourceOrThrow(kind);
  let isListed: boolean | undefined;
  try {
    const pages = pagesOf(resource, benchmark ? { benchmark: benchmark.bench_id } : {}, limited);
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

/** Names the newest of these rows and when it was created, which shows whether this request created it. */
function describeNewest(resource: Resource, named: readonly object[]): string {
  const [newest] = named.toSorted((left, right) => (createdAt(right) ?? 0) - (createdAt(left) ?? 0));
  if (!newest) return '';
  const at = createdAt(newest);
  const created = at === undefined ? '' : `, created at ${clockOrDay(at)}`;
  return clean`The newest ${singularName(resource)} with that name is ${idOf(resource, newest)}${created}. `;
}

/** A start request. */
interface Attempt {
  readonly creation: Creation;
  readonly input: object;
  readonly flags: BeginFlags;
  readonly context: CommandContext;
  /**
   * Whether the same request may have succeeded before this command. If so, a count that the command has read may
   * include it.
   */
  readonly isRepeat: boolean;
}

/** How to find out, on this service, whether work started although the response was lost. */
async function whereToLook({ creation, input, context, isRepeat }: Attempt): Promise<string> {
  const { kind, benchmark } = creation;
  const resource = resourceOrThrow(kind);
  const { isListed, named } = await listingOf(creation, nameIn(input), context);
  if (isListed !== false)
    return `${describeNewest(resource, named)}${startedAdvice(resource, `benchtop list ${resource.names[0]}`, isListed)}`;
  const unlisted = `This service does not list ${pluralName(resource)}`;
  const { bench_id = '', label, eval_run_count: count } = benchmark ?? {};
  if (kind !== benchmarks.tally?.kind || count == null)
    return `${unlisted}, so benchtop cannot find out whether it has started.`;
  const name = label ?? bench_id;
  const [when, shown] = isRepeat
    ? ['when last read, including the earlier one if it started', 'how many there are']
    : ['before', 'whether there is one more'];
  return clean`${unlisted}. ${name} had ${counted(count, 'run')} ${when}: benchtop get benchmark ${bench_id} --field eval_run_count shows ${shown}.`;
}

/** Adds to the error how to find out whether the work has started, and how to repeat the request. */
async function withRepeatAdvice(error: ServiceError, attempt: Attempt): Promise<ServiceError> {
  if (error.idempotencyKey === undefined) return error;
  const where = await whereToLook(attempt);
  return error.withAdvice(`${where} ${repeatAdvice(error.idempotencyKey, attempt.creation.alone)}`);
}

/** A sentence about a start request that may already have succeeded. */
export const describeEarlierStart = ({ sentAt }: EarlierStart): string =>
  `The same request was sent at ${clockOrDay(sentAt)}, but its response was lost: it may have succeeded.`;

/** Refuses to repeat a request that may have succeeded. The error explains how to check and how to repeat it anyway. */
async function inDoubt(earlier: EarlierStart, attempt: Attempt): Promise<CommandError> {
  const { alone } = attempt.creation;
  const where = await whereToLook(attempt);
  const repeat = earlier.isExpired
    ? `Its idempotency key is too old to be honoured: to start another, repeat the same command${alone === undefined ? '' : ` for ${alone} alone`} with a new --idempotency-key.`
    : repeatAdvice(earlier.key, alone);
  return new CommandError(`Nothing was sent. ${describeEarlierStart(earlier)} ${where} ${repeat}`, exitCodes.endUnseen);
}

/** Whether the service also lacks the list at the path of a start request. */
async function lacksPath(operation: string, creation: Creation, context: CommandContext): Promise<boolean> {
  const { listedBy } = creation;
  if (listedBy === undefined || endpoints[listedBy].path !== own<Endpoint>(endpoints, operation)?.path) return false;
  await listingOf(creation, undefined, context);
  return !context.service.capabilities.has(listedBy);
}

/** Adds the cause of a failed start, if other records on the service show it. */
async function withCause(error: unknown, attempt: Attempt): Promise<unknown> {
  if (!(error instanceof ServiceError)) return error;
  const { creation, context } = attempt;
  const { model, checkpoint = '' } = attempt.flags;
  const { operation = '' } = error;
  if (error.mayLackPath && (await lacksPath(operation, creation, context)))
    return new CapabilityMissingError(operation, error, error.words && `It answered: ${error.words}`);
  const hint = runHint(checkpoint);
  if (hint !== '' && isGone(error) && error.message.includes(checkpoint)) {
    return new ServiceError(error.kind, `${error.message}${hint}`, error);
  }
  if (error.outcomeUnknown) return withRepeatAdvice(error, attempt);
  if (error.kind === 'validation' && model !== undefined) return asUnknownModel(error, model, context);
  if (error.kind !== 'conflict' || !creation.benchmark) return error;
  const { names, notes } = await missingSecrets(creation.benchmark.bench_id, context);
  return names.length === 0 ? error : error.withAdvice(notes.join(' '));
}

/** Turns the refusal of a model that is not listed into a "not found" error. */
async function asUnknownModel(error: ServiceError, model: string, context: CommandContext): Promise<ServiceError> {
  if (!error.param?.includes('model') && !error.message.includes(model)) return error;
  try {
    const { items } = await modelList.readPage({ ...context, query: {} });
    const slugs = items.map(({ model_slug }) => model_slug);
    if (slugs.includes(model)) return error;
    const hint = didYouMean(model, slugs) || 'benchtop list models lists the models.';
    return new ServiceError('not_found', `${error.message} ${hint}`, error);
  } catch {
    return error;
  }
}

/** @param started the started record, or the response merged with the input */
export function startedWork({ kind }: Creation, result: object, started: object, context: CommandContext): StartedWork {
  const resource = resourceOrThrow(kind);
  const ref = { kind, id: idOf(resource, started), label: labelOf(resource, started) };
  const reread = async (): Promise<object> => {
    const query = resource.get?.(ref.id);
    const row = await query?.read(context);
    if (query && row) rememberRows(context.memory, query, [row]);
    return row ?? {};
  };
  return { ref, result, reread };
}

/** Sends a start request. @throws ServiceError, CommandError */
export async function sendStart<Input extends object>(
  creation: Pick<Start<Input>, 'send'> & Creation,
  input: Input,
  flags: BeginFlags,
  context: CommandContext,
): Promise<StartedWork> {
  const { service, memory, signal, io } = context;
  const { send } = creation;
  const { idempotencyKey } = flags;
  // A signal must not kill the command: after a lost response, only its error reports that the work may have started.
  io.stopOnSignals?.();
  const isRepeat = memory.startKeys.earlier(send.keyed ?? '', input) !== undefined;
  const attempt: Attempt = { creation, input, flags, context, isRepeat };
  const onEarlier = async (earlier: EarlierStart): Promise<void> => {
    if (!isHarmlessRepeat(earlier, service)) throw await inDoubt(earlier, attempt);
    io.note(
      `${describeEarlierStart(earlier)} This repeats it with the same idempotency key, so it cannot start a second one.`,
    );
  };
  const keyed = { signal, keys: memory.startKeys, idempotencyKey, onEarlier };
  const result = await sendKeyed(service, send, input, keyed).catch(async (error: unknown) => {
    throw await withCause(error, attempt);
  });
  const seen = send.starts?.(result, input);
  if (seen?.kind && seen.id) memory.see([{ ...seen, kind: seen.kind, id: seen.id, isStart: true }]);
  const otherwise = describeWrongStart(result as object, input);
  if (otherwise !== undefined) io.note(otherwise);
  const { ignored_options: ignored } = result as { readonly ignored_options?: unknown };
  // Options that have no effect may be mistakes.
  if (Array.isArray(ignored) && ignored.length > 0) io.note(clean`Ignored by the service: ${ignored.map(String)}.`);
  return startedWork(creation, result as object, { ...result, ...input }, context);
}

/** Sends a start request, waits for the work to end and prints the outcome; with --dry-run, only prints the request. */
export async function begin<Input extends object>(
  creation: Pick<Start<Input>, 'send'> & Creation,
  input: Input,
  flags: BeginFlags,
  context: CommandContext,
): Promise<ExitCode> {
  if (flags.dryRun) return printRequests(creation.send, [input], context, flags);
  return finish(await sendStart(creation, input, flags, context), flags, context);
}
