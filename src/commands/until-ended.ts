/** Follows one resource until it has ended, for `watch` and `--wait`: reports each change, and how it ended. */

import { errorMessage } from '../base/errors.ts';
import { isRecord, own } from '../base/own-property.ts';
import { type RunFailure, runFailure } from '../contract/common.ts';
import { formatStatus, hasEnded, isOver, statusMeaning } from '../contract/status.ts';
import { doneWith, evalRunQuery } from '../queries/evaluations.ts';
import type { PollIntervals } from '../queries/polling.ts';
import { type QueryContext, readingOnce } from '../queries/query-context.ts';
import { readHeldOutSplit } from '../queries/training-curves.ts';
import { resourceOfKind } from '../resources/catalogue.ts';
import { lookAt } from '../resources/look.ts';
import { readRunMean } from '../resources/run-mean.ts';
import { cautionOf } from '../resources/runs.ts';
import type { GateState } from '../service/gate.ts';
import type { Service } from '../service/index.ts';
import type { ResourceRef } from '../store/store.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { describeUnseenEnd, type Following, follow, openBecause } from './follow.ts';
import type { FollowedState } from './followed-state.ts';
import { readRewards, type Until, UntilJudge } from './until.ts';
import type { WatchedAlarms } from './watch-alarms.ts';
import { type CommandContext, describeRateLimit } from './with-service.ts';

/** The reason in a failed resource's record. Never rejects: the failure is the result, with or without a reason. */
async function readFailure({ kind, id }: ResourceRef, context: QueryContext): Promise<RunFailure | undefined> {
  const record = await resourceOfKind(kind)
    ?.get?.(id)
    .read(context)
    .catch(() => undefined);
  const read = runFailure.safeParse(isRecord(record) ? own(record, 'failure') : undefined);
  return read.success ? read.data : undefined;
}

/**
 * Adds the interval to a run's mean. Never rejects: everything else is known without it.
 *
 * @param unread called with the reason if the rewards cannot be read
 */
async function withCertainty(
  seen: FollowedState,
  context: QueryContext,
  unread: (words: string) => void,
): Promise<FollowedState> {
  const certain = await readRunMean(seen, context).catch((error: unknown) => {
    if (!context.signal.aborted) unread(`No interval, because its rewards could not be read. ${errorMessage(error)}`);
  });
  return { ...seen, ...certain, done: doneWith(seen.done, certain?.graded) };
}

/** A caveat about a run's mean. Never rejects: everything else is known without it. */
async function readCaution(runId: string, context: QueryContext): Promise<string | undefined> {
  const read = async (): Promise<string | undefined> => {
    const run = await evalRunQuery(runId).read(context);
    return cautionOf({ ...run, held_out_split: await readHeldOutSplit(run, context) });
  };
  return read().catch(() => undefined);
}

/** Time limit for reading the reason for a failure after --timeout, in milliseconds. */
const lateMs = 1_000;

/** The maximum time between two responses, in milliseconds; after that, the state is unknown. */
const ordinaryMs = 1_000;

/** How many resources are read within one interval; with more, each is read less often. */
const readAtOnce = 10;

/** The poll intervals for each resource when `count` are followed at the same time. */
function sharedBy(count: number, { focusedMs, visibleMs }: PollIntervals): PollIntervals {
  const factor = Math.max(1, count / readAtOnce);
  return { focusedMs: focusedMs * factor, visibleMs: visibleMs * factor };
}

/** A requested change that takes time. Without one, `--wait` waits for running work to end. */
export interface AwaitedChange extends Pick<Following, 'isLast'> {
  /** E.g. `cancelled`. */
  readonly participle: string;
  /** The current state; by default as for running work. */
  readonly readState?: (service: Service, signal: AbortSignal) => Promise<FollowedState>;
  /** Whether the change has reached this status. */
  readonly isDone: (status: string) => boolean;
}

