/**
 * Virtual time for this process. It replaces clocks, timers and random numbers, so that a thousand hours take
 * minutes, and a seed repeats a run. Time passes only in `pass` and `during`, from timer to timer, and only when no
 * other work is left. Install it before importing the program, which may keep a timer function.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { promisify } from 'node:util';
import { Random } from '../rig/random.ts';

type Callback = (...values: unknown[]) => void;

class VirtualTimeout {
  readonly #time: VirtualTime;
  readonly run: () => void;
  readonly ms: number;
  readonly repeats: boolean;
  /** Its latest entry in the queue; older ones are void. */
  due: Due | undefined;

  constructor(time: VirtualTime, run: () => void, ms: number, repeats: boolean) {
    this.#time = time;
    this.run = run;
    this.ms = ms >= 1 && ms <= 2 ** 31 - 1 ? ms : 1;
    this.repeats = repeats;
  }

  refresh(): this {
    this.#time.set(this);
    return this;
  }

  close(): this {
    this.due = undefined;
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

interface Due {
  readonly at: number;
  readonly timer: VirtualTimeout;
}

/** Timers by due time, then by the order in which they were set. */
class Queue {
  readonly #entries: Due[] = [];

  push(due: Due): void {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.at ?? 0) > due.at) low = middle + 1;
      else high = middle;
    }
    // The next timer is at the end, so among equal times the latest comes first.
    this.#entries.splice(low, 0, due);
  }

  /** The next timer that is still set. */
  peek(): Due | undefined {
    for (let next = this.#entries.at(-1); next; next = this.#entries.at(-1)) {
      if (next === next.timer.due) return next;
      this.pop();
    }
    return undefined;
  }

  pop(): void {
    this.#entries.pop();
  }
}

/** After this many idle turns of the event loop, no work is left. */
const quietTurns = 3;
const began = Date.UTC(2026, 0, 5, 8);

export class VirtualTime {
  #now = 0;
  #immediates = 0;
  #queue = new Queue();
  readonly #turn = setImmediate;
  #random = new Random('chance');

  /** Milliseconds since the last start. */
  get now(): number {
    return this.#now;
  }

  /** Starts over with the same time of day, random numbers from this seed, and no timers. */
  restart(random: Random): void {
    this.#random = random;
    this.#now = 0;
    this.#queue = new Queue();
  }

  set(timer: VirtualTimeout): void {
    timer.due = { at: this.#now + timer.ms, timer };
    this.#queue.push(timer.due);
  }

  /** Replaces the clocks, timers and random numbers of this process. */
  install(): void {
    const time = this;
    const RealDate = Date;
    class VirtualDate extends RealDate {
      constructor(...parts: []) {
        super(...(parts.length === 0 ? ([time.epoch()] as unknown as []) : parts));
      }

      static override now(): number {
        return time.epoch();
      }
    }
    const start =
      (repeats: boolean) =>
      (callback: Callback, ms: number = 0, ...values: unknown[]) => {
        const timer = new VirtualTimeout(time, () => callback(...values), Number(ms), repeats);
        time.set(timer);
        return timer;
      };
    const { setImmediate: nextTurn, clearImmediate: calledOff } = globalThis;
    const pending = new Set<unknown>();
    const soon = (callback: Callback, ...values: unknown[]) => {
      const immediate: unknown = nextTurn(() => {
        if (pending.delete(immediate)) time.#immediates -= 1;
        callback(...values);
      });
      pending.add(immediate);
      time.#immediates += 1;
      return immediate;
    };
    const clear = (timer: unknown): void => {
      if (timer instanceof VirtualTimeout) timer.close();
      else if (timer) realClear(timer as NodeJS.Timeout);
    };
    const realClear = globalThis.clearTimeout;
    const later = start(false);
    const replaced = {
      setTimeout: later,
      setInterval: start(true),
      clearTimeout: clear,
      clearInterval: clear,
      setImmediate: soon,
      clearImmediate: (immediate: unknown) => {
        if (pending.delete(immediate)) time.#immediates -= 1;
        calledOff(immediate as NodeJS.Immediate);
      },
    };
    const wait = (ms?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const timer = later(() => resolve(value), ms);
        signal?.addEventListener('abort', () => {
          timer.close();
          reject(signal.reason);
        });
      });
    Object.defineProperty(later, promisify.custom, { value: wait });
    Object.assign(globalThis, { Date: VirtualDate, ...replaced });
    Object.assign(timers, replaced);
    Object.assign(promises, { setTimeout: wait });
    performance.now = () => time.now;
    Math.random = () => time.#random.next();
    AbortSignal.timeout = ms => {
      const controller = new AbortController();
      later(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), ms);
      return controller.signal;
    };
    Object.assign(
      crypto,
      chanceOf(() => time.#random),
    );
    syncBuiltinESMExports();
  }

  epoch(): number {
    return began + Math.floor(this.now);
  }

  /** Waits until no work is left at the current time. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet += 1) {
      await new Promise<void>(resolve => void this.#turn(() => resolve()));
      if (this.#immediates > 0 || (quiet === quietTurns - 1 && isReadingFiles())) quiet = -1;
    }
  }

  /** Advances to the next timer, and runs it. False if none is due by `until`. */
  #step(end: number): boolean {
    const next = this.#queue.peek();
    if (!next || next.at > end) return false;
    this.#queue.pop();
    this.#now = Math.max(this.#now, next.at);
    const { timer } = next;
    timer.due = undefined;
    if (timer.repeats) this.set(timer);
    timer.run();
    return true;
  }

  /** Lets this many milliseconds pass. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    do await this.settle();
    while (this.#step(end));
    this.#now = end;
  }

  /** Lets time pass until the work has ended. @throws Error if it has not within `mostMs` */
  async during<Result>(work: Promise<Result>, mostMs: number): Promise<Result> {
    const end = this.#now + mostMs;
    let ended = false;
    const onEnd = (): void => {
      ended = true;
    };
    work.then(onEnd, onEnd);
    for (;;) {
      await this.settle();
      if (ended) return work;
      if (!this.#step(end)) throw new Error(`something hangs for ${Math.round(mostMs / 1000)} s`);
    }
  }
}

function isReadingFiles(): boolean {
  return process.getActiveResourcesInfo().some(name => name.startsWith('FSReq') || name === 'FileHandleCloseReq');
}

function chanceOf(random: () => Random): object {
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => random().between(0, 255)));
  const uuid = (): string => {
    const hex = bytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  Object.defineProperty(globalThis.crypto, 'randomUUID', { value: uuid });
  return { randomBytes: bytes, randomUUID: uuid };
}
