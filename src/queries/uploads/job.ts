/** Background work that continues whatever is on screen: uploads. Jobs notify their listeners of every change. */

import type { Service } from '../../service/index.ts';
import { asError } from '../../text/errors.ts';
import { unlessStopped } from '../action.ts';

/** Returns the service, connecting first if needed. */
export type Connect = () => Promise<Service>;

/** The state shared by all jobs. */
export interface JobState {
  readonly phase: string;
  readonly error: Error | undefined;
}

/** Listeners are called at most this often: a file is sent in thousands of chunks. */
const notifyEveryMs = 100;

export abstract class Job<State extends JobState> {
  readonly id: string;
  /** Completes the question whether to interrupt it. */
  readonly title: string;
  #state: State;
  #running = false;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #stop = new AbortController();

  constructor(id: string, title: string, state: State) {
    this.id = id;
    this.title = title;
    this.#state = state;
  }

  /** Whether it is running, so that leaving the program would interrupt it. */
  get busy(): boolean {
    return this.#running;
  }

  get state(): State {
    return this.#state;
  }

  protected get signal(): AbortSignal {
    return this.#stop.signal;
  }

  protected set(state: Partial<State>): void {
    this.#state = { ...this.#state, ...state };
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const listener of this.#listeners) listener();
    }, notifyEveryMs).unref();
  }

  /** The state at the beginning of a run, before there is a connection. */
  protected abstract begin(): Partial<State>;

  /** Does the work. @throws whatever ends it early */
  protected abstract work(service: Service): Promise<void>;

  /** The state after a run that ended early; `cancelled` if the user stopped it. */
  protected abstract end(cancelled: boolean, error: Error): Partial<State>;

  /** Runs until it is done, has failed or is cancelled; it can be run again then. Never rejects: see the state. */
  async run(connect: Connect): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    this.#stop = new AbortController();
    this.set(this.begin());
    try {
      const service = await unlessStopped(connect(), this.signal);
      // Jobs exist to write: nothing is read from disk for what would be refused.
      service.requireWrites();
      await this.work(service);
    } catch (error) {
      this.set(this.end(this.signal.aborted, asError(error)));
    } finally {
      this.#running = false;
      // Notifies listeners that it is no longer busy.
      this.set({});
    }
  }

  /** Stops the current run. */
  cancel(): void {
    this.#stop.abort();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Ended jobs that are kept for their views. */
const keptEnded = 20;

/** Adds a job, replacing the one with its id. The oldest ended jobs are removed. */
export function addJob(jobs: Map<string, Job<JobState>>, job: Job<JobState>): void {
  jobs.delete(job.id);
  jobs.set(job.id, job);
  const ended = [...jobs.values()].filter(each => !each.busy && each !== job);
  for (const { id } of ended.slice(0, Math.max(0, ended.length - keptEnded))) jobs.delete(id);
}
