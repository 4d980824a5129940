/**
 * What happens to orders when a worker dies. The thread is a test double, because a real one cannot be made to die in
 * two steps.
 */
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { LocalModel } from '../../../src/local/engine/messages.ts';

class FakeWorker extends EventEmitter {
  readonly orders: { readonly id: number }[] = [];

  constructor() {
    super();
    workers.push(this);
  }

  postMessage(order: { readonly id: number }): void {
    this.orders.push(order);
  }

  unref(): void {}

  answer(index: number): void {
    const answer = { text: 'yes', tokens: [], prompt_tokens: 1, completion_tokens: 1, finish_reason: 'stop' };
    this.emit('message', { kind: 'answer', id: this.orders[index]?.id, answer });
  }
}

const workers: FakeWorker[] = [];
vi.doMock('node:worker_threads', () => ({ Worker: FakeWorker }));
const { WorkerThread } = await import('../../../src/local/engine/worker-thread.ts');

const model = {} as LocalModel;

describe('a worker that dies', () => {
  beforeEach(() => {
    workers.length = 0;
  });

  it('fails the orders that it had, once', async () => {
    const thread = new WorkerThread({ name: 'test' });
    const lost = [thread.probe(model), thread.probe(model)].map(order =>
      expect(order).rejects.toThrow('out of memory'),
    );
    workers[0]?.emit('error', new Error('out of memory'));
    workers[0]?.emit('exit', 1);
    await Promise.all(lost);
  });

  it('leaves alone what its replacement was given before its own end came', async () => {
    const thread = new WorkerThread({ name: 'test' });
    const lost = expect(thread.probe(model)).rejects.toThrow('out of memory');
    workers[0]?.emit('error', new Error('out of memory'));
    await lost;
    const next = thread.probe(model);
    workers[0]?.emit('exit', 1);
    workers[1]?.answer(0);
    expect((await next).text).toBe('yes');
    expect(workers).toHaveLength(2);
  });
});
