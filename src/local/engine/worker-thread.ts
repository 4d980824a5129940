/** The service's side of a worker thread: sends orders and receives results. */

import { Worker } from 'node:worker_threads';
import { errorMessage } from '../../base/errors.ts';
import { longestMatchMs } from '../../grading/patterns.ts';
import type { ChatTurn, Generated, SampledToken, SamplingOptions } from '../model/policy.ts';
import type {
  Answered,
  FromWorker,
  LocalModel,
  RolloutOrder,
  RolloutResult,
  ToWorker,
  TrainingEvent,
  TrainingOrder,
} from './messages.ts';
import { failedRollout } from './rollouts.ts';

/** The worker is next to this file in the source tree, and next to the program in `dist`. */
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

type Listener = (message: FromWorker) => void;

/**
 * Timeout for a grade, in case the thread hangs. A regular expression has a CPU limit, which takes longer to reach on a
 * busy machine; the rest is for starting the thread.
 */
export const gradeMs = longestMatchMs + 10_000;

/** How long cancelled training may take to finish its step, in milliseconds. A usual step takes less than a second. */
const lastStepMs = 30_000;

interface WorkerThreadOptions {
  readonly name: string;
  /** Whether to run with the lowest priority. */
  readonly lowPriority?: boolean;
}

export class WorkerThread {
  readonly #options: WorkerThreadOptions;
  #worker: Worker | undefined;
  /** Pending orders, each with the worker it was sent to. */
  readonly #waiting = new Map<number, { readonly worker: Worker; readonly listener: Listener }>();
  #orders = 0;
  #lastGrade: Promise<unknown> = Promise.resolve();

  constructor(options: WorkerThreadOptions) {
    this.#options = options;
  }

  /** Starts the thread on the first order, and again after a crash. */
  #started(): Worker {
    if (this.#worker) return this.#worker;
    const { name, lowPriority = false } = this.#options;
    const worker = new Worker(workerUrl(), { name, workerData: { lowPriority } });
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#waiting.get(message.id)?.listener(message));
    worker.on('error', error => this.#drop(worker, errorMessage(error)));
    worker.on('exit', code => this.#drop(worker, `exit code ${code}`));
    this.#worker = worker;
    return worker;
  }

  /** Fails a dead worker's orders. Called both for its error and for its exit. */
  #drop(worker: Worker, reason: string): void {
    if (this.#worker === worker) this.#worker = undefined;
    for (const [id, order] of [...this.#waiting]) {
      if (order.worker !== worker) continue;
      this.#waiting.delete(id);
      order.listener({ kind: 'failed', id, message: `The worker ended: ${reason}` });
    }
  }

  /** Terminates a worker. Not awaited: the thread may not be interruptible. */
  #end(worker: Worker, reason: string): void {
    this.#drop(worker, reason);
    void worker.terminate();
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

  /** Sends an order that gets a single reply. Stops waiting once the signal aborts. */
  #ask<Kind extends FromWorker['kind']>(order: (id: number) => ToWorker, kind: Kind, signal: AbortSignal) {
    return new Promise<Extract<FromWorker, { kind: Kind }>>((resolve, reject) => {
      signal.throwIfAborted();
      const end = (): void => {
        this.#waiting.delete(id);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => {
        end();
        this.#cancel(id);
        reject(signal.reason);
      };
      const id = this.#send(order, message => {
        end();
        if (message.kind === kind) resolve(message as Extract<FromWorker, { kind: Kind }>);
        else if (message.kind === 'failed') reject(new WorkerFailed(message.message, message.code));
      });
      signal.addEventListener('abort', giveUp);
    });
  }

  /** Samples an answer for each rollout. @throws WorkerFailed */
  async answers(
    model: LocalModel,
    rollouts: readonly RolloutOrder[],
    signal: AbortSignal,
  ): Promise<readonly Answered[]> {
    return (await this.#ask(id => ({ kind: 'rollouts', id, model, rollouts }), 'answers', signal)).answers;
  }

  /** Loads a model and has it answer once. @throws WorkerFailed if it cannot be loaded or does not answer */
  async probe(model: LocalModel, signal: AbortSignal): Promise<Generated> {
    return (await this.#ask(id => ({ kind: 'probe', id, model }), 'answer', signal)).answer;
  }

  /**
   * Grades an answer. If that takes too long, the thread is terminated, and the answer has no reward. The thread is
   * also terminated if the signal aborts, because the next grade would have to wait for this one.
   *
   * @param limitMs time limit, counted from the end of earlier grades
   */
  grade(answered: Answered, signal: AbortSignal, limitMs = gradeMs): Promise<RolloutResult> {
    const grade = async (): Promise<RolloutResult> => {
      signal.throwIfAborted();
      const limit = AbortSignal.timeout(limitMs);
      const worker = this.#started();
      try {
        const ask = (id: number): ToWorker => ({ kind: 'grade', id, answered });
        return (await this.#ask(ask, 'graded', AbortSignal.any([signal, limit]))).result;
      } catch (error) {
        if (!signal.aborted && !limit.aborted) throw error;
        this.#end(worker, 'a grader took too long');
        if (signal.aborted) throw error;
        const { order, calls, answer, latency_ms } = answered;
        const message = `The grader takes longer than ${limitMs / 1000} s.`;
        return { ...failedRollout(order.task_id, order.sample, message), calls, answer, latency_ms };
      }
    };
    const graded = this.#lastGrade.then(grade);
    this.#lastGrade = graded.catch(() => {});
    return graded;
  }

  /**
   * Trains a model; calls `onEvent` after every step. Returns whether it reached its last step. Once the signal aborts,
   * training ends after the current step, with a checkpoint.
   *
   * @param limitMs how long training may take to end once the signal aborts, before the thread is terminated
   * @throws WorkerFailed
   */
  train(
    order: TrainingOrder,
    signal: AbortSignal,
    onEvent: (event: TrainingEvent) => void,
    limitMs = lastStepMs,
  ): Promise<boolean> {
    return new Promise((resolve, reject) => {
      let limit: NodeJS.Timeout | undefined;
      const stop = (): void => {
        this.#cancel(id);
        const worker = this.#waiting.get(id)?.worker;
        if (worker) limit = setTimeout(() => this.#end(worker, 'its last step took too long'), limitMs).unref();
      };
      const end = (): void => {
        clearTimeout(limit);
        this.#waiting.delete(id);
        signal.removeEventListener('abort', stop);
      };
      const id = this.#send(
        each => ({ kind: 'train', id: each, order }),
        message => {
          try {
            if (message.kind === 'news') {
              // Give it time to save its progress.
              if (message.news.kind === 'stopping') clearTimeout(limit);
              onEvent(message.news);
            }
            if (message.kind === 'trained') {
              end();
              resolve(message.finished);
            }
            if (message.kind === 'failed') throw new WorkerFailed(message.message, message.code);
          } catch (error) {
            end();
            this.#cancel(id);
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
    const arrived: FromWorker[] = [];
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
