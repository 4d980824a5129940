/** Follows one resource until it has ended, for `watch` and `--wait`: each change in words, and how it ended. */
import { setTimeout as wait } from 'node:timers/promises';
import { type RunFailure, runFailure } from '../contract/common.ts';
import { hasEnded, isOver, statusMeaning } from '../contract/status.ts';
import { type PollIntervals, pollDelay } from '../queries/polling.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import { readingRewardsOnce } from '../queries/run-rewards.ts';
import { resourceOfKind } from '../resources/catalogue.ts';
import { doneWith, lookAt } from '../resources/look.ts';
import { readCertainty } from '../resources/run-mean.ts';
import { ServiceError } from '../service/errors.ts';
import type { GateState } from '../service/gate.ts';
import type { Service } from '../service/index.ts';
import { errorMessage } from '../text/errors.ts';
import { counted } from '../text/numbers.ts';
import { isRecord, own } from '../text/own.ts';
import { clean } from '../text/sanitise.ts';
import { age } from '../text/time.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import type { CommandIo } from './io.ts';
import { type Seen, wordsOf } from './seen.ts';
import { readRewards, type Until, UntilJudge } from './until.ts';
import { type CommandContext, rateLimitWords } from './with-service.ts';

/** The reason in a failed resource's record. Never rejects: the failure is the result, with or without a reason. */
async function failureOf({ kind, id }: ResourceRef, context: QueryContext): Promise<RunFailure | undefined> {
  const record = await resourceOfKind(kind)
    ?.get?.(id)
    .read(context)
    .catch(() => undefined);
  const read = runFailure.safeParse(isRecord(record) ? own(record, 'failure') : undefined);
  return read.success ? read.data : undefined;
}

/** Adds the interval of the mean. Never rejects: everything else is known without it. */
async function withCertainty(seen: Seen, { kind }: ResourceRef, context: QueryContext): Promise<Seen> {
  if (kind !== 'run' || seen.mean === undefined) return seen;
  const certain = await readCertainty(seen, context).catch(() => undefined);
  return { ...seen, ...certain, done: doneWith(seen.done, certain?.graded) };
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
  /** Called after each response while it has not ended. */
  readonly onWait?: () => Promise<void>;
  readonly note: (text: string) => void;
  readonly intervals: PollIntervals;
  readonly signal: AbortSignal;
  /** Sleeps for this many milliseconds; rejects once the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In milliseconds. */
  readonly now?: () => number;
  /** Whether this status is the last; by default that of work that has ended. */
  readonly isLast?: (status: string | undefined) => boolean;
  /** Its end does not depend on the status, which may be missing. */
  readonly needsNoStatus?: boolean;
}

const defaultSleep = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal });

/** How often a lasting failure is noted, in milliseconds, so that a log shows that the program still waits. */
const notedEveryMs = 60_000;

/** After this many answers without a status there will be none. */
const mostWithout = 3;

/** Why the last answer does not say whether the work has ended; undefined if it does. */
function openBecause(seen: Seen | undefined): string | undefined {
  if (!seen) return undefined;
  if (seen.status === undefined) return 'the service reports no status for it';
  return statusMeaning(seen.status) === 'unknown' ? clean`benchtop does not know the status ${seen.status}` : undefined;
}

const unseenWords = (label: string, reason: string): string =>
  clean`${label}: ${reason}, so its end could not be seen.`;

/**
 * Reports each change; returns the final status, empty if the service reports none. Temporary errors are retried
 * without limit.
 *
 * @throws ServiceError if it cannot be read at all, AbortError once the signal aborts
 */
export async function follow(following: Following): Promise<string> {
  const { label, look, onChange, note, intervals, signal } = following;
  const { onWait, sleep = defaultSleep, now = Date.now, isLast = hasEnded, needsNoStatus = false } = following;
  let reported = '';
  let failures = 0;
  let failingSince = 0;
  let notedAt = 0;
  let without = 0;
  let doubted: string | undefined;
  for (;;) {
    try {
      const seen = await look();
      failures = 0;
      const words = wordsOf(seen);
      if (words !== reported) await onChange(seen);
      reported = words;
      if (isLast(seen.status)) return seen.status ?? '';
      if (isOver(seen.status, seen.endTime)) {
        const status = seen.status === undefined ? 'no status says' : clean`its status ${seen.status} does not say`;
        note(clean`${label} has an end time, but ${status} how it ended.`);
        return seen.status ?? '';
      }
      const reason = openBecause(seen);
      if (reason !== undefined && seen.status !== undefined && seen.status !== doubted) {
        doubted = seen.status;
        note(clean`${label}: ${reason}: waiting for another one.`);
      }
      without = seen.status === undefined ? without + 1 : 0;
      if (without === mostWithout && !needsNoStatus && reason !== undefined) {
        note(unseenWords(label, reason));
        return '';
      }
      await onWait?.();
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
      failures += 1;
      const at = now();
      if (failures === 1) failingSince = at;
      if (failures === 1 || at - notedAt >= notedEveryMs) {
        notedAt = at;
        note(
          clean`${label}: ${failures === 1 ? '' : `still failing after ${age(at - failingSince)}. `}${error.message} Retrying.`,
        );
      }
    }
    const situation = { activity: 'running', attention: 'focused', failures } as const;
    await sleep(pollDelay({ ...situation, jitter: Math.random(), intervals }) ?? 0, signal);
  }
}

