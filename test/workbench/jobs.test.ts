/** Background jobs: how a run starts and ends, and its events. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Service } from '../../src/service/index.ts';
import { Job, type JobState, Jobs } from '../../src/workbench/jobs.ts';
import { fakeService } from '../service/fake-service.ts';

class Work extends Job<JobState & { readonly by?: string }> {
  readonly share = 0;
  readonly hasStarted = false;
  readonly outcome = '';
  readonly #work: (service: Service, signal: AbortSignal) => Promise<void>;

  constructor(id: string, work: (service: Service, signal: AbortSignal) => Promise<void> = async () => {}) {
    super(id, { label: `the ${id}\n`, touches: [['trajectories']] }, { phase: 'new', error: undefined });
    this.#work = work;
  }

  protected override begin = () => ({ phase: 'connecting' });
  protected override async work(service: Service): Promise<Partial<JobState>> {
    await this.#work(service, this.signal);
    return { phase: 'done' };
  }
  protected override end = (cancelled: boolean, error: Error) => ({ phase: cancelled ? 'cancelled' : 'failed', error });

  say(phase: string): void {
    this.set({ phase });
  }
}

function timed() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 1_000 });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

const service = fakeService();

describe('a job', () => {
  it('has the times of its last run, and is busy in between', async () => {
    timed();
    const { promise, resolve } = Promise.withResolvers<void>();
    const job = new Work('folder', () => promise);
    const times = () => [job.busy, job.startedAt, job.endedAt, job.state.phase];
    expect([times(), job.title, job.touches, job.dataset]).toEqual([
      [false, undefined, undefined, 'new'],
      'The upload of the folder ',
      [['trajectories']],
      undefined,
    ]);
    const ended = vi.fn();
    job.onEnd(ended);
    const connect = vi.fn(async () => service);
    const run = job.run(connect);
    expect(times()).toEqual([true, 1_000, undefined, 'connecting']);
    await job.run(connect);
    expect(connect).toHaveBeenCalledTimes(1);
    vi.setSystemTime(3_000);
    resolve();
    await run;
    expect([times(), ended.mock.calls.length]).toEqual([[false, 1_000, 3_000, 'done'], 1]);
    vi.setSystemTime(4_000);
    const again = job.run(connect);
    expect(times()).toEqual([true, 4_000, undefined, 'connecting']);
    await again;
  });

  it('says why it ended early, and whether the user stopped it', async () => {
    const failing = new Work('a', () => Promise.reject(new Error('refused')));
    await failing.run(async () => service);
    expect(failing.state).toEqual({ phase: 'failed', error: new Error('refused') });
    const stopped = new Work('b', (_, signal) => {
      stopped.cancel();
      return Promise.reject(signal.reason);
    });
    await stopped.run(async () => service);
    expect(stopped.state.phase).toBe('cancelled');
    const connecting = new Work('c');
    const run = connecting.run(() => new Promise(() => {}));
    connecting.cancel();
    await run;
    expect(connecting.state).toMatchObject({ phase: 'cancelled', error: { name: 'StoppedError' } });
    await connecting.run(async () => service);
    expect(connecting.state.phase).toBe('done');
  });

  it('does nothing in read-only mode', async () => {
    const work = vi.fn(async () => {});
    const requireWrites = () => {
      throw new Error('read-only');
    };
    const job = new Work('a', work);
    await job.run(async () => fakeService({}, { requireWrites }));
    expect([job.state.error?.message, work.mock.calls.length]).toEqual(['read-only', 0]);
  });

  it('reports changes ten times a second at most, including the last', async () => {
    timed();
    const job = new Work('a');
    const told: string[] = [];
    const busy: boolean[] = [];
    job.subscribe(() => {
      told.push(job.state.phase);
      busy.push(job.busy);
    });
    for (const phase of ['1', '2', '3']) job.say(phase);
    await vi.advanceTimersByTimeAsync(99);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual(['3']);
    await vi.advanceTimersByTimeAsync(1_000);
    job.say('4');
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toEqual(['3', '4']);
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = new Work('b', () => promise);
    run.subscribe(() => busy.push(run.busy));
    const ended = run.run(async () => service);
    await vi.advanceTimersByTimeAsync(100);
    resolve();
    await ended;
    await vi.advanceTimersByTimeAsync(100);
    expect(busy).toEqual([false, false, true, false]);
  });
});

describe('the jobs of a program', () => {
  it('are listed in the order they were added, each id once, with events when they change or end', async () => {
    timed();
    const jobs = new Jobs();
    const [told, ends] = [vi.fn(), vi.fn()];
    jobs.subscribe(told);
    jobs.onEnd(ends);
    const [a, b, other] = [new Work('a'), new Work('b'), new Work('a')];
    jobs.add(a);
    jobs.add(b);
    const list = jobs.list();
    expect([list, jobs.get('a'), jobs.get('c'), told.mock.calls.length]).toEqual([[a, b], a, undefined, 2]);
    expect(jobs.list()).toBe(list);
    jobs.add(other);
    expect(jobs.list()).toEqual([b, other]);
    expect([jobs.get('a'), told.mock.calls.length]).toEqual([other, 3]);
    b.say('on');
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toHaveBeenCalledTimes(4);
    await b.run(async () => service);
    expect(ends.mock.calls).toEqual([[b]]);
  });

  it('are removed once they stop', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const jobs = new Jobs();
    const job = new Work('a', () => promise);
    jobs.add(job);
    const run = job.run(async () => service);
    jobs.remove('a');
    expect(jobs.list()).toEqual([job]);
    resolve();
    await run;
    jobs.remove('a');
    jobs.remove('never added');
    expect([jobs.list(), jobs.get('a')]).toEqual([[], undefined]);
  });

  it('are kept while they run, however many have ended', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const jobs = new Jobs();
    const job = new Work('first', () => promise);
    jobs.add(job);
    const run = job.run(async () => service);
    for (let index = 0; index < 30; index += 1) jobs.add(new Work(`${index}`));
    expect([jobs.get('first'), jobs.list().length]).toEqual([job, 22]);
    resolve();
    await run;
  });
});
