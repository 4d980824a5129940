/** Background jobs, i.e. uploads. They continue when the user leaves their view. */

import { asError } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import { unlessStopped } from '../queries/action.ts';
import type { Service } from '../service/index.ts';
import type { TrajectoryUploadRef } from '../store/sent-record.ts';
import { clean } from '../text/sanitise.ts';

/** Returns the service, connecting first if needed. */
export type Connect = () => Promise<Service>;

/** The state that all jobs have. The phases `done`, `failed` and `cancelled` end a run. */
export interface JobState {
  readonly phase: string;
  readonly error: Error | undefined;
}

interface JobSubject {
  /** The upload's name in sentences, e.g. `my-benchmark`. */
  readonly label: string;
  /** The dataset it uploads to; missing for a benchmark. */
  readonly dataset?: string;
  /** Prefixes of query keys. A run changes the results of these queries, even if it fails. */
  readonly touches: readonly (readonly unknown[])[];
}

/** Minimum interval between calls of a listener: a file may have thousands of chunks. */
const notifyEveryMs = 100;

export abstract class Job<State extends JobState> {
  readonly id: string;
  readonly label: JobSubject['label'];
  readonly dataset: JobSubject['dataset'] | undefined;
  readonly touches: JobSubject['touches'];
  #state: State;
  #running = false;
  #startedAt: number | undefined;
  #endedAt: number | undefined;
  readonly #listeners = new Listeners();
  readonly #ends = new Listeners();
  #timer: NodeJS.Timeout | undefined;
  #stop = new AbortController();

  constructor(id: string, { label, dataset, touches }: JobSubject, state: State) {
    this.id = id;
    this.label = label;
    this.dataset = dataset;
    this.touches = touches;
    this.#state = state;
  }

  /** The job's name in the question whether to interrupt it. */
  get title(): string {
    return clean`The upload of ${this.label}`;
  }

  /** Whether it uploads this file to this dataset. */
  isOf(_: TrajectoryUploadRef): boolean {
    return false;
  }

  /** The share of bytes sent, from 0 to 1. */
  abstract get share(): number;

  /** Whether it has recorded progress that it can resume from. */
  abstract get hasStarted(): boolean;

  /** Describes the result of a successful run, after the title in a sentence. */
  abstract get outcome(): string;

  /** Whether it is running, so that exiting would interrupt it. */
  get busy(): boolean {
    return this.#running;
  }

  /** When its last run began, in epoch milliseconds. */
  get startedAt(): number | undefined {
    return this.#startedAt;
  }

  /** When its last run ended, in epoch milliseconds; undefined while it is running. */
  get endedAt(): number | undefined {
    return this.#endedAt;
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
      this.#listeners.notify();
    }, notifyEveryMs).unref();
  }

  /** The state at the start of a run, before connecting. */
  protected abstract begin(): Partial<State>;

  /**
   * Does the work. Returns the final state, which no view may see while it is busy. @throws the error that ends it
   * early
   */
  protected abstract work(service: Service): Promise<Partial<State>>;

  /** The state after an error or a cancellation. */
  protected abstract end(cancelled: boolean, error: Error): Partial<State>;

  /** Runs until it is done, fails or is cancelled, and can then run again. Never rejects; the state holds the error. */
  async run(connect: Connect): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    this.#startedAt = Date.now();
    this.#endedAt = undefined;
    this.#stop = new AbortController();
    this.set(this.begin());
    try {
      const service = await unlessStopped(connect(), this.signal);
      // Check before the work reads the disk.
      service.requireWrites();
      this.set(await this.work(service));
    } catch (error) {
      this.set(this.end(this.signal.aborted, asError(error)));
    } finally {
      this.#running = false;
      this.#endedAt = Date.now();
      this.set({});
      this.#ends.notify();
    }
  }

  /** Stops the current run. */
  cancel(): void {
    this.#stop.abort();
  }

  readonly subscribe = this.#listeners.subscribe;

  /** Calls `listener` at the end of every run, until the returned function is called. */
  readonly onEnd = this.#ends.subscribe;
}

export type AnyJob = Job<JobState>;

/** Maximum number of ended jobs to keep for their views. */
const keptEnded = 20;

/** The jobs of this session. */
export class Jobs {
  readonly #jobs = new Map<string, AnyJob>();
  #list: readonly AnyJob[] = [];
  readonly #listeners = new Listeners();
  readonly #ends = new Listeners<AnyJob>();

  get(id: string): AnyJob | undefined {
    return this.#jobs.get(id);
  }

  /** All jobs, in the order they were added; the same array until something changes. */
  readonly list = (): readonly AnyJob[] => this.#list;

  /** Adds a job, or replaces the one with the same id. Removes the oldest ended jobs. */
  add(job: AnyJob): void {
    this.#jobs.delete(job.id);
    this.#jobs.set(job.id, job);
    const ended = [...this.#jobs.values()].filter(each => !each.busy && each !== job);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - keptEnded))) this.#jobs.delete(id);
    job.subscribe(this.#change);
    job.onEnd(() => this.#ends.notify(job));
    this.#change();
  }

  /** Removes a job that is not running. The record of its progress stays. */
  remove(id: string): void {
    if (this.#jobs.get(id)?.busy) return;
    this.#jobs.delete(id);
    this.#change();
  }

  readonly #change = (): void => {
    this.#list = [...this.#jobs.values()];
    this.#listeners.notify();
  };

  /** Calls `listener` after every change to a job, until the returned function is called. */
  readonly subscribe = this.#listeners.subscribe;

  /** Calls `listener` with each job that ends, until the returned function is called. */
  readonly onEnd = this.#ends.subscribe;
}
