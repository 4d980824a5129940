/**
 * A program in a real pseudo-terminal, read through an emulator, for end-to-end tests, bench, torture and screens.
 * Waiting ends with the output that satisfies it. Every byte is kept.
 */
import { fileURLToPath } from 'node:url';
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { bytesOf } from './keys.ts';
import { leftOn } from './sequences.ts';

/** The built program. */
export const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface TerminalOptions {
  readonly command: readonly [file: string, ...args: string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /** False for a terminal that answers no request. */
  readonly answers?: boolean | undefined;
  /** Called with each piece of output. */
  readonly onOutput?: ((data: string) => void) | undefined;
}

export interface Ended {
  readonly exitCode: number;
  readonly signal?: number | undefined;
  /** By `performance.now()`. */
  readonly at: number;
}

/** Long enough for a busy machine. */
const limitMs = 240_000;

export class Terminal {
  readonly emulator: xterm.Terminal;
  readonly pid: number;
  readonly startedAt = performance.now();
  /** Resolves when the program has ended. */
  readonly ended: Promise<Ended>;
  hasEnded = false;
  /** When the last output arrived. */
  lastOutputAt = this.startedAt;
  readonly #child: pty.IPty;
  #sent = '';
  #output = Promise.withResolvers<void>();

  constructor(options: TerminalOptions) {
    const { command, env, cwd = process.cwd(), columns = 120, rows = 40, answers = true, onOutput } = options;
    const [file, ...args] = command;
    this.emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    const name = env['TERM'] ?? 'xterm-256color';
    this.#child = pty.spawn(file, args, { cols: columns, rows, env: { ...env }, cwd, name });
    this.pid = this.#child.pid;
    this.#child.onData(data => {
      onOutput?.(data);
      this.receive(data);
    });
    if (answers) this.emulator.onData(reply => this.type(reply));
    this.ended = new Promise(resolve => {
      this.#child.onExit(({ exitCode, signal }) => {
        this.hasEnded = true;
        this.#output.resolve();
        resolve({ exitCode, signal, at: performance.now() });
      });
    });
  }

  /** Shows output of the program. */
  protected receive(data: string): void {
    this.#sent += data;
    this.lastOutputAt = performance.now();
    this.emulator.write(data);
    this.#output.resolve();
    this.#output = Promise.withResolvers();
  }

  press(...keys: readonly string[]): void {
    for (const key of keys) this.type(bytesOf(key));
  }

  type(bytes: string): void {
    if (!this.hasEnded) this.#child.write(bytes);
  }

  resize(columns: number, rows: number): void {
    if (this.hasEnded) return;
    this.emulator.resize(columns, rows);
    this.#child.resize(columns, rows);
  }

  signal(name: string): void {
    if (!this.hasEnded) this.#child.kill(name);
  }

  /** Stops reading, like a terminal on a stalled line. */
  stall(): void {
    this.#child.pause();
  }

  /** Everything sent to the terminal so far. */
  sent(): string {
    return this.#sent;
  }

  /** The screen. */
  text(): string {
    return linesOf(this.emulator, this.emulator.buffer.active, this.emulator.buffer.active.baseY);
  }

  /** The main screen with its scrollback, as it is before and after the program. */
  mainScreen(): string {
    return linesOf(this.emulator, this.emulator.buffer.normal, 0);
  }

  /** Waits until the emulator has read everything. */
  drained(): Promise<void> {
    return new Promise(resolve => this.emulator.write('', resolve));
  }

  /**
   * Waits until `seen` returns true. It is called after every output.
   *
   * @throws Error after the time limit, or if the program has ended
   */
  async until(seen: () => boolean, wanted: string | RegExp): Promise<void> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const output = this.#output.promise;
      await this.drained();
      if (seen()) return;
      if (this.hasEnded || performance.now() > deadline)
        throw new Error(`timed out waiting for ${wanted}; the terminal shows:\n${this.text()}`);
      await within(output, deadline - performance.now());
    }
  }

  waitFor(wanted: string | RegExp): Promise<void> {
    return this.until(
      () => (typeof wanted === 'string' ? this.text().includes(wanted) : wanted.test(this.text())),
      wanted,
    );
  }

  /** Waits until this text has disappeared. */
  gone(words: string): Promise<void> {
    return this.until(() => !this.text().includes(words), `the end of ${words}`);
  }

  /** Waits until the screen has changed. */
  changed(before: string): Promise<void> {
    return this.until(() => this.text() !== before, 'a change');
  }

  /** Waits for output, or this long. */
  output(ms: number): Promise<void> {
    return within(this.#output.promise, ms);
  }

  /** Waits until there was no output for `ms`, or `atMostMs` have passed. */
  async quiet(ms: number, atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    const since = performance.now();
    for (;;) {
      const now = performance.now();
      const left = Math.min(Math.max(this.lastOutputAt, since) + ms - now, since + atMostMs - now);
      if (left <= 0) break;
      await this.output(left);
    }
    await this.drained();
  }

  /** The modes and the title that the program left changed. */
  leftOn(): string[] {
    return leftOn(this.#sent);
  }

  /** Ends the program with SIGTERM. Returns the milliseconds until it has ended. */
  async end(): Promise<number> {
    const at = performance.now();
    this.signal('SIGTERM');
    const ended = await this.ended;
    this.emulator.dispose();
    return ended.at - at;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  /** Ends the program at once, if it has not ended. */
  close(): void {
    this.signal('SIGKILL');
    this.emulator.dispose();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function linesOf({ rows }: xterm.Terminal, buffer: xterm.IBuffer, from: number): string {
  return Array.from(
    { length: Math.max(0, buffer.baseY + rows - from) },
    (_, row) => buffer.getLine(from + row)?.translateToString(true) ?? '',
  ).join('\n');
}

/** Resolves with the promise, or after this long. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, Math.min(ms, limitMs)));
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
