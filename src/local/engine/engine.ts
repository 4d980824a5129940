/**
 * The local service's background work: independent queues of jobs. All pending work is in the database, so that a
 * killed process resumes where it stopped.
 */
import type { JobAttempts, JobKind, SetAside } from '../store/job-attempts.ts';
import { Deployer } from './deployments.ts';
import { EvaluationRunner } from './evaluations.ts';
import { ImageBuilder } from './images.ts';
import { JobQueue, type JobSource, type WaitingJob } from './job-queue.ts';
import type { EngineParts } from './parts.ts';
import { TrainingRunner } from './training.ts';

/**
 * After a crash, interrupted jobs resume one by one, this many milliseconds apart. This shows which one crashes the
 * service, and leaves time to cancel it.
 */
const resumeEveryMs = 1_000;

export class Engine {
  readonly #attempts: JobAttempts;
  readonly #sources: Readonly<Record<JobKind, JobSource>>;
  readonly #queues: Readonly<Record<JobKind, JobQueue>>;
  readonly deployer: Deployer;

  constructor(parts: EngineParts) {
    const { attempts } = parts;
    this.#attempts = attempts;
    this.deployer = new Deployer(parts);
    this.#sources = {
      'image build': new ImageBuilder(parts),
      evaluation: new EvaluationRunner(parts),
      training: new TrainingRunner(parts),
      deployment: this.deployer,
    };
    const queues = Object.values(this.#sources).map(source => [source.kind, new JobQueue(source, attempts)]);
    this.#queues = Object.fromEntries(queues) as Record<JobKind, JobQueue>;
  }

  get busy(): boolean {
    return Object.values(this.#queues).some(queue => queue.busy);
  }

  /** Jobs that were set aside because the service crashed while they were running; none if they cannot be read. */
  get setAside(): SetAside[] {
    try {
      return this.#attempts.setAside();
    } catch {
      // The health check has to work even if the database fails.
      return [];
    }
  }

  /** Jobs that are waiting until an external problem, such as a full disk, is solved. */
  get waiting(): WaitingJob[] {
    return Object.values(this.#queues).flatMap(({ waiting }) => waiting);
  }

  /** Why a job is waiting to be retried; null if it is not. */
  problemOf(kind: JobKind, id: string): string | null {
    return this.#queues[kind].problemOf(id);
  }

  /** At startup, before the first `wake`: completes interrupted work, and sets aside jobs that crash the service. */
  recover(): void {
    this.deployer.recover();
    for (const [index, { id, kind }] of this.#attempts.recover(this.#sources).entries()) {
      this.#queues[kind].hold(id, (index + 1) * resumeEveryMs);
    }
  }

  /** After the current request, looks for new work and for jobs that have been cancelled or deleted. Never throws. */
  wake = (): void => {
    for (const queue of Object.values(this.#queues)) queue.wake();
  };

  /** Stops all work, which the next start resumes. */
  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#queues).map(queue => queue.stop()));
  }
}