/** How long reading what failed may take after the end of --timeout, in milliseconds. */
const lateMs = 1_000;

/** The longest time between two responses, in milliseconds; after that the state is unknown. */
const ordinaryMs = 1_000;

/** Resources read within one interval: with more of them, each is read less often. */
const readAtOnce = 10;

/** The poll intervals of each resource when `count` are followed at the same time. */
function sharedBy(count: number, { focusedMs, visibleMs }: PollIntervals): PollIntervals {
  const factor = Math.max(1, count / readAtOnce);
  return { focusedMs: focusedMs * factor, visibleMs: visibleMs * factor };
}

/** A requested change that takes time; without one, waits for running work to end. */
export interface AwaitedChange extends Pick<Following, 'isLast'> {
  /** E.g. `cancelled`. */
  readonly past: string;
  /** The current state; by default as for running work. */
  readonly look?: (service: Service, signal: AbortSignal) => Promise<Seen>;
  /** Whether the change has reached this status. */
  readonly isDone: (status: string) => boolean;
}

export interface WaitOptions {
  readonly change?: AwaitedChange | undefined;
  /** Judges the end of an evaluation by its rewards too. */
  readonly until?: Until | undefined;
  /** How many resources are followed at the same time; 1 by default. */
  readonly among?: number;
  /** Seconds after which the context's signal aborts, for messages. */
  readonly timeout?: number | undefined;
  /** Failed and missing parts that were reported before, in the same words. */
  readonly noted?: readonly string[];
  readonly onChange: (seen: Seen) => Promise<void>;
}

/**
 * Reports which parts of a resource failed or are missing, and why: each once, until it is no longer among them.
 *
 * @param noted reported before, in the same words
 */
function partReporter({ kind, id, label }: ResourceRef, note: (text: string) => void, noted: readonly string[]) {
  const parts = resourceOfKind(kind)?.watch?.failedParts;
  let said = new Set(noted);
  const report = async (context: QueryContext): Promise<void> => {
    const failures = (await parts?.read(id, context)) ?? [];
    for (const words of failures) if (!said.has(words)) note(clean`${label}: ${words}`);
    said = new Set(failures);
  };
  return {
    report,
    /** Never rejects: it has ended, and that is the result even if its parts cannot be read. */
    reportLast: (context: QueryContext): Promise<void> =>
      report(context).catch((error: unknown) => {
        if (!context.signal.aborted)
          note(clean`${label}: its ${parts?.words ?? 'parts'} could not be read. ${errorMessage(error)}`);
      }),
  };
}

interface Late {
  /** The change in progress as a participle, e.g. `cancelled`. */
  readonly past: string | undefined;
  /** The only sign of its end if it has no status. */
  readonly until: Until | undefined;
  readonly seconds: number;
}

/** The known state at the end of --timeout. */
function lateWords({ past, until, seconds }: Late): string {
  const after = `after ${counted(seconds, 'second')}`;
  if (until) return `has not ended by --until ${until.words} ${after}. The service does not say whether it runs.`;
  return past === undefined ? `is still running ${after}, and keeps running.` : `is still being ${past} ${after}.`;
}

/** The same if the service no longer responds. */
function lostWords(past: string | undefined, gate: GateState): string {
  const what = past === undefined ? 'may still be running' : `may not be ${past} yet`;
  const limited = rateLimitWords(gate);
  return limited ? `${what}. ${limited}.` : `${what}: the service no longer answers, so it is not known.`;
}

/** Whether work has ended, or waits for a user. */
function isLastOf({ kind }: ResourceRef): NonNullable<Following['isLast']> {
  const stuckAs = resourceOfKind(kind)?.watch?.stuckAs;
  return status => hasEnded(status) || (status !== undefined && status === stuckAs);
}

const untilAdvice = 'It may still be running. --until rewards=N or --until quiet=60s judges its end by its rewards.';

const isSuccess = (status: string): boolean => statusMeaning(status) === 'success';

