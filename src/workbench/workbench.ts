/** The state that all views share: the service, the query cache, statuses, jobs and polling. */
import { environmentManager, focusManager, type Query, QueryClient } from '@tanstack/react-query';
import { Listeners } from '../base/listeners.ts';
import { perObject } from '../base/memo.ts';
import { type AlarmRules, type AlarmSettings, rulesFor } from '../config/alarms.ts';
import type { CompareSettings, TriageSettings } from '../config/preferences.ts';
import type { Benchmark } from '../contract/benchmarks.ts';
import { benchmarkKeys } from '../queries/benchmarks.ts';
import { FailedQueries } from '../queries/failed-queries.ts';
import { Lists } from '../queries/lists/lists.ts';
import { defaultStaleMs } from '../queries/live-query.ts';
import type { PollIntervals } from '../queries/polling.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { QueryHost } from '../queries/query-host.ts';
import { observeAnswers } from '../queries/statuses/observe.ts';
import { Restarts } from '../queries/statuses/restarts.ts';
import { type Kinds, StatusStore } from '../queries/statuses/store.ts';
import { affectsAllRequests, isLastingRefusal } from '../service/errors.ts';
import type { GateMonitor, GateState } from '../service/gate.ts';
import type { Service } from '../service/index.ts';
import type { ConnectionMonitor, ConnectionState } from '../service/supervisor.ts';
import { RememberedStore } from '../store/store.ts';
import { TextIndex } from '../store/text-index.ts';
import type { PriceUnit } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { clockBehind, setClockBehind } from '../text/time.ts';
import { Exports } from './exports.ts';
import { Inbox } from './inbox.ts';
import { Jobs } from './jobs.ts';
import { Notes } from './notes.ts';
import { Pins } from './pins.ts';
import { Records } from './records.ts';

// In Node, react-query assumes server rendering, where it neither polls nor retries.
environmentManager.setIsServer(() => false);

/** The database's busy timeout on an immediate exit, in milliseconds. */
const exitBusyMs = 50;
/** How long unused cache entries are kept. */
const forgetAfterMs = 10 * 60_000;
/** How old a count of steps in a response can be at most, in milliseconds: lists may lag behind. */
const mostLagMs = 30_000;
/** The setting that holds the service's clock difference, for times shown before its first response. */
const clockSetting = 'clock behind';

/** A file of rollouts on screen, which may change. */
export interface ShownFile {
  /** The file's name and its missing parts. */
  readonly title: string;
  /** Sentences about parts that could not be read. */
  readonly problem: string | undefined;
  /** How it was read: what is missing, its format, and which score is the reward. In sentences. */
  readonly notes: readonly string[];
  readonly subscribe: (listener: () => void) => () => void;
}

export interface WorkbenchOptions {
  /** The kinds of resources whose statuses are tracked. */
  readonly kinds: Kinds;
  /** Returns the service, loading it and connecting on first use. */
  readonly service: () => Promise<Service>;
  readonly connection: ConnectionMonitor;
  /** Whether the service's host accepts requests. */
  readonly gate: GateMonitor;
  /** The profile's name, for the frame. */
  readonly profile: string;
  /** Whether to hide and refuse all actions that write. */
  readonly readOnly: boolean;
  /** Whether conversations are saved to disk. */
  readonly keepsChats: boolean;
  /** The file, if the service was started only to show it. */
  readonly file: ShownFile | undefined;
  readonly poll: PollIntervals;
  readonly compare: CompareSettings;
  readonly priceUnit: PriceUnit | undefined;
  readonly alarms: AlarmSettings;
  readonly triage: TriageSettings;
  /** Opens the index of trajectory text. */
  readonly texts: () => TextIndex;
  /** Opens the remembered store. */
  readonly remembered: () => RememberedStore;
}

/** Work that would be lost on exit. */
interface UnfinishedWork {
  /** A description, e.g. `The answer from model-a in the chat`. */
  readonly words: string;
  /** Stops it, so that its partial result can be saved. */
  readonly stop?: (() => void) | undefined;
}

