/** A program in a pseudo-terminal that measures when bytes arrive, and how many. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type TerminalOptions as RigOptions, Terminal } from '../rig/terminal.ts';

/** An answer is complete after this long without output. */
const quietMs = 60;
/** A key without output for this long has no answer. */
const silentMs = 2_000;

export interface Answer {
  /** Milliseconds from the key to the last byte. */
  readonly ms: number;
  /** CPU time of the main thread, also after that byte. Unlike `ms`, it hardly depends on other work of the machine. */
  readonly cpuMs: number;
  readonly bytes: number;
}

export interface TerminalOptions extends Omit<RigOptions, 'command'> {
  /** Arguments of Node. */
  readonly args: readonly string[];
}

/** CPU time of a process with all its threads (Linux), in milliseconds. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** CPU time of the main thread of a process (Linux), in milliseconds; NaN if it has ended. */
function mainThreadCpu(pid: number): number {
  const path = `/proc/${pid}/task/${pid}/schedstat`;
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6 : Number.NaN;
}

/** Resident memory of a process in bytes (Linux), now or at its peak (`VmHWM`); 0 if it has ended. */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const path = `/proc/${pid}/status`;
  const status = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024;
}

const tickMs = 10;

export class TimedTerminal extends Terminal {
  /** Bytes received so far. */
  received = 0;
  /** Output that a slow line has accepted but not delivered. */
  #waiting = '';
  #slow: NodeJS.Timeout | undefined;

  constructor({ args, ...options }: TerminalOptions) {
    super({ ...options, command: [process.execPath, ...args] });
  }

  protected override receive(data: string): void {
    if (this.#slow) this.#waiting += data;
    else this.#deliver(data);
  }

  #deliver(data: string): void {
    this.received += Buffer.byteLength(data);
    super.receive(data);
  }

  /**
   * Limits the line to the terminal to this many characters per second. It accepts everything, but delivers it
   * slowly.
   */
  slowDown(charactersPerSecond: number): void {
    const due = charactersPerSecond / (1_000 / tickMs);
    this.#slow = setInterval(() => {
      if (this.#waiting === '') return;
      this.#deliver(this.#waiting.slice(0, due));
      this.#waiting = this.#waiting.slice(due);
    }, tickMs);
  }

  async #settled(ms: number): Promise<void> {
    do await this.quiet(ms);
    while (this.#waiting !== '');
  }

  /** Milliseconds from the start until the screen first satisfied this. */
  async reach(wanted: string | RegExp): Promise<number> {
    await this.waitFor(wanted);
    return this.lastOutputAt - this.startedAt;
  }

  /** Sends a key. `answered` waits for the answer, and returns the time of its end. */
  async #measure(bytes: string, answered: (at: number) => Promise<number>): Promise<Answer> {
    const before = this.received;
    const cpu = mainThreadCpu(this.pid);
    const at = performance.now();
    this.type(bytes);
    const ms = (await answered(at)) - at;
    return { ms, cpuMs: mainThreadCpu(this.pid) - cpu, bytes: this.received - before };
  }

  /** Sends a key and waits until there is no output for this many milliseconds. */
  key(bytes: string, ms = quietMs): Promise<Answer> {
    return this.#measure(bytes, async at => {
      await this.output(silentMs);
      await this.#settled(ms);
      return Math.max(at, this.lastOutputAt);
    });
  }

  /** Sends a key, and waits until the screen shows this. */
  keyUntil(bytes: string, wanted: string | RegExp): Promise<Answer> {
    return this.#measure(bytes, async () => {
      await this.waitFor(wanted);
      return performance.now();
    });
  }

  /** Sends a key this many times within `ms`; returns the milliseconds from the last of them to the last byte of output. */
  async keys(bytes: string, count: number, ms: number): Promise<number> {
    const began = performance.now();
    for (let index = 0; index < count; index += 1) {
      while (performance.now() - began < (ms * index) / count) await wait(1);
      this.type(bytes);
    }
    const last = performance.now();
    await this.#settled(quietMs);
    return Math.max(0, this.lastOutputAt - last);
  }

  /** Output during a period without keys. */
  async watch(ms: number): Promise<{ readonly bytes: number; readonly cpuMs: number }> {
    const before = this.received;
    const cpu = cpuOf(this.pid);
    await wait(ms);
    return { bytes: this.received - before, cpuMs: cpuOf(this.pid) - cpu };
  }

  override end(): Promise<number> {
    clearInterval(this.#slow);
    return super.end();
  }
}

/** A run of Node without a terminal: its duration in milliseconds, and the peak of its resident memory in bytes. */
export async function ran(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ readonly ms: number; readonly peak: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore', env });
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, memoryOf(child.pid ?? 0, 'VmHWM'));
  }, tickMs);
  await once(child, 'exit');
  clearInterval(look);
  return { ms: performance.now() - started, peak };
}

/** Duration of the smallest Node program, in milliseconds. */
export const smallestProgram = async (): Promise<number> => (await ran(['-e', '0'])).ms;

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
