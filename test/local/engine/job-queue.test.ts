/**
 * The queue of jobs: each runs independently, ends when it is cancelled, and is tried again after an external failure.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Job, JobQueue } from '../../../src/local/engine/job-queue.ts';
import { Database } from '../../../src/local/store/database.ts';
import { JobAttempts } from '../../../src/local/store/job-attempts.ts';
import { eventually } from '../../eventually.ts';

/** Jobs by id; one that is done removes itself. */
class Work {
  readonly jobs = new Map<string, Job>();
  readonly started: string[] = [];
  readonly ended: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'benchtop-queue-'));
  readonly countFile = join(this.#folder, 'jobs-under-way');
  readonly attempts = new JobAttempts(new Database(':memory:'), this.countFile);
  failsToList = false;
  readonly queue: JobQueue;

  constructor(concurrency = 4) {
    onTestFinished(() => rmSync(this.#folder, { recursive: true }));
    const jobs = (): Job[] => {
      if (this.failsToList) throw new Error('the database is locked');
      return [...this.jobs.values()];
    };
    const source = { kind: 'evaluation', concurrency, jobs, progress: () => 0, fail: () => true } as const;
    this.queue = new JobQueue(source, this.attempts);
  }

  add(id: string, work: (signal: AbortSignal) => Promise<void> = async () => {}): void {
    this.jobs.set(id, {
      id,
      run: async signal => {
        this.started.push(id);
        await work(signal);
        this.jobs.delete(id);
        this.ended.push(id);
      },
    });
  }

  cancel(id: string): void {
    const job = this.jobs.get(id);
    if (job) this.jobs.set(id, { ...job, isCancelled: true });
  }
}

/** Work that ends only when it is aborted. */
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });

let errors: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => {
  vi.useRealTimers();
  errors.mockRestore();
});

describe('jobs', () => {
  it('that hang do not block others (V3)', async () => {
    const work = new Work();
    work.add('hangs', untilAborted);
    for (const id of ['a', 'b', 'c', 'd', 'e']) work.add(id);
    work.queue.wake();
    await eventually(() => expect(work.ended).toEqual(['a', 'b', 'c', 'd', 'e']));
    expect(work.queue.busy).toBe(true);
    await work.queue.stop();
  });

  it('run up to the limit, oldest first', async () => {
    const work = new Work(2);
    for (const id of ['a', 'b', 'c']) work.add(id, untilAborted);
    work.queue.wake();
    await eventually(() => expect(work.started).toEqual(['a', 'b']));
    work.jobs.delete('a');
    work.queue.wake();
    await eventually(() => expect(work.started).toEqual(['a', 'b', 'c']));
    await work.queue.stop();
  });

  it('end at once when they are cancelled or deleted (V3)', async () => {
    const work = new Work();
    const ends = vi.fn();
    for (const id of ['cancelled', 'deleted', 'other'])
      work.add(id, signal => untilAborted(signal).then(() => ends(id)));
    work.queue.wake();
    await eventually(() => expect(work.started).toHaveLength(3));
    work.cancel('cancelled');
    work.jobs.delete('deleted');
    work.queue.wake();
    await eventually(() => expect(ends.mock.calls).toEqual([['cancelled'], ['deleted']]));
    await work.queue.stop();
  });

  it('that are cancelled before their turn end while others run', async () => {
    const work = new Work(1);
    work.add('long', untilAborted);
    work.add('waits', untilAborted);
    work.queue.wake();
    await eventually(() => expect(work.started).toEqual(['long']));
    work.cancel('waits');
    work.queue.wake();
    await eventually(() => expect(work.ended).toEqual(['waits']));
    await work.queue.stop();
  });

  it('that fail for an external reason are retried, and say why they wait (V16)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const work = new Work();
    let isFull = true;
    const waitingInRetry: unknown[] = [];
    work.add('unlucky', async () => {
      if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      // It counts as running once it has begun.
      await Promise.resolve();
      waitingInRetry.push(work.queue.waiting, work.queue.problemOf('unlucky'));
    });
    work.add('other');
    work.queue.wake();
    await eventually(() => expect(work.queue.waiting).toHaveLength(1));
    expect(work.queue.waiting[0]).toMatchObject({ id: 'unlucky', message: expect.stringContaining('disk') });
    expect(work.ended).toEqual(['other']);
    // If the service is killed while it waits for room, that does not count against the job.
    expect(existsSync(work.countFile)).toBe(false);
    isFull = false;
    await vi.runAllTimersAsync();
    await eventually(() => expect(work.ended).toEqual(['other', 'unlucky']));
    expect([...waitingInRetry, work.queue.waiting]).toEqual([[], null, []]);
    await work.queue.stop();
  });

  it('wait as long as they were last asked to', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const work = new Work();
    work.add('held');
    work.add('other');
    work.queue.hold('held', 1_000);
    work.queue.hold('held', 3_000);
    /** Waits for pending promises without letting time pass, which would fire a timer. */
    const look = async () => {
      work.queue.wake();
      for (let turn = 0; turn < 5; turn += 1) await new Promise(resolve => setImmediate(resolve));
    };
    vi.advanceTimersByTime(2_999);
    await look();
    expect(work.ended).toEqual(['other']);
    vi.advanceTimersByTime(1);
    await look();
    expect(work.ended).toEqual(['other', 'held']);
    expect(vi.getTimerCount()).toBe(0);
    await work.queue.stop();
  });

  it('are polled again when they cannot be read, without an error for the caller of wake (V9)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const work = new Work();
    work.add('one');
    work.failsToList = true;
    expect(work.queue.wake).not.toThrow();
    await eventually(() => expect(errors).toHaveBeenCalledWith(expect.stringContaining('locked')));
    work.failsToList = false;
    await vi.runAllTimersAsync();
    await eventually(() => expect(work.ended).toEqual(['one']));
    await work.queue.stop();
  });

  it('that arrive while the last one ends run too', async () => {
    const work = new Work();
    work.add('first', async () => {
      queueMicrotask(() => {
        work.add('second');
        work.queue.wake();
      });
    });
    work.queue.wake();
    await eventually(() => expect(work.ended).toEqual(['first', 'second']));
    await work.queue.stop();
  });

  it('are aborted when the service stops, and no new ones start', async () => {
    const work = new Work(1);
    work.add('running', untilAborted);
    work.add('next');
    work.queue.wake();
    await eventually(() => expect(work.started).toEqual(['running']));
    await work.queue.stop();
    work.queue.wake();
    await new Promise(resolve => setImmediate(resolve));
    expect(work.started).toEqual(['running']);
  });
});