export interface WaitOptions {
  readonly change?: AwaitedChange | undefined;
  /** Also judges an evaluation's end by its rewards. */
  readonly until?: Until | undefined;
  /** How many resources are followed at the same time; 1 by default. */
  readonly among?: number | undefined;
  /** Seconds after which the context's signal aborts, for messages. */
  readonly timeout?: number | undefined;
  /** Reports of failed and missing parts that the user has already seen. */
  readonly noted?: readonly string[];
  readonly onChange: (seen: FollowedState) => Promise<void>;
  /** Checked on each response. If an alarm is active at the end, success has exit code 8. */
  readonly alarms?: WatchedAlarms;
  /** Ends the wait without a message. */
  readonly stop?: AbortSignal;
}

/**
 * Reports which parts of a resource failed or are missing, and why: each once, unless it recovers in between.
 *
 * @param noted reports that the user has already seen
 */
function partReporter({ kind, id, label }: ResourceRef, note: (text: string) => void, noted: readonly string[]) {
  const parts = resourceOfKind(kind)?.watch?.failedParts;
  let reported = new Set(noted);
  const report = async (context: QueryContext): Promise<void> => {
    const failures = (await parts?.read(id, context)) ?? [];
    for (const words of failures) if (!reported.has(words)) note(clean`${label}: ${words}`);
    reported = new Set(failures);
  };
  return {
    report,
    /** Never rejects: the resource has ended, which is the result even if its parts cannot be read. */
    reportLast: (context: QueryContext): Promise<void> =>
      report(context).catch((error: unknown) => {
        if (!context.signal.aborted)
          note(clean`${label}: its ${parts?.words ?? 'parts'} could not be read. ${errorMessage(error)}`);
      }),
  };
}

interface Late {
  /** The change in progress as a participle, e.g. `cancelled`. */
  readonly participle: string | undefined;
  readonly status: string | undefined;
  /** The only sign of the end if there is no status. */
  readonly until: Until | undefined;
  /** How many rewards there are, if known. */
  readonly graded: number | undefined;
  readonly seconds: number;
}

/** A sentence about the state when --timeout runs out. */
function describeLate({ participle, status = 'running', until, graded, seconds }: Late): string {
  const after = `after ${counted(seconds, 'second')}`;
  if (until) {
    const noReward =
      until.quietMs !== undefined && graded === 0 ? ': it has no reward yet, and quiet= counts from the first one' : '';
    return `has not ended by --until ${until.words} ${after}${noReward}. The service does not report whether it is still running.`;
  }
  return participle === undefined
    ? `is still ${formatStatus(status)} ${after}, and continues.`
    : `is still being ${participle} ${after}.`;
}

/** A sentence about the state if the service no longer responds. */
function describeLost(participle: string | undefined, gate: GateState): string {
  const what = participle === undefined ? 'may still be running' : `may not be ${participle} yet`;
  const limited = describeRateLimit(gate);
  return limited ? `${what}. ${limited}.` : `${what}: the service no longer responds, so its state is unknown.`;
}

/** Whether work has ended, or is waiting for a user. */
function isLastOf({ kind }: ResourceRef): NonNullable<Following['isLast']> {
  const stuckAs = resourceOfKind(kind)?.watch?.stuckAs;
  return status => hasEnded(status) || (status !== undefined && status === stuckAs);
}

const untilAdvice = 'It may still be running. --until rewards=N or --until quiet=60s judges its end by its rewards.';

const isSuccess = (status: string): boolean => statusMeaning(status) === 'success';

/** The current state, with the reason if it has failed. */
async function lookWithFailure(ref: ResourceRef, context: QueryContext): Promise<FollowedState> {
  const seen = await lookAt(ref, context);
  if (statusMeaning(seen.status ?? '') !== 'failure') return seen;
  return { ...seen, failure: await readFailure({ ...ref, id: seen.id }, context) };
}