/** The screen's connection to one service. */
export class Workbench implements QueryHost {
  readonly service: () => Promise<Service>;
  readonly connection: ConnectionMonitor;
  readonly gate: GateMonitor;
  readonly kinds: Kinds;
  readonly profile: string;
  readonly readOnly: boolean;
  readonly keepsChats: boolean;
  /** The file on screen. Flags and notes on it are not saved. */
  readonly file: ShownFile | undefined;
  readonly poll: PollIntervals;
  readonly compare: CompareSettings;
  priceUnit: PriceUnit | undefined;
  alarms: AlarmSettings;
  readonly cache = new QueryClient({
    defaultOptions: {
      queries: {
        retry: false,
        gcTime: forgetAfterMs,
        // Data from an earlier session is stale at any age.
        staleTime: ({ state }) => (state.dataUpdatedAt < this.openedAt ? 0 : defaultStaleMs),
        // Refresh the data on screen after the program was suspended, unless polling is paused.
        refetchOnWindowFocus: () => !this.#paused,
        refetchOnReconnect: false,
      },
    },
  });
  readonly lists = new Lists(
    this.cache,
    async signal => this.contextFor(await this.service(), signal),
    () => (this.#closing ? undefined : this.remembered),
  );
  readonly #opened = { at: Date.now(), monotonic: performance.now() };
  readonly failed: FailedQueries;
  /** When each query in flight last made progress, by hash; in monotonic milliseconds. */
  readonly waitingSince = new Map<string, number>();
  /** The known state of every resource that has a status. */
  readonly statuses: StatusStore;
  readonly restarts = new Restarts(({ kind, id }) => {
    const before = this.openedAt - mostLagMs;
    return {
      step: this.remembered.progress.of(id).findLast(({ at }) => at < before)?.completed_steps,
      restart: this.remembered.seen.find(kind, id)?.restart,
    };
  });
  readonly pins: Pins;
  /** Flags and notes. */
  readonly notes: Notes;
  readonly inbox: Inbox;
  readonly records: Records;
  /** Uploads, which continue in the background. */
  readonly jobs = new Jobs();
  readonly exports = new Exports();
  /** The typed values of forms that have not been sent, by form. */
  readonly drafts = new Map<string, unknown>();
  /** Other work that would be lost on exit, by id. */
  readonly unfinished = new Map<string, UnfinishedWork>();
  /** Resolves after `close`, once all data has been written. */
  readonly closed: Promise<void>;
  readonly #setClosed: () => void;
  #closing = false;
  readonly #stopObserving: () => void;
  #paused = false;
  /** Whether polling has been paused at any time since the last response. */
  #wasPaused = false;
  readonly #stopFollowing: () => void;
  /** The generation of the service process that it is connected to. */
  #generation = 0;
  readonly #listeners = new Listeners();

  /** The service's remembered clock difference. */
  #behindMs: number;

  readonly #openRemembered: () => RememberedStore;
  #remembered: RememberedStore | undefined;
  readonly #openTexts: () => TextIndex;
  #texts: TextIndex | undefined;

  constructor(options: WorkbenchOptions) {
    const { poll } = options;
    this.connection = options.connection;
    this.gate = options.gate;
    this.failed = new FailedQueries({
      cache: this.cache,
      gate: this.gate,
      isPaused: () => this.#paused,
      leastMs: poll.visibleMs,
    });
    this.#stopFollowing = this.connection.subscribe(this.#follow);
    this.kinds = options.kinds;
    this.statuses = new StatusStore(options.kinds, (run, count) => this.remembered.gradedAt(run, count));
    this.keepsChats = options.keepsChats;
    this.file = options.file;
    this.poll = poll;
    this.compare = options.compare;
    this.priceUnit = options.priceUnit;
    this.alarms = options.alarms;
    this.#openRemembered = options.remembered;
    this.#openTexts = options.texts;
    this.service = options.service;
    this.profile = options.profile;
    this.readOnly = options.readOnly;
    ({ promise: this.closed, resolve: this.#setClosed } = Promise.withResolvers<void>());
    const behind = this.remembered.setting(clockSetting);
    this.#behindMs = typeof behind === 'number' ? behind : 0;
    setClockBehind(this.#behindMs);
    this.pins = new Pins(() => this.remembered);
    this.notes = new Notes(() => this.remembered, options.triage);
    this.inbox = new Inbox(() => this.remembered, this.statuses, poll.visibleMs);
    this.lists.recallCounts();
    this.records = new Records({
      ...{ kinds: this.kinds, statuses: this.statuses, restarts: this.restarts, lists: this.lists },
      ...{ pins: this.pins, notes: this.notes, inbox: this.inbox },
      ...{ remembered: () => this.remembered, texts: () => this.texts },
      attend: at => {
        this.inbox.attend(at, this.#wasPaused);
        this.#wasPaused = this.#paused;
        if (clockBehind() === this.#behindMs) return;
        this.#behindMs = clockBehind();
        this.remembered.setSetting(clockSetting, this.#behindMs);
      },
    });
    // Refresh even after an error, because the service may have stored part of the upload.
    this.jobs.onEnd(({ touches }) => {
      for (const queryKey of touches) void this.cache.invalidateQueries({ queryKey });
    });
    this.cache.getQueryCache().subscribe(({ type, query }) => {
      if (type === 'removed') this.restarts.drop(query.queryHash);
    });
    this.#stopObserving = observeAnswers(this.cache, {
      statuses: this.statuses,
      onObserved: (observations, times) => this.records.observed(observations, times),
      onAll: (all, { askedAt = 0 }) => this.records.keepOnly(all, askedAt),
      onGone: subject => this.records.gone(subject),
    });
  }

  /** The context for reads by the screen. */
  contextFor(service: Service, signal: AbortSignal): QueryContext {
    return { service, signal, memory: this.remembered, compare: this.compare };
  }

  /** The alarms for a benchmark's runs. */
  alarmsFor(benchId: string | undefined): AlarmRules {
    return rulesFor(this.alarms, [benchId, benchId === undefined ? undefined : this.benchmarkName(benchId)]);
  }

  /** A benchmark's name, if its record or its list has been read. */
  benchmarkName(id: string): string | undefined {
    const known = this.statuses.get({ kind: 'benchmark', id });
    if (known && known.label !== id) return known.label;
    const rows = this.lists.find(benchmarkKeys.list)?.data.rows;
    return (rows && namesOf(rows).get(id)) ?? this.remembered.seen.find('benchmark', id)?.label;
  }

  /** This service's remembered store, opened on first use. Saves nothing once the workbench is closed. */
  get remembered(): RememberedStore {
    this.#remembered ??= this.#closing ? RememberedStore.inMemory(this.profile) : this.#openRemembered();
    return this.#remembered;
  }

  /** The index of searched trajectory text, opened on first use. Saves nothing once the workbench is closed. */
  get texts(): TextIndex {
    this.#texts ??= this.#closing ? textsInMemory(this.profile) : this.#openTexts();
    return this.#texts;
  }

  /** Describes the work that would be lost on exiting or switching services now. */
  unfinishedWork(): string[] {
    const jobs = this.jobs.list().filter(job => job.busy);
    const others = [...this.unfinished.values()].map(({ words }) => words);
    return [
      ...jobs.map(({ title }) => clean`${title}. Sent data is kept, and the upload can be resumed`),
      ...this.exports.list().map(({ title }) => clean`The export of ${title}. Its file will not be written`),
      ...new Set(others),
    ];
  }

  /** When this workbench was opened, by the current clock; older data is from an earlier session. In epoch ms. */
  get openedAt(): number {
    const { at, monotonic } = this.#opened;
    // The monotonic clock stops while the machine is asleep, which would make the time too late.
    return Math.min(at, Date.now() - (performance.now() - monotonic));
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Pauses or resumes polling. A manual refresh still works. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#wasPaused = true;
    this.#listeners.notify();
  }

  readonly subscribe = this.#listeners.subscribe;

  /** Refreshes the data on screen after the service restarts, because polls may have backed off. */
  readonly #follow = (): void => {
    const { state } = this.connection;
    if (state.kind !== 'connected' || state.generation === this.#generation) return;
    const isFirst = this.#generation === 0;
    this.#generation = state.generation;
    // Polls also back off if the first start fails.
    if (!isFirst || this.fails(affectsAllRequests)) this.refresh();
  };

  /** Refreshes the data on screen now, even if its polls have backed off. */
  refresh(): void {
    this.failed.forget();
    void this.cache.refetchQueries({ type: 'active' }, { cancelRefetch: false });
  }

  /** Whether the last read by any query on screen failed with an error that `isMatch` accepts. */
  fails(isMatch: (error: unknown) => boolean): boolean {
    return this.cache
      .getQueryCache()
      .getAll()
      .some(query => query.isActive() && isMatch(query.state.error ?? this.failed.lastError(query.queryHash)));
  }

  /** After a manual refresh: tries endpoints again that the service did not offer. */
  async retryMissing(): Promise<void> {
    // Without a service, the next query reports the error.
    await this.service()
      .then(({ capabilities }) => capabilities.forget())
      .catch(() => {});
    // Lists off screen are not read here, but their errors are cleared.
    const isRefused = ({ state, meta }: Query): boolean =>
      isLastingRefusal(state.error) || (state.fetchStatus === 'fetching' && state.data === undefined && !!meta?.rows);
    await this.cache.resetQueries({ type: 'inactive', predicate: isRefused });
  }

  /** Pauses all requests while the program is suspended. Afterwards, refreshes the data on screen once. */
  setSuspended(suspended: boolean): void {
    focusManager.setFocused(!suspended);
  }

  /** Stops all work and lets the process exit. Busy jobs record their progress before the store closes. */
  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#stopObserving();
    this.#stopFollowing();
    this.failed.close();
    this.cache.clear();
    for (const { stop } of [...this.unfinished.values()]) stop?.();
    this.exports.stop();
    const busy = this.jobs.list().filter(job => job.busy);
    for (const job of busy) job.cancel();
    if (busy.length === 0) this.#closeStore();
    else {
      const ended = busy.map(job => new Promise<void>(resolve => job.onEnd(resolve)));
      void Promise.all(ended).then(() => this.#closeStore());
    }
  }

  /**
   * Writes and closes the store synchronously, for an immediate exit. Otherwise the next session would have to recover
   * the file before its first frame.
   */
  closeNow(): void {
    this.#closing = true;
    this.#closeStore(exitBusyMs);
  }

  #closeStore(busyMs?: number): void {
    if (this.#remembered) this.inbox.save();
    this.#remembered?.close(busyMs);
    this.#texts?.close();
    this.#texts = undefined;
    this.#remembered = undefined;
    this.#setClosed();
  }
}

const textsInMemory = (service: string): TextIndex =>
  TextIndex.inMemory({ service, mostBytes: Number.POSITIVE_INFINITY });

/** The names of the listed benchmarks, by id. */
const namesOf = perObject(
  (rows: readonly object[]) =>
    new Map(
      (rows as readonly Benchmark[]).flatMap(({ bench_id, label }) => (label ? [[bench_id, label] as const] : [])),
    ),
);

export type { AlarmRules, ConnectionState, GateState, Service };
