/**
 * Tracks how long the service has been idle. A request counts until its response has ended, so long streams and an open
 * screen's lease keep the service awake.
 */

/** Idle time is counted in this many steps, so that time while the machine is asleep does not count. */
const steps = 30;

interface ActivityOptions {
  /** How long the service may be idle before `onIdle` is called, in milliseconds. */
  readonly idleMs: number;
  /** Whether background work is running. */
  readonly isBusy: () => boolean;
  readonly onIdle: () => void;
}

export class Activity {
  readonly #isBusy: () => boolean;
  readonly #onIdle: () => void;
  readonly #timer: NodeJS.Timeout;
  #open = 0;
  #quietSteps = 0;

  constructor({ idleMs, isBusy, onIdle }: ActivityOptions) {
    this.#isBusy = isBusy;
    this.#onIdle = onIdle;
    this.#timer = setInterval(() => this.step(), Math.max(1, idleMs / steps));
    this.#timer.unref();
  }

  begin(): void {
    this.#open += 1;
  }

  end(): void {
    this.#open -= 1;
    this.#quietSteps = 0;
  }

  step(): void {
    this.#quietSteps = this.#open > 0 || this.#isBusy() ? 0 : this.#quietSteps + 1;
    if (this.#quietSteps > steps) this.#onIdle();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