class EndWait {
  readonly #ref: ResourceRef;
  readonly #context: CommandContext;
  readonly #options: WaitOptions;
  readonly #parts: ReturnType<typeof partReporter>;
  readonly #judge: UntilJudge | undefined;
  readonly #isLast: NonNullable<Following['isLast']>;
  /** Whether its result is the mean of its rewards, which may also show its end. */
  readonly #isRated: boolean;
  /** Whether the end does not depend on the status, which may be missing. */
  readonly #needsNoStatus: boolean;
  /** The parts that could not be read, each noted once. */
  readonly #noted = new Set<string>();
  /** Whether the rewards show that it has ended. */
  #isJudgedOver = false;
  /**
   * When the current wait for a response began, in milliseconds: 0 before the first response and after a failure,
   * undefined after a response.
   */
  #silentSince: number | undefined = 0;
  #last: FollowedState | undefined;
  #caution: Promise<string | undefined> | undefined;

  constructor(ref: ResourceRef, context: CommandContext, options: WaitOptions) {
    const { change, until, noted = [] } = options;
    this.#ref = ref;
    this.#context = context;
    this.#options = options;
    this.#parts = partReporter(ref, context.io.note, noted);
    this.#isRated = resourceOfKind(ref.kind)?.watch?.certainty !== undefined;
    this.#judge = until && this.#isRated ? new UntilJudge(until) : undefined;
    this.#isLast = change?.isLast ?? isLastOf(ref);
    this.#needsNoStatus = this.#judge !== undefined || change?.readState !== undefined;
  }

