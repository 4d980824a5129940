/** What the screens share: the service, the cache of its answers, and whether polling is on. */
import { environmentManager, focusManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
import { isRunning } from '../contract/status.ts';
import { type GateMonitor, openGate } from '../service/gate.ts';
import type { Service } from '../service/index.ts';
import { type ConnectionMonitor, type ConnectionState, fixedConnection } from '../service/supervisor.ts';
import type { Removed } from './action.ts';
import { Exports } from './exports.ts';
import type { Kinds } from './kinds.ts';
import { Lists } from './lists/lists.ts';
import { Pins } from './pins.ts';
import { defaultIntervals, type PollIntervals } from './polling.ts';
import { RememberedStore } from './remembered/store.ts';
import { observeAnswers, type Subject } from './statuses/observe.ts';
import { lostAfterMs, type Observation, StatusStore } from './statuses/store.ts';
import type { Job, JobState } from './uploads/job.ts';

// In Node react-query believes that it renders on a server, where it never polls and never retries.
environmentManager.setIsServer(() => false);

/** What answers after this long without a reader is forgotten. */
const forgetAfterMs = 10 * 60_000;

export interface WorkbenchOptions {
  /** What must be known of resources to keep their statuses. */
  readonly kinds: Kinds;
  /** Returns the service, loading and connecting it the first time. */
  readonly service: () => Promise<Service>;
  /** How the connection to the service is; always there if it is not given. */
  readonly connection?: ConnectionMonitor;
  /** Whether the host of the service takes requests; it always does if this is not given. */
  readonly gate?: GateMonitor;
  /** Name of the profile, for the frame. */
  readonly profile: string;
  /** Hides and refuses everything that writes. */
  readonly readOnly?: boolean;
  /** Whether conversations are kept on disk. */
  readonly keepsChats?: boolean;
  /** How often is asked; the usual if it is missing. */
  readonly poll?: PollIntervals;
  /** Opens what is remembered between two starts; in memory only, if it is not given. */
  readonly remembered?: () => RememberedStore;
}

/** Something that would be lost. */
export interface UnfinishedWork {
  /** In words, such as `The answer of model-a in the chat`. */
  readonly words: string;
  /** Ends it, so that what there is of it can be kept. */
  readonly stop?: (() => void) | undefined;
}

/** One connection of the screen to a service. */
export class Workbench {
  readonly service: () => Promise<Service>;
  readonly connection: ConnectionMonitor;
  readonly gate: GateMonitor;
  readonly kinds: Kinds;
  readonly profile: string;
  readonly readOnly: boolean;
  readonly keepsChats: boolean;
  readonly poll: PollIntervals;
  readonly cache = new QueryClient({
    defaultOptions: {
      queries: {
        retry: false,
        gcTime: forgetAfterMs,
        staleTime: 1_000,
        // After a suspension what is on screen is read once, unless polling is stopped.
        refetchOnWindowFocus: () => !this.#paused,
        refetchOnReconnect: false,
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always', gcTime: 0 },
    },
  });
  /** The lists that were read. */
  readonly lists = new Lists(
    this.cache,
    async signal => ({ service: await this.service(), signal, memory: this.remembered }),
    () => (this.#closing ? undefined : this.remembered),
  );
  /** What is older was read by an earlier start of the program. Epoch milliseconds. */
  readonly openedAt = Date.now();
  /** Failures since the last success, by query. */
  readonly failures = new Map<string, number>();
  /** What is known of everything that has a status. */
  readonly statuses: StatusStore;
  readonly pins: Pins;
  /** Work that continues whatever is on screen, by id. */
  readonly jobs = new Map<string, Job<JobState>>();
  readonly exports = new Exports();
  /** What would be lost besides jobs if the program ended, by an id of its own. */
  readonly unfinished = new Map<string, UnfinishedWork>();
  /** Resolves once everything has been written and closed, after `close`. */
  readonly closed: Promise<void>;
  readonly #setClosed: () => void;
  #closing = false;
  readonly #stopObserving: () => void;
  #paused = false;
  readonly #stopFollowing: () => void;
  /** Of the service that answered last. */
  #generation = 0;
  readonly #listeners = new Set<() => void>();

  readonly #openRemembered: () => RememberedStore;
  #remembered: RememberedStore | undefined;

  constructor(options: WorkbenchOptions) {
    const { service, profile, readOnly = false, keepsChats = true, poll = defaultIntervals, remembered } = options;
    this.connection = options.connection ?? fixedConnection;
    this.gate = options.gate ?? openGate;
    this.#stopFollowing = this.connection.subscribe(this.#follow);
    this.kinds = options.kinds;
    this.statuses = new StatusStore(options.kinds);
    this.keepsChats = keepsChats;
    this.poll = poll;
    this.#openRemembered = remembered ?? (() => RememberedStore.inMemory(profile));
    this.service = service;
    this.profile = profile;
    this.readOnly = readOnly;
    ({ promise: this.closed, resolve: this.#setClosed } = Promise.withResolvers<void>());
    this.pins = new Pins(() => this.remembered);
    this.lists.recallCounts();
    this.recall();
    this.#stopObserving = observeAnswers(this.cache, {
      statuses: this.statuses,
      onObserved: (observations, { at }) => this.#remember(observations, at),
      onGone: subject => {
        this.statuses.gone(subject, this.pins.has(subject.kind, subject.id));
        this.#forget(subject);
      },
    });
  }

  /** Takes in what was seen to run, by earlier starts of the program and by others, and what they knew of the pins. */
  recall(now = Date.now()): void {
    const { statuses, pins, remembered } = this;
    const pinned = pins.list().filter(pin => statuses.get(pin) === undefined);
    statuses.recall(
      pinned.map(pin => {
        const seen = remembered.find(pin.kind, pin.id);
        return { ...pin, status: seen?.status, seenAt: seen?.seenAt ?? 0 };
      }),
    );
    const recent = remembered.seenSince(now - lostAfterMs);
    statuses.recall(recent.filter(({ kind, status }) => statuses.runs(kind) && isRunning(status)));
  }

  /** Keeps what was read for the next start. It is written later, by the store. */
  #remember(observations: readonly Observation[], at: number): void {
    const kept = observations.filter(({ kind, record }) => record !== undefined || this.statuses.runs(kind));
    this.remembered.see(kept, at);
    for (const { kind, id, done } of kept) {
      if (this.kinds.get(kind)?.recordsProgress && done != null) this.remembered.recordProgress(id, done, at);
    }
  }

  /** Takes in what this program has just started. */
  started(observation: Observation, at = Date.now()): void {
    this.statuses.started(observation, at);
    this.#remember([{ status: 'pending', ...observation }], at);
  }

  /** Drops what this program has just deleted, also from the lists whose keys begin with one of `touches`. */
  deleted({ kind, id }: Removed, touches: readonly (readonly unknown[])[]): void {
    for (const under of touches) this.lists.remove(under, [id]);
    if (kind === undefined) return;
    this.statuses.forget({ kind, id });
    this.#forget({ kind, id });
  }

  #forget({ kind, id }: Subject): void {
    this.pins.remove(kind, id);
    this.remembered.forget(kind, id);
  }

  /** What was seen on this service; opened when it is first asked for. Once this is closed, nothing more is kept. */
  get remembered(): RememberedStore {
    this.#remembered ??= this.#closing ? RememberedStore.inMemory(this.profile) : this.#openRemembered();
    return this.#remembered;
  }

  /** What would be lost if the program ended now, or showed another service, in words. */
  unfinishedWork(): string[] {
    const jobs = [...this.jobs.values()].filter(job => job.busy);
    const others = [...this.unfinished.values()].map(({ words }) => words);
    return [
      ...jobs.map(({ title }) => `${title}. What was sent is kept, and it can be resumed`),
      ...this.exports.list().map(({ title }) => `The export of ${title}. Its file is not written`),
      ...new Set(others),
    ];
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Stops or resumes polling. A refresh by hand works all the same. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** After the service was started again, what is on screen is read at once: its polls may be far apart by then. */
  readonly #follow = (): void => {
    const { state } = this.connection;
    if (state.kind !== 'connected' || state.generation === this.#generation) return;
    const isFirst = this.#generation === 0;
    this.#generation = state.generation;
    if (!isFirst) this.readAgain();
  };

  /** Reads at once what is on screen, however far apart its polls have become. */
  readAgain(): void {
    this.failures.clear();
    void this.cache.refetchQueries({ type: 'active' }, { cancelRefetch: false });
  }

  /** Whether something on screen failed last with such an error. */
  fails(isSuch: (error: unknown) => boolean): boolean {
    return this.cache
      .getQueryCache()
      .getAll()
      .some(query => query.isActive() && isSuch(query.state.error));
  }

  /** Has what the service did not offer asked for again, for a user who wants to see what is there now. */
  async retryMissing(): Promise<void> {
    // If there is no service, the query that is sent next says so.
    await this.service()
      .then(({ capabilities }) => capabilities.forget())
      .catch(() => {});
  }

  /** Asks nothing while the program is suspended. On return everything on screen is asked for once. */
  setSuspended(suspended: boolean): void {
    focusManager.setFocused(!suspended);
  }

  /** Ends what is under way, and lets the process end. Jobs that are busy note how far they are before the store closes. */
  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#stopObserving();
    this.#stopFollowing();
    this.cache.clear();
    for (const { stop } of [...this.unfinished.values()]) stop?.();
    this.exports.stop();
    const busy = [...this.jobs.values()].filter(job => job.busy);
    for (const job of busy) job.cancel();
    if (busy.length === 0) this.#closeStore();
    else void Promise.all(busy.map(ended)).then(() => this.#closeStore());
  }

  /**
   * Writes what is to be remembered and closes the file, within the call: for an end that waits for nothing. A file that is
   * left open is recovered by the next start before its first frame.
   */
  closeNow(): void {
    this.#closing = true;
    this.#closeStore();
  }

  #closeStore(): void {
    this.#remembered?.close();
    this.#remembered = undefined;
    this.#setClosed();
  }
}

/** Resolves once a job is not busy any more. */
function ended(job: Job<JobState>): Promise<void> {
  return new Promise(resolve => {
    const stop = job.subscribe(() => {
      if (job.busy) return;
      stop();
      resolve();
    });
  });
}

export type { ConnectionMonitor, ConnectionState, Service };

const WorkbenchContext = createContext<Workbench | undefined>(undefined);

export function WorkbenchProvider({ workbench, children }: { workbench: Workbench; children: ReactNode }) {
  return (
    <WorkbenchContext value={workbench}>
      <QueryClientProvider client={workbench.cache}>{children}</QueryClientProvider>
    </WorkbenchContext>
  );
}

export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (!workbench) throw new Error('useWorkbench needs a WorkbenchProvider above it');
  return workbench;
}

/** Whether the user has stopped the polling. */
export function usePaused(): boolean {
  const workbench = useWorkbench();
  return useSyncExternalStore(workbench.subscribe, () => workbench.paused);
}
