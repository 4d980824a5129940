/** A worker thread as seen by the service: orders in, answers out. */

import { Worker } from 'node:worker_threads';
import { errorMessage } from '../../text/errors.ts';
import type { ChatTurn, Generated, SampledToken, SamplingOptions } from '../model/policy.ts';
import type {
  FromWorker,
  LocalModel,
  RolloutOrder,
  RolloutResult,
  ToWorker,
  TrainingNews,
  TrainingOrder,
} from './messages.ts';

/** The worker is next to this file in the sources, and next to the program in `dist`. */
function workerUrl(): URL {
  if (import.meta.url.endsWith('.ts')) return new URL('./worker.ts', import.meta.url);
  return new URL(import.meta.url.includes('/chunks/') ? '../worker.js' : './worker.js', import.meta.url);
}

/** The worker could not carry out an order. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
  readonly code: string;

  constructor(message: string, code = 'worker_failed') {
    super(message);
    this.code = code;
  }
}

type Failed = { readonly kind: 'failed'; readonly message: string; readonly code?: string };
type Answer = FromWorker | Failed;
type Listener = (message: Answer) => void;

export interface WorkerThreadOptions {
  readonly name: string;
  /** Yields to everything else on the machine. */
  readonly lowPriority?: boolean;
}

export class WorkerThread {
  readonly #options: WorkerThreadOptions;
  #worker: Worker | undefined;
  /** The unanswered orders, each with the worker that has it. */
  readonly #waiting = new Map<number, { readonly worker: Worker; readonly listener: Listener }>();
  #orders = 0;

  constructor(options: WorkerThreadOptions) {
    this.#options = options;
  }

  /** Starts the thread with the first order, and again after it has died. */
  #started(): Worker {
    if (this.#worker) return this.#worker;
    const { name, lowPriority = false } = this.#options;
    const worker = new Worker(workerUrl(), { name, workerData: { lowPriority } });
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#waiting.get(message.id)?.listener(message));
    const died = (reason: string): void => {
      if (this.#worker === worker) this.#worker = undefined;
      // A failing worker reports twice, by its error and by its exit; by then another may be running.
      for (const [id, order] of [...this.#waiting]) {
        if (order.worker !== worker) continue;
        this.#waiting.delete(id);
        order.listener({ kind: 'failed', message: `The worker ended: ${reason}` });
      }
    };
    worker.on('error', error => died(errorMessage(error)));
    worker.on('exit', code => died(`exit code ${code}`));
    this.#worker = worker;
    return worker;
  }

  #send(order: (id: number) => ToWorker, listener: Listener): number {
    this.#orders += 1;
    const id = this.#orders;
    const worker = this.#started();
    this.#waiting.set(id, { worker, listener });
    worker.postMessage(order(id));
    return id;
  }

  #cancel(id: number): void {
    this.#worker?.postMessage({ kind: 'cancel', id } satisfies ToWorker);
  }

  /** Sends an order that has one answer. */
  #ask<Kind extends FromWorker['kind']>(order: (id: number) => ToWorker, kind: Kind) {
    return new Promise<Extract<FromWorker, { kind: Kind }>>((resolve, reject) => {
      const id = this.#send(order, message => {
        this.#waiting.delete(id);
        if (message.kind === kind) resolve(message as Extract<FromWorker, { kind: Kind }>);
        else if (message.kind === 'failed') reject(new WorkerFailed(message.message, message.code));
      });
    });
  }

  /** @throws WorkerFailed if the worker failed as a whole; a failed rollout is part of the result */
  async rollouts(model: LocalModel, rollouts: readonly RolloutOrder[]): Promise<readonly RolloutResult[]> {
    return (await this.#ask(id => ({ kind: 'rollouts', id, model, rollouts }), 'rollouts')).results;
  }

  /** Loads a model and lets it answer once. @throws WorkerFailed if it cannot be loaded or does not answer */
  async probe(model: LocalModel): Promise<Generated> {
    return (await this.#ask(id => ({ kind: 'probe', id, model }), 'answer')).answer;
  }

  /**
   * Trains a model; calls `onNews` after every step. Returns whether it reached its last step: once the signal aborts,
   * it ends after the current step, with a checkpoint.
   *
   * @throws WorkerFailed
   */
  train(order: TrainingOrder, signal: AbortSignal, onNews: (news: TrainingNews) => void): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const stop = (): void => this.#cancel(id);
      const end = (): void => {
        this.#waiting.delete(id);
        signal.removeEventListener('abort', stop);
      };
      const id = this.#send(
        each => ({ kind: 'train', id: each, order }),
        message => {
          try {
            if (message.kind === 'news') onNews(message.news);
            if (message.kind === 'trained') {
              end();
              resolve(message.finished);
            }
            if (message.kind === 'failed') throw new WorkerFailed(message.message, message.code);
          } catch (error) {
            end();
            stop();
            reject(error);
          }
        },
      );
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
    });
  }

  /** Streams an answer; leaving the loop or aborting the signal stops the model. */
  async *chat(
    model: LocalModel,
    turns: readonly ChatTurn[],
    sampling: SamplingOptions,
    signal: AbortSignal,
  ): AsyncGenerator<SampledToken, Generated> {
    const arrived: Answer[] = [];
    let wake: () => void = () => {};
    const onAbort = (): void => wake();
    signal.addEventListener('abort', onAbort);
    const id = this.#send(
      each => ({ kind: 'chat', id: each, model, turns, sampling }),
      message => {
        arrived.push(message);
        wake();
      },
    );
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
          throw new WorkerFailed(message.message, message.code);
        } else {
          signal.throwIfAborted();
          await new Promise<void>(resolve => {
            wake = resolve;
            if (arrived.length > 0 || signal.aborted) resolve();
          });
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#waiting.delete(id);
      if (!ended) this.#cancel(id);
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }
}
