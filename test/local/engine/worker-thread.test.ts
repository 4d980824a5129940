/**
 * Orders of a worker that dies. The thread is a test double, because a real one cannot be made to die in
 * two steps.
 */
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LocalModel, TrainingOrder } from '../../../src/local/engine/messages.ts';
import { eventually } from '../../eventually.ts';

class FakeWorker extends EventEmitter {
  readonly orders: { readonly id: number; readonly kind?: string }[] = [];
  terminated = false;

  constructor() {
    super();
    workers.push(this);
  }

  postMessage(order: { readonly id: number }): void {
    this.orders.push(order);
  }

  unref(): void {}

  /** One that is stuck in native code never ends. */
  terminate(): Promise<number> {
    this.terminated = true;
    return new Promise(() => {});
  }

  answer(index: number): void {
    const answer = { text: 'yes', tokens: [], prompt_tokens: 1, completion_tokens: 1, finish_reason: 'stop' };
    this.emit('message', { kind: 'answer', id: this.orders[index]?.id, answer });
  }
}

const workers: FakeWorker[] = [];
vi.doMock('node:worker_threads', () => ({ Worker: FakeWorker }));
const { WorkerThread } = await import('../../../src/local/engine/worker-thread.ts');

const model = {} as LocalModel;
const never = new AbortController().signal;

describe('a worker that dies', () => {
  beforeEach(() => {
    workers.length = 0;
  });

  it('fails its own tasks, once', async () => {
    const thread = new WorkerThread({ name: 'test' });
    const lost = [thread.probe(model, never), thread.probe(model, never)].map(order =>
      expect(order).rejects.toThrow('out of memory'),
    );
    workers[0]?.emit('error', new Error('out of memory'));
    workers[0]?.emit('exit', 1);
    await Promise.all(lost);
  });

  it('leaves alone the tasks that its replacement got before it exited', async () => {
    const thread = new WorkerThread({ name: 'test' });
    const lost = expect(thread.probe(model, never)).rejects.toThrow('out of memory');
    workers[0]?.emit('error', new Error('out of memory'));
    await lost;
    const next = thread.probe(model, never);
    workers[0]?.emit('exit', 1);
    workers[1]?.answer(0);
    expect((await next).text).toBe('yes');
    expect(workers).toHaveLength(2);
  });
});

describe('an answer that is no longer needed', () => {
  it('rejects at once when its job is cancelled, and the thread continues (V3)', async () => {
    workers.length = 0;
    const thread = new WorkerThread({ name: 'test' });
    const cancelled = new AbortController();
    const lost = thread.probe(model, cancelled.signal);
    const next = thread.probe(model, never);
    cancelled.abort();
    await expect(lost).rejects.toMatchObject({ name: 'AbortError' });
    workers[0]?.answer(0);
    workers[0]?.answer(1);
    expect((await next).text).toBe('yes');
  });
});

describe('a grader that hangs', () => {
  const order = { task_id: 'one', sample: 0, grader: { kind: 'regex', pattern: 'a' } } as const;
  const answer = { text: '', tokens: [], prompt_tokens: 0, completion_tokens: 0, finish_reason: 'stop' } as const;

  it('costs its answer the reward and ends its thread, and the next one is graded (X1)', async () => {
    workers.length = 0;
    const thread = new WorkerThread({ name: 'test' });
    const hanging = thread.grade({ order, calls: [], answer, latency_ms: 5 }, never, 1);
    const next = thread.grade({ order: { ...order, task_id: 'two' }, calls: [], answer, latency_ms: 5 }, never);
    expect(await hanging).toMatchObject({
      task_id: 'one',
      reward: null,
      error: expect.stringContaining('takes longer'),
    });
    expect(workers[0]?.terminated).toBe(true);
    expect(workers[0]?.orders.map(({ kind }) => kind)).toEqual(['grade', 'cancel']);
    await eventually(() => expect(workers[1]?.orders).toHaveLength(1));
    const result = {
      task_id: 'two',
      grader: null,
      calls: [],
      step_rewards: [],
      answer,
      reward: 1,
      explanation: '',
      error: null,
      latency_ms: 5,
    };
    workers[1]?.emit('message', { kind: 'graded', id: workers[1].orders[0]?.id, result });
    expect(await next).toEqual(result);
  });

  it('is stopped with its job, and queued answers are graded or never started', async () => {
    workers.length = 0;
    const thread = new WorkerThread({ name: 'test' });
    const cancelled = new AbortController();
    const all = [
      thread.grade({ order, calls: [], answer, latency_ms: 5 }, cancelled.signal),
      thread.grade({ order, calls: [], answer, latency_ms: 5 }, cancelled.signal),
    ];
    const ended = Promise.all(all.map(each => expect(each).rejects.toMatchObject({ name: 'AbortError' })));
    const other = thread.grade({ order, calls: [], answer, latency_ms: 5 }, never);
    await eventually(() => expect(workers[0]?.orders).toHaveLength(1));
    cancelled.abort();
    await ended;
    expect(workers[0]?.terminated).toBe(true);
    await eventually(() => expect(workers[1]?.orders).toHaveLength(1));
    const result = {
      task_id: 'one',
      grader: null,
      calls: [],
      step_rewards: [],
      answer,
      reward: 1,
      explanation: '',
      error: null,
      latency_ms: 5,
    };
    workers[1]?.emit('message', { kind: 'graded', id: workers[1].orders[0]?.id, result });
    expect(await other).toEqual(result);
  });
});

describe('cancelled training', () => {
  const begin = (limitMs: number) => {
    workers.length = 0;
    const cancelled = new AbortController();
    const training = new WorkerThread({ name: 'test' }).train({} as TrainingOrder, cancelled.signal, () => {}, limitMs);
    const say = (message: object) => workers[0]?.emit('message', { id: workers[0].orders[0]?.id, ...message });
    return { training, say, cancel: () => cancelled.abort() };
  };

  it('stops its thread if its step does not end', async () => {
    const { training, cancel } = begin(1);
    const lost = expect(training).rejects.toThrow('its last step took too long');
    expect(workers[0]?.terminated).toBe(false);
    cancel();
    await lost;
    expect(workers[0]?.orders.map(({ kind }) => kind)).toEqual(['train', 'cancel']);
    expect(workers[0]?.terminated).toBe(true);
  });

  it('gets time to save what it has learned', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { training, say, cancel } = begin(1_000);
    cancel();
    vi.advanceTimersByTime(999);
    say({ kind: 'news', news: { kind: 'stopping' } });
    vi.advanceTimersByTime(60_000);
    expect(workers[0]?.terminated).toBe(false);
    say({ kind: 'trained', finished: false });
    expect(await training).toBe(false);
  });
});
