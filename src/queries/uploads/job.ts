/** Work that continues whatever is on screen: uploads. Its listeners hear of every change. */
import type { Service } from '../../service/index.ts';

/** Gives the service, connecting first where that is needed. */
export type Connect = () => Promise<Service>;

/** Tells of changes at most this often: files come in thousands of pieces. */
const tellEveryMs = 100;

export abstract class Job<State> {
  readonly id: string;
  /** In words, for the question whether to leave it. */
  readonly title: string;
  #state: State;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #stop = new AbortController();

  constructor(id: string, title: string, state: State) {
    this.id = id;
    this.title = title;
    this.#state = state;
  }

  /** Whether it is at work, so that leaving the program would cut it short. */
  abstract get busy(): boolean;

  get state(): State {
    return this.#state;
  }

  protected get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Begins a run that a cancel before it does not stop. */
  protected begin(): void {
    if (this.#stop.signal.aborted) this.#stop = new AbortController();
  }

  protected set(state: Partial<State>): void {
    this.#state = { ...this.#state, ...state };
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const listener of this.#listeners) listener();
    }, tellEveryMs).unref();
  }

  /** Works until it is done, has failed or is cancelled. Never rejects: what went wrong is in the state. */
  abstract run(connect: Connect): Promise<void>;

  /** Stops it. It can be run again. */
  cancel(): void {
    this.#stop.abort();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
