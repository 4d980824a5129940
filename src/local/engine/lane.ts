/** Runs pieces of work one after another, in parallel with other lanes, until nothing is left. */
import { errorStack } from '../../text/errors.ts';

/** After an external failure, such as a full disk, the lane tries again. */
const againMs = 5_000;

export class Lane {
  readonly #name: string;
  readonly #piece: () => Promise<boolean>;
  #asked = false;
  #stopped = false;
  #running: Promise<void> | undefined;
  #again: NodeJS.Timeout | undefined;

  /** `piece` does the next piece of work, if there is one, and returns whether there may be more. */
  constructor(name: string, piece: () => Promise<boolean>) {
    this.#name = name;
    this.#piece = piece;
  }

  get busy(): boolean {
    return this.#running !== undefined || this.#again !== undefined;
  }

  /** Starts looking for work, unless already running. */
  wake = (): void => {
    this.#asked = true;
    if (this.#stopped || this.#running) return;
    clearTimeout(this.#again);
    this.#again = undefined;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // It was woken after its last look.
      if (this.#asked && !this.#again) this.wake();
    });
  };

  async #run(): Promise<void> {
    try {
      while (this.#asked && !this.#stopped) {
        this.#asked = false;
        if (await this.#piece()) this.#asked = true;
        // Lets the server answer between two pieces.
        await new Promise(resolve => setImmediate(resolve));
      }
    } catch (error) {
      process.stderr.write(`${this.#name}: ${errorStack(error)}\n`);
      if (!this.#stopped) this.#again = setTimeout(this.wake, againMs).unref();
    }
  }

  /** Stops after the current piece; the rest is done at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#again);
    this.#again = undefined;
    await this.#running;
  }
}
