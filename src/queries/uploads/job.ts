/** Work that goes on whatever is on screen: uploads. What shows it is told of every change. */
/** Tells of changes at most this often: files come in thousands of pieces. */
const tellEveryMs = 100;

export abstract class Job<State> {
  readonly id: string;
  /** In words, for the question whether to leave it. */
  readonly title: string;
  #state: State;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  readonly #stop = new AbortController();

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

  protected set(state: Partial<State>): void {
    this.#state = { ...this.#state, ...state };
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const listener of this.#listeners) listener();
    }, tellEveryMs).unref();
  }

  cancel(): void {
    this.#stop.abort();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