  async run(): Promise<ExitCode> {
    const { signal } = this.#context;
    this.#context.io.stopOnSignals?.();
    this.#context.io.exitUnread?.(exitCodes.endUnseen);
    try {
      const code = await this.#ended(await this.#follow());
      return code === exitCodes.done ? (this.#options.alarms?.code ?? code) : code;
    } catch (error) {
      if (this.#context.io.signal.aborted) return this.#interrupted();
      if (!signal.aborted) throw error;
      return this.#options.stop?.aborted ? exitCodes.done : this.#late();
    }
  }

  #follow(): Promise<string> {
    const { config, service, signal } = this.#context;
    const { change, among = 1 } = this.#options;
    return follow({
      label: this.#ref.label,
      readState: () => this.#look(),
      onChange: seen => this.#report(seen),
      // A failed request is not worth a note, because it is retried in a moment.
      ...(!change && { onWait: () => this.#parts.report(this.#reading()).catch(() => undefined) }),
      note: this.#context.io.note,
      intervals: sharedBy(among, this.#context.io.poll ?? config.preferences.poll),
      gate: service.gate.state,
      signal,
      isLast: status => this.#isJudgedOver || this.#isLast(status),
      needsNoStatus: this.#needsNoStatus,
    });
  }

  /** A context that reads each part once, for the state at one time. */
  #reading(): QueryContext {
    return readingOnce({ ...this.#context, service: this.#context.service.background });
  }

  async #look(): Promise<FollowedState> {
    const { service, signal } = this.#context;
    const { change } = this.#options;
    this.#silentSince ??= Date.now();
    const reading = this.#reading();
    const looking = change?.readState
      ? change.readState(service.background, signal)
      : lookWithFailure(this.#ref, reading);
    const found = await looking.catch((error: unknown) => {
      if (!signal.aborted) this.#silentSince = 0;
      throw error;
    });
    // Rewards read before the end may be incomplete.
    const seen = await this.#judged(found, found.status === undefined ? reading : this.#reading());
    this.#silentSince = undefined;
    for (const words of seen.unreadable ?? []) this.#noteOnce(words);
    if (seen.waits !== undefined) this.#noteOnce(`waits: ${seen.waits}`);
    this.#last = seen;
    await this.#options.alarms?.see(seen);
    return seen;
  }

  /** With --until, judges the end by the rewards. */
  async #judged(found: FollowedState, reading: QueryContext): Promise<FollowedState> {
    if (!this.#judge) return found;
    const rewards = await readRewards(this.#ref.id, reading).catch((error: unknown) => {
      if (!this.#isLast(found.status)) throw error;
    });
    this.#isJudgedOver = rewards !== undefined && this.#judge.isMet(rewards);
    if (!rewards) return found;
    const { graded, mean } = rewards;
    return { ...found, graded, mean, done: doneWith(found.done, graded) };
  }

  async #report(seen: FollowedState): Promise<void> {
    const { onChange } = this.#options;
    if (!this.#isRated || (seen.mean === undefined && !seen.done)) return onChange(seen);
    const reading = this.#reading();
    this.#caution ??= readCaution(this.#ref.id, reading);
    const certain = await withCertainty(seen, reading, words => this.#noteOnce(words));
    return onChange({ ...certain, caution: (await this.#caution) ?? '' });
  }

  #noteOnce(words: string): void {
    if (!this.#noted.has(words)) this.#context.io.note(clean`${this.#ref.label}: ${words}`);
    this.#noted.add(words);
  }

  async #ended(status: string): Promise<ExitCode> {
    const { change, until } = this.#options;
    const { isDone = isSuccess } = change ?? {};
    const { label, id } = this.#ref;
    if (isDone(status)) return exitCodes.done;
    if (until && this.#isJudgedOver && !this.#isLast(status)) {
      this.#context.io.note(clean`${label} counts as ended by --until ${until.words}.`, { id, until: until.words });
      return exitCodes.done;
    }
    if (!this.#isLast(status)) {
      if (!this.#last || !isOver(this.#last)) this.#adviseUntil();
      return exitCodes.endUnseen;
    }
    await this.#parts.reportLast(this.#context);
    return exitCodes.failed;
  }

  #adviseUntil(): void {
    const { id } = this.#ref;
    if (this.#isRated && !this.#options.change) this.#context.io.note(untilAdvice, { id });
  }

  #interrupted(): ExitCode {
    const { change } = this.#options;
    const reason = openBecause(this.#last);
    const running = reason === undefined ? 'keeps running' : `may still be running: ${reason}`;
    const words = change ? `is still being ${change.participle}` : running;
    this.#context.io.note(clean`${this.#ref.label} ${words}.`, { id: this.#ref.id });
    return exitCodes.interrupted;
  }

  async #late(): Promise<ExitCode> {
    const { service } = this.#context;
    const { change, until, timeout: seconds = 0 } = this.#options;
    const { label, id } = this.#ref;
    const isKnown = this.#silentSince === undefined || Date.now() - this.#silentSince < ordinaryMs;
    const reason = isKnown ? openBecause(this.#last) : undefined;
    if (reason !== undefined && !this.#needsNoStatus) {
      this.#context.io.note(describeUnseenEnd(label, reason), { id });
      this.#adviseUntil();
      return exitCodes.endUnseen;
    }
    const { graded, status } = this.#last ?? {};
    const late = {
      participle: change?.participle,
      status,
      until: reason === undefined ? undefined : until,
      graded,
      seconds,
    };
    const words = isKnown ? describeLate(late) : describeLost(change?.participle, service.gate.state());
    this.#context.io.note(clean`${label} ${words}`, { id });
    const signal = AbortSignal.any([this.#context.io.signal, AbortSignal.timeout(lateMs)]);
    if (!change && isKnown) await this.#parts.reportLast({ ...this.#context, signal });
    return exitCodes.timeout;
  }
}

/**
 * Follows one resource until it has ended, or has changed. Returns 0 for success, 8 for success with an alarm, 1 for
 * failure, 6 if the service does not report how it ended, 124 on timeout.
 */
export const untilEnded = (ref: ResourceRef, context: CommandContext, options: WaitOptions): Promise<ExitCode> =>
  new EndWait(ref, context, options).run();
