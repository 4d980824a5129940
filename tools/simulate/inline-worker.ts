/** Runs the worker threads of the local service in this thread, so that they run in virtual time. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

type Message = { readonly id: number } & Record<string, unknown>;

/** The active worker; one module serves all of them. */
const current = new AsyncLocalStorage<InlineWorker>();
const port = Object.assign(new EventEmitter(), {
  postMessage: (message: Message) => current.getStore()?.answer(structuredClone(message)),
});
/** Ids of orders over all workers; each worker numbers its own. */
let orders = 0;

class InlineWorker extends EventEmitter {
  readonly #ids = new Map<number, number>();
  readonly #own = new Map<number, number>();
  #ended = false;

  postMessage(message: Message): void {
    let id = this.#ids.get(message.id);
    if (id === undefined) {
      orders += 1;
      id = orders;
      this.#ids.set(message.id, id);
      this.#own.set(id, message.id);
    }
    const order = { ...structuredClone(message), id };
    setImmediate(() => {
      if (!this.#ended) current.run(this, () => port.emit('message', order));
    });
  }

  answer(message: Message): void {
    if (!this.#ended) this.emit('message', { ...message, id: this.#own.get(message.id) });
  }

  unref(): void {}

  async terminate(): Promise<number> {
    this.#ended = true;
    return 0;
  }
}

/** Call this before importing the local service. */
export async function installInlineWorkers(): Promise<void> {
  Object.assign(threads, { Worker: InlineWorker, parentPort: port });
  syncBuiltinESMExports();
  await import('../../src/local/engine/worker.ts');
}
