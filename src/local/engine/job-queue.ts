/**
 * Runs the jobs of one kind concurrently: a job that hangs or fails does not delay the others. The queue tracks only
 * running jobs, because all pending work is in the database.
 */
import { errorMessage, errorStack, isDiskFull } from '../../base/errors.ts';
import type { JobAttempts, JobKind, JobRecords } from '../store/job-attempts.ts';

/** How long to wait before retrying a job that failed for an external reason, such as a full disk. */
const retryMs = 5_000;

export interface Job {
  readonly id: string;
  /** The job has been cancelled: it runs at once, with an aborted signal. */
  readonly isCancelled?: boolean;
  /**
   * Runs the job to completion. The signal aborts if the job is cancelled or deleted, or the service stops; the job
   * then ends as soon as it can.
   *
   * @throws Error for an external reason; the job is then retried
   */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface JobSource extends JobRecords {
  readonly kind: JobKind;
  /** How many jobs may run at once. */
  readonly concurrency: number;
  /** The unfinished jobs, oldest first, including a killed process's jobs. */
  readonly jobs: () => readonly Job[];
}

/** A job that is waiting until an external problem is solved. */
export interface WaitingJob {
  readonly id: string;
  readonly kind: JobKind;
  readonly message: string;
}

const problemOf = (error: unknown): string =>
  isDiskFull(error)
    ? 'The disk of this machine is full. It continues on its own once there is some space.'
    : errorMessage(error);

interface RunningJob {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

export class JobQueue {
  readonly #source: JobSource;
  readonly #attempts: JobAttempts;
  readonly #running = new Map<string, RunningJob>();
  /** The timers of delayed jobs. */
  readonly #held = new Map<string, NodeJS.Timeout>();
  /** Why each job's last attempt failed. */
  readonly #problems = new Map<string, string>();
  #nextLook: NodeJS.Immediate | undefined;
  #retriedLook: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(source: JobSource, attempts: JobAttempts) {
    this.#source = source;
    this.#attempts = attempts;
  }

  get busy(): boolean {
    return this.#running.size > 0 || this.#held.size > 0 || this.#nextLook !== undefined;
  }

  /** Why a job is waiting to be retried; null if it is not, e.g. because the retry is running. */
  problemOf(id: string): string | null {
    return this.#running.has(id) ? null : (this.#problems.get(id) ?? null);
  }

  get waiting(): WaitingJob[] {
    const { kind } = this.#source;
    return [...this.#problems.keys()].flatMap(id => {
      const message = this.problemOf(id);
      return message === null ? [] : [{ id, kind, message }];
    });
  }

  /** After the current request, looks for new jobs and ends cancelled and deleted ones. Never throws. */
  wake = (): void => {
    if (this.#stopped || this.#nextLook) return;
    this.#nextLook = setImmediate(() => this.#look());
  };

  /** Delays the start of a job by this many milliseconds, replacing any earlier delay. */
  hold(id: string, ms: number): void {
    clearTimeout(this.#held.get(id));
    const release = (): void => {
      this.#held.delete(id);
      this.wake();
    };
    this.#held.set(id, setTimeout(release, ms).unref());
  }

  #look(): void {
    this.#nextLook = undefined;
    clearTimeout(this.#retriedLook);
    let jobs: readonly Job[];
    try {
      jobs = this.#source.jobs();
    } catch (error) {
      this.#report(error);
      this.#retriedLook = setTimeout(this.wake, retryMs).unref();
      return;
    }
    const cancelled = new Set(jobs.flatMap(({ id, isCancelled }) => (isCancelled ? [] : [id])));
    for (const [id, { controller }] of this.#running) if (!cancelled.has(id)) controller.abort();
    for (const id of this.#problems.keys()) if (!cancelled.has(id)) this.#problems.delete(id);
    for (const job of jobs) {
      if (this.#running.has(job.id) || this.#held.has(job.id)) continue;
      if (this.#running.size < this.#source.concurrency || job.isCancelled) this.#start(job);
    }
  }

  #start(job: Job): void {
    const controller = new AbortController();
    if (job.isCancelled) controller.abort();
    const ended = this.#run(job, controller.signal).finally(() => {
      this.#running.delete(job.id);
      this.wake();
    });
    this.#running.set(job.id, { controller, ended });
  }

  async #run({ id, run }: Job, signal: AbortSignal): Promise<void> {
    let isDone = false;
    try {
      this.#attempts.begin(id, this.#source.kind);
      await run(signal);
      isDone = !this.#stopped;
      this.#problems.delete(id);
    } catch (error) {
      this.#report(error);
      this.#problems.set(id, problemOf(error));
      if (!this.#stopped) this.hold(id, retryMs);
    }
    try {
      this.#attempts.end(id, isDone);
    } catch (error) {
      // The attempt matters only if the service crashes before the next one begins.
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    if (isDiskFull(error)) this.#attempts.pardon();
    process.stderr.write(`${this.#source.kind}: ${errorStack(error)}\n`);
  }

  /** Aborts all jobs and waits until they have ended; the next start resumes them. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearImmediate(this.#nextLook);
    for (const timer of [this.#retriedLook, ...this.#held.values()]) clearTimeout(timer);
    this.#held.clear();
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort();
    await Promise.all(running.map(({ ended }) => ended));
  }
}
