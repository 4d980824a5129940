/** A worker thread as the service sees it: orders in, answers out. */
import { Worker } from 'node:worker_threads';
import type { ChatTurn, Generated, SampledToken, SamplingOptions } from '../model/policy.ts';
import type { FromWorker, RolloutOrder, RolloutResult, ToWorker } from './messages.ts';

/** The worker stands beside this file in the sources, and beside the program once it is built. */
function workerUrl(): URL {
  if (import.meta.url.endsWith('.ts')) return new URL('./worker.ts', import.meta.url);
  return new URL(import.meta.url.includes('/chunks/') ? '../worker.js' : './worker.js', import.meta.url);
}

type Listener = (message: FromWorker | { readonly kind: 'failed'; readonly message: string }) => void;

export class WorkerThread {
  #worker: Worker | undefined;
  readonly #listeners = new Map<number, Listener>();
  #orders = 0;

  /** Starts the thread with the first order, and again after it has died. */
  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(workerUrl(), { name: 'benchtop-models' });
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#listeners.get(message.id)?.(message));
    const died = (reason: string): void => {
      if (this.#worker === worker) this.#worker = undefined;
      const waiting = [...this.#listeners.values()];
      this.#listeners.clear();
      for (const listener of waiting) listener({ kind: 'failed', message: `The worker ended: ${reason}` });
    };
    worker.on('error', error => died(error instanceof Error ? error.message : String(error)));
    worker.on('exit', code => died(`exit code ${code}`));
    this.#worker = worker;
    return worker;
  }

  #send(message: ToWorker, listener: Listener): void {
    this.#listeners.set(message.id, listener);
    this.#started().postMessage(message);
  }

  /** @throws Error where the worker failed as a whole; a rollout that failed says so in its result */
  rollouts(model: string, rollouts: readonly RolloutOrder[]): Promise<readonly RolloutResult[]> {
    this.#orders += 1;
    const id = this.#orders;
    return new Promise((resolve, reject) => {
      this.#send({ kind: 'rollouts', id, model, rollouts }, message => {
        this.#listeners.delete(id);
        if (message.kind === 'rollouts') resolve(message.results);
        else if (message.kind === 'failed') reject(new Error(message.message));
      });
    });
  }

  /** Streams an answer; leaving the loop or aborting the signal stops the model. */
  async *chat(
    model: string,
    turns: readonly ChatTurn[],
    sampling: SamplingOptions,
    signal: AbortSignal,
  ): AsyncGenerator<SampledToken, Generated> {
    this.#orders += 1;
    const id = this.#orders;
    const arrived: Parameters<Listener>[0][] = [];
    let wake: () => void = () => {};
    signal.addEventListener('abort', () => wake());
    this.#send({ kind: 'chat', id, model, turns, sampling }, message => {
      arrived.push(message);
      wake();
    });
    let ended = false;
    try {
      for (;;) {
        const message = arrived.shift();
        if (message?.kind === 'token') yield { token: message.token, text: message.text };
        else if (message?.kind === 'answer') {
          ended = true;
          return message.answer;
        } else if (message?.kind === 'failed') {
          ended = true;
          throw new Error(message.message);
        } else {
          signal.throwIfAborted();
          await new Promise<void>(resolve => {
            wake = resolve;
            if (arrived.length > 0 || signal.aborted) resolve();
          });
        }
      }
    } finally {
      this.#listeners.delete(id);
      if (!ended) this.#worker?.postMessage({ kind: 'cancel', id } satisfies ToWorker);
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }
}
