/** `benchtop watch`: prints every change of running work until it has ended; the exit code says how it ended. */
import { setTimeout as wait } from 'node:timers/promises';
import { hasEnded, isOver, isRunning, statusMeaning, statusWords } from '../contract/status.ts';
import type { ListSource } from '../queries/lists/list.ts';
import { type PollIntervals, pollDelay } from '../queries/polling.ts';
import { readListed, rememberRows } from '../queries/remembered/listing.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import type { KnownResource } from '../queries/statuses/store.ts';
import { refOf, resourceOfId, resourceOfKind, resources } from '../resources/catalogue.ts';
import { isFoundByLabel, type Resource } from '../resources/define.ts';
import { lookAt } from '../resources/watch.ts';
import { ServiceError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import { errorMessage } from '../text/errors.ts';
import { counted, reward } from '../text/numbers.ts';
import { safeJson, sanitiseLine } from '../text/sanitise.ts';
import { clock } from '../text/time.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { findAmong, pagesOf } from './find.ts';
import type { CommandIo } from './io.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

export type Seen = Pick<KnownResource, 'id' | 'label' | 'status' | 'done' | 'total' | 'mean'> &
  Partial<Pick<KnownResource, 'kind' | 'graded' | 'heldOut' | 'endTime'>>;

/** Listed running work, and pins that have not ended; of one kind if it is given. */
async function runningResources(context: CommandContext, only?: Resource): Promise<ResourceRef[]> {
  const { memory } = context;
  const isAsked = (resource: Resource | undefined): boolean => only === undefined || resource === only;
  const pins = memory.pinned().filter(({ kind }) => resourceOfKind(kind)?.watch && isAsked(resourceOfKind(kind)));
  const lists = resources.filter(isAsked).flatMap(({ watch }) => watch?.running ?? []);
  const running = (await Promise.all(lists.map(listed))).flat();
  const isPinned = (ref: ResourceRef): boolean => pins.some(({ kind, id }) => kind === ref.kind && id === ref.id);
  return [...(await Promise.all(pins.map(unlessOver))).flat(), ...running.filter(ref => !isPinned(ref))];

  async function listed(source: ListSource<object>): Promise<ResourceRef[]> {
    const page = await readListed(source, { ...context, query: {} });
    rememberRows(memory, source, page.items);
    return page.items.flatMap(row => {
      const { kind, id, label, status } = source.observes?.(row) ?? {};
      return kind && id && isRunning(status) ? [{ kind, id, label: label ?? id }] : [];
    });
  }

  /** Unreadable resources are followed too: that reports why. */
  async function unlessOver(pin: ResourceRef): Promise<ResourceRef[]> {
    const seen = await lookAt(pin, context).catch(() => undefined);
    return hasEnded(seen?.status) ? [] : [pin];
  }
}

/** Progress, e.g. `3 of 12`; empty if unknown. */
export function progressWords({ done, total }: Pick<Seen, 'done' | 'total'>): string {
  return done === undefined ? '' : `${done} of ${total ?? 'an unknown number'}`;
}

/** How many rollouts of an ended run have no reward; 0 if unknown. */
export function withoutReward({ status, total, graded }: Seen): number {
  return hasEnded(status) && total !== undefined && graded !== undefined ? Math.max(0, total - graded) : 0;
}

/** The current state, e.g. `running, 3 of 12, mean 0.210 of 3 rewards`. */
export function wordsOf(seen: Seen): string {
  const { kind = '', status, mean, graded, heldOut } = seen;
  // The last reward of the trainer is no mean over the run.
  const label = resourceOfKind(kind)?.watch?.recordsProgress ? 'trainer reward' : 'mean';
  const of = graded === undefined ? '' : ` of ${counted(graded, 'reward')}`;
  const without = withoutReward(seen);
  return [
    statusWords(status ?? 'unknown'),
    progressWords(seen),
    mean === undefined ? '' : `${label} ${reward(mean)}${of}`,
    without > 0 ? `${without} without a reward` : '',
    heldOut === undefined ? '' : `held-out reward ${heldOut}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Whether an error is temporary; any other will be the same next time. */
function mayPass(error: unknown): error is ServiceError {
  return error instanceof ServiceError && exitCodeOf(error) === exitCodes.unreachable;
}

interface Following {
  readonly label: string;
  /** The current state. */
  readonly look: () => Promise<Seen>;
  readonly onChange: (seen: Seen) => Promise<void>;
  readonly note: (text: string) => void;
  readonly intervals: PollIntervals;
  readonly signal: AbortSignal;
  /** Sleeps for this many milliseconds; rejects once the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Whether this status is the last; by default that of work that has ended. */
  readonly isLast?: (status: string | undefined) => boolean;
}

const defaultSleep = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal });

/** After this many answers without a status there will be none. */
const mostWithout = 3;

/**
 * Reports each change; returns the final status. Temporary errors are retried without limit.
 *
 * @throws ServiceError if it cannot be read at all, AbortError once the signal aborts
 */
export async function follow(following: Following): Promise<string> {
  const { label, look, onChange, note, intervals, signal, sleep = defaultSleep, isLast = hasEnded } = following;
  let reported = '';
  let failures = 0;
  let without = 0;
  for (;;) {
    try {
      const seen = await look();
      failures = 0;
      const words = wordsOf(seen);
      if (words !== reported) await onChange(seen);
      reported = words;
      if (isLast(seen.status)) return seen.status ?? '';
      if (isOver(seen.status, seen.endTime)) {
        note(`${label} has an end time, but its status ${sanitiseLine(seen.status ?? '')} does not say how it ended.`);
        return seen.status ?? '';
      }
      without = seen.status === undefined ? without + 1 : 0;
      if (without === mostWithout) {
        note(`${label}: the service reports no status for it, so its end could not be seen.`);
        return '';
      }
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
      failures += 1;
      if (failures === 1) note(`${label}: ${error.message} Retrying.`);
    }
    const situation = { activity: 'running', attention: 'focused', failures } as const;
    await sleep(pollDelay({ ...situation, jitter: Math.random(), intervals }) ?? 0, signal);
  }
}

/** An answer may take this long, in milliseconds; after that the state is no longer known. */
const ordinaryMs = 1_000;

/** Resources read within one interval: with more of them, each is read less often. */
const readAtOnce = 10;

/** The intervals for each of so many resources that are followed at the same time. */
function sharedBy(count: number, { focusedMs, visibleMs }: PollIntervals): PollIntervals {
  const factor = Math.max(1, count / readAtOnce);
  return { focusedMs: focusedMs * factor, visibleMs: visibleMs * factor };
}

/** A change that was asked for and takes time. Without one, the end of running work is waited for. */
export interface AwaitedChange extends Pick<Following, 'isLast'> {
  /** E.g. `cancelled`. */
  readonly past: string;
  /** The current state; by default as for running work. */
  readonly look?: (service: Service, signal: AbortSignal) => Promise<Seen>;
  /** Whether this status is what was asked for. */
  readonly isDone: (status: string) => boolean;
}

interface WaitOptions {
  readonly change?: AwaitedChange | undefined;
  /** How many resources are followed at the same time; 1 by default. */
  readonly among?: number;
  /** Seconds after which the signal of the context gives up, for messages. */
  readonly timeout?: number | undefined;
  readonly onChange: (seen: Seen) => Promise<void>;
}

/** Reports which parts of a resource failed, and why. */
async function noteFailedParts(
  { kind, id, label }: ResourceRef,
  { service, memory, signal }: Pick<CommandContext, 'service' | 'memory' | 'signal'>,
  io: CommandIo,
): Promise<void> {
  const parts = resourceOfKind(kind)?.watch?.failedParts;
  if (!parts) return;
  try {
    const failures = await parts.read(id, { service, memory, signal });
    for (const words of failures) io.note(sanitiseLine(`${label}: ${words}`));
  } catch (error) {
    if (signal.aborted) throw error;
    io.note(`${label}: its ${parts.words} could not be read. ${errorMessage(error)}`);
  }
}

/** What is known of it at the end of --timeout. */
function lateWords(past: string | undefined, seconds: number): string {
  const after = `after ${counted(seconds, 'second')}`;
  return past === undefined ? `is still running ${after}, and keeps running.` : `is still being ${past} ${after}.`;
}

/** The same where the service no longer answers. */
function lostWords(past: string | undefined): string {
  const what = past === undefined ? 'may still be running' : `may not be ${past} yet`;
  return `${what}: the service no longer answers, so it is not known.`;
}

const isSuccess = (status: string): boolean => statusMeaning(status) === 'success';

/** Follows one resource until it has ended, or has changed. Returns 0 for success, 1 for failure, 124 on timeout. */
export async function untilEnded(
  ref: ResourceRef,
  { config, service, memory, signal }: CommandContext,
  io: CommandIo,
  { timeout, onChange, change, among = 1 }: WaitOptions,
): Promise<ExitCode> {
  const { isLast, isDone = isSuccess } = change ?? {};
  io.stopOnSignals?.();
  /** Since when an answer is missing, in milliseconds; undefined after one. */
  let silentSince: number | undefined;
  try {
    let isNoted = false;
    const look = async (): Promise<Seen> => {
      silentSince ??= Date.now();
      const seen = change?.look
        ? await change.look(service.background, signal)
        : await lookAt(ref, { service: service.background, memory, signal });
      silentSince = undefined;
      if (seen.id !== ref.id && !isNoted) io.note(`Asked for ${ref.id}, the service answers with ${seen.id}.`);
      isNoted ||= seen.id !== ref.id;
      return seen;
    };
    const intervals = sharedBy(among, config.preferences.poll);
    const following = { label: ref.label, look, onChange, note: io.note, intervals, signal };
    const status = await follow(isLast ? { ...following, isLast } : following);
    if (isDone(status)) return exitCodes.done;
    await noteFailedParts(ref, { service, memory, signal }, io);
    return exitCodes.failed;
  } catch (error) {
    if (io.signal.aborted) {
      io.note(`${ref.label} ${change ? `is still being ${change.past}` : 'keeps running'}.`, { id: ref.id });
      return exitCodes.interrupted;
    }
    if (!signal.aborted) throw error;
    const isKnown = silentSince === undefined || Date.now() - silentSince < ordinaryMs;
    const words = (isKnown ? lateWords : lostWords)(change?.past, timeout ?? 0);
    io.note(`${ref.label} ${words}`, { id: ref.id });
    return exitCodes.timeout;
  }
}

/** Everything of a kind that runs. */
async function runningOf(resource: Resource, context: CommandContext): Promise<ResourceRef[]> {
  const { observes } = resource.list({});
  const refs: ResourceRef[] = [];
  for await (const { rows } of pagesOf(resource, {}, context)) {
    const running = rows.filter(row => isRunning(observes?.(row)?.status));
    refs.push(...running.flatMap(row => refOf(resource, row) ?? []));
  }
  return refs;
}

/** Finds the watchable resources that the words name. The first word may restrict the kind, or be all there is. */
async function refsNamed(words: readonly string[], context: CommandContext): Promise<ResourceRef[]> {
  const watchable = resources.filter(({ watch }) => watch);
  const [first = '', ...rest] = words;
  const said = watchable.find(({ names }) => names.includes(first.toLowerCase()));
  if (said && rest.length === 0) return runningOf(said, context);
  const among = said ? [said] : watchable;
  const named = said ? [said] : watchable.filter(isFoundByLabel);
  return Promise.all(
    (said ? rest : words).map(async word => {
      const isKnown = ({ kind }: Resource): boolean => kind !== undefined && !!context.memory.find(kind, word);
      const looksLike = among.find(resource => resource === resourceOfId(word));
      // What was listed takes precedence over the form of an id. The first read shows whether it exists.
      const ofId = (looksLike && isKnown(looksLike) ? looksLike : among.find(isKnown)) ?? looksLike;
      if (ofId?.kind !== undefined) return { kind: ofId.kind, id: word, label: word };
      const { resource, id, row } = await findAmong(named, word, context);
      const found = refOf(resource, row);
      if (found) return { ...found, id };
      throw new CommandError(`${word} cannot be watched.`);
    }),
  );
}

export async function run({ args, flags }: CommandInput<'watch'>, io: CommandIo): Promise<number> {
  if (args.some(word => word.trim() === ''))
    throw new CommandError('One of the ids is empty: nothing is watched. Without any, all that runs is.');
  return withService(flags, io, async context => {
    const [word] = args;
    // A kind alone is all that runs of it.
    const kind =
      args.length > 1 ? undefined : resources.find(each => each.watch?.running && each.names.includes(word ?? ''));
    const refs = args.length > 0 && !kind ? await refsNamed(args, context) : await runningResources(context, kind);
    if (refs.length === 0) io.note('Nothing is running.');
    const watch = async (ref: ResourceRef): Promise<ExitCode> => {
      const onChange = async (seen: Seen): Promise<void> => {
        const { id, label, status, done, total, mean, graded, heldOut: held_out } = seen;
        const { kind } = ref;
        const now = Date.now();
        const at = new Date(now).toISOString();
        // A log is read on other days, and in other zones.
        const time = io.columns === undefined ? at : clock(now);
        const line = flags.json
          ? safeJson({ at, kind, id, label, status, done, total, mean, graded, held_out })
          : `${time}  ${sanitiseLine(label)}  ${sanitiseLine(wordsOf(seen))}`;
        await io.print(`${line}\n`);
      };
      try {
        return await untilEnded(ref, context, io, { timeout: flags.timeout, onChange, among: refs.length });
      } catch (error) {
        await io.fail(error);
        return exitCodeOf(error);
      }
    };
    const codes = await Promise.all(refs.map(watch));
    return codes.find(code => code !== exitCodes.done) ?? exitCodes.done;
  });
}
