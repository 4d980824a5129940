/** A program in a real pseudo-terminal, timed: when bytes arrive, and how many. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';

/** An answer is complete after this long without output. */
const quietMs = 60;

export interface Answer {
  /** Milliseconds from the key to the last byte. */
  readonly ms: number;
  readonly bytes: number;
}

export interface TimedTerminal {
  readonly pid: number;
  /** Resolves when the program has ended. */
  readonly ended: Promise<void>;
  readonly text: () => string;
  /** Milliseconds from the start until the screen first satisfied this. */
  readonly reach: (wanted: string | RegExp) => Promise<number>;
  /** Sends a key and waits until its answer is complete: no output for this many milliseconds. */
  readonly key: (bytes: string, quietMs?: number) => Promise<Answer>;
  /** Bytes received so far. */
  readonly received: () => number;
  /** Sends a key; the answer is a screen that shows this. */
  readonly keyUntil: (bytes: string, wanted: string | RegExp) => Promise<Answer>;
  /** Output during a period without keys. */
  readonly watch: (ms: number) => Promise<{ readonly bytes: number; readonly cpuMs: number }>;
  /** Limits the line to the terminal to this many characters per second. */
  readonly slowDown: (charactersPerSecond: number) => void;
  /**
   * Sends a key this many times within `ms`; returns the milliseconds from the last of them to the last byte of output.
   */
  readonly keys: (bytes: string, count: number, ms: number) => Promise<number>;
  /** Resident memory, in bytes. */
  readonly memory: () => number;
  /** Ends the program with SIGTERM. Returns the milliseconds until it has ended. */
  readonly close: () => Promise<number>;
}

export interface TerminalOptions {
  readonly columns: number;
  readonly rows: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The line between a program and its terminal: it accepts everything immediately and delivers it slowly. */
class Line {
  readonly #deliver: (data: string) => void;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (data: string) => void) {
    this.#deliver = deliver;
  }

  take(data: string): void {
    if (this.#timer) this.#waiting += data;
    else this.#deliver(data);
  }

  get isEmpty(): boolean {
    return this.#waiting === '';
  }

  /** Delivers this many characters per second from now on. */
  slowDown(charactersPerSecond: number): void {
    const due = charactersPerSecond / (1_000 / tickMs);
    this.#timer = setInterval(() => {
      if (this.#waiting === '') return;
      this.#deliver(this.#waiting.slice(0, due));
      this.#waiting = this.#waiting.slice(due);
    }, tickMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

const tickMs = 10;

const limitMs = 90_000;
/** A key without output for this long has no answer. */
const silentMs = 2_000;
const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** CPU time of a process with all its threads (Linux), in milliseconds. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export function openTerminal({ columns, rows, args, env, cwd }: TerminalOptions): TimedTerminal {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const started = performance.now();
  const child = pty.spawn(process.execPath, [...args], {
    cols: columns,
    rows,
    env: { ...env },
    ...(cwd !== undefined && { cwd }),
    name: 'xterm-256color',
  });
  let bytes = 0;
  let lastByte = started;
  const line = new Line(data => {
    bytes += Buffer.byteLength(data);
    lastByte = performance.now();
    terminal.write(data);
  });
  child.onData(data => line.take(data));
  terminal.onData(reply => child.write(reply));
  const ended = new Promise<void>(resolve => child.onExit(() => resolve()));
  const text = (): string =>
    Array.from({ length: rows }, (_, row) => terminal.buffer.active.getLine(row)?.translateToString(true) ?? '').join(
      '\n',
    );

  const quiet = async (since: number, ms = quietMs): Promise<void> => {
    while (!line.isEmpty || performance.now() - Math.max(lastByte, since) < ms) await pause(5);
  };
  const isOn = (wanted: string | RegExp): boolean =>
    typeof wanted === 'string' ? text().includes(wanted) : wanted.test(text());
  const reach = async (wanted: string | RegExp): Promise<number> => {
    const began = performance.now();
    for (;;) {
      await new Promise<void>(resolve => terminal.write('', resolve));
      if (isOn(wanted)) return lastByte - started;
      if (performance.now() - began > limitMs) throw new Error(`waited in vain for ${wanted}:\n${text()}`);
      await pause(1);
    }
  };
  return {
    pid: child.pid,
    ended,
    text,
    reach,
    received: () => bytes,
    keyUntil: async (sent, wanted) => {
      const before = bytes;
      const at = performance.now();
      child.write(sent);
      await reach(wanted);
      return { ms: performance.now() - at, bytes: bytes - before };
    },
    key: async (sent, ms) => {
      const before = bytes;
      const at = performance.now();
      child.write(sent);
      while (bytes === before && performance.now() - at < silentMs) await pause(1);
      await quiet(performance.now(), ms);
      return { ms: bytes === before ? 0 : lastByte - at, bytes: bytes - before };
    },
    slowDown: charactersPerSecond => line.slowDown(charactersPerSecond),
    keys: async (sent, count, ms) => {
      const began = performance.now();
      for (let index = 0; index < count; index += 1) {
        while (performance.now() - began < (ms * index) / count) await pause(1);
        child.write(sent);
      }
      const last = performance.now();
      await quiet(last);
      return Math.max(0, lastByte - last);
    },
    watch: async ms => {
      const before = bytes;
      const cpu = cpuOf(child.pid);
      await pause(ms);
      return { bytes: bytes - before, cpuMs: cpuOf(child.pid) - cpu };
    },
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
    close: async () => {
      line.close();
      const at = performance.now();
      child.kill('SIGTERM');
      await ended;
      const taken = performance.now() - at;
      terminal.dispose();
      return taken;
    },
  };
}

/** Duration of a run of Node without a terminal, in milliseconds. */
export function runTime(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<number> {
  const started = performance.now();
  return new Promise(resolve => {
    spawn(process.execPath, args, { stdio: 'ignore', env: { ...(env ?? process.env) } }).on('exit', () =>
      resolve(performance.now() - started),
    );
  });
}

/** Duration of the smallest Node program, in milliseconds. */
export const smallestProgram = (): Promise<number> => runTime(['-e', '0']);

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