/** The current state, with the reason if it has failed. */
async function lookWithFailure(ref: ResourceRef, context: QueryContext): Promise<Seen> {
  const seen = await lookAt(ref, context);
  if (statusMeaning(seen.status ?? '') !== 'failure') return seen;
  return { ...seen, failure: await failureOf({ ...ref, id: seen.id }, context) };
}

/**
 * Follows one resource until it has ended, or has changed. Returns 0 for success, 1 for failure, 6 if the service does
 * not say how it ended, 124 on timeout.
 */
export async function untilEnded(
  ref: ResourceRef,
  { config, service, memory, signal }: CommandContext,
  io: CommandIo,
  { timeout, onChange, change, until, noted = [], among = 1 }: WaitOptions,
): Promise<ExitCode> {
  const { isDone = isSuccess, isLast = isLastOf(ref) } = change ?? {};
  const judge = until && ref.kind === 'run' ? new UntilJudge(until) : undefined;
  const needsNoStatus = judge !== undefined || change?.look !== undefined;
  let isJudgedOver = false;
  io.stopOnSignals?.();
  io.exitUnread?.(exitCodes.endUnseen);
  const { note } = io;
  /**
   * The start of the current wait for a response, in milliseconds: 0 before the first response and after a failure,
   * undefined after a response.
   */
  let silentSince: number | undefined = 0;
  let last: Seen | undefined;
  const noteUntil = (): void => {
    if (ref.kind === 'run' && !change) note(untilAdvice, { id: ref.id });
  };
  const parts = partReporter(ref, note, noted);
  const readContext = { service: service.background, memory, signal, compare: config.preferences.compare };
  try {
    let isNoted = false;
    const look = async (): Promise<Seen> => {
      silentSince ??= Date.now();
      const once = readingRewardsOnce(service.background);
      const looking = change?.look
        ? change.look(service.background, signal)
        : lookWithFailure(ref, { ...readContext, service: once });
      const found = await looking.catch((error: unknown) => {
        if (!signal.aborted) silentSince = 0;
        throw error;
      });
      // Rewards that were read before an end may not be all.
      const reading = found.status === undefined ? once : service.background;
      const rewards = judge && (await readRewards(reading, ref.id, signal));
      const { graded, mean } = rewards ?? {};
      const seen = rewards ? { ...found, graded, mean, done: doneWith(found.done, graded) } : found;
      isJudgedOver = rewards !== undefined && judge?.isMet(rewards) === true;
      silentSince = undefined;
      if (seen.id !== ref.id && !isNoted) note(clean`Asked for ${ref.id}, the service answers with ${seen.id}.`);
      isNoted ||= seen.id !== ref.id;
      last = seen;
      return seen;
    };
    const intervals = sharedBy(among, io.poll ?? config.preferences.poll);
    const status = await follow({
      label: ref.label,
      look,
      onChange: async seen =>
        onChange(await withCertainty(seen, ref, { ...readContext, service: readingRewardsOnce(service.background) })),
      // A failed request that is repeated in a moment is not worth a note.
      ...(!change && {
        onWait: () => parts.report(readContext).catch(() => undefined),
      }),
      note,
      intervals,
      signal,
      isLast: at => isJudgedOver || isLast(at),
      needsNoStatus,
    });
    if (isDone(status)) return exitCodes.done;
    if (until && isJudgedOver && !isLast(status)) {
      note(clean`${ref.label} counts as ended by --until ${until.words}.`, { id: ref.id, until: until.words });
      return exitCodes.done;
    }
    if (!isLast(status)) {
      if (!isOver(status, last?.endTime)) noteUntil();
      return exitCodes.endUnseen;
    }
    await parts.reportLast({ service, memory, signal });
    return exitCodes.failed;
  } catch (error) {
    if (io.signal.aborted) {
      const reason = openBecause(last);
      const running = reason === undefined ? 'keeps running' : `may still be running: ${reason}`;
      note(clean`${ref.label} ${change ? `is still being ${change.past}` : running}.`, { id: ref.id });
      return exitCodes.interrupted;
    }
    if (!signal.aborted) throw error;
    const isKnown = silentSince === undefined || Date.now() - silentSince < ordinaryMs;
    const reason = isKnown ? openBecause(last) : undefined;
    if (reason !== undefined && !needsNoStatus) {
      note(unseenWords(ref.label, reason), { id: ref.id });
      noteUntil();
      return exitCodes.endUnseen;
    }
    const late = { past: change?.past, until: reason === undefined ? undefined : until, seconds: timeout ?? 0 };
    const words = isKnown ? lateWords(late) : lostWords(change?.past, service.gate.state());
    note(clean`${ref.label} ${words}`, { id: ref.id });
    const readUntil = AbortSignal.any([io.signal, AbortSignal.timeout(lateMs)]);
    if (!change && isKnown) await parts.reportLast({ service, memory, signal: readUntil });
    return exitCodes.timeout;
  }
}
