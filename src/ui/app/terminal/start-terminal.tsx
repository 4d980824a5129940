/**
 * Takes the terminal, and restores it when the program ends by a key, a signal, a failure, or the loss of the terminal
 * itself. Every active mode is switched off with a non-blocking write. In between, another program or the shell may
 * borrow the terminal: the program then continues without drawing.
 */
import { constants } from 'node:os';
import { type Instance, render } from 'ink';
import type { ReactNode } from 'react';
import { Listeners } from '../../../base/listeners.ts';
import { own } from '../../../base/own-property.ts';
import type { ImageDisplay } from '../../../text/image-display.ts';
import { clean } from '../../../text/sanitise.ts';
import { toAscii } from '../../../text/terminal.ts';
import type { MouseEvent } from '../../keys/mouse.ts';
import { ProgramBoundary } from '../failure-boundary.tsx';
import { Failures } from '../failures.ts';
import { PaintStream } from '../painter/paint-stream.ts';
import { Painter } from '../painter/painter.ts';
import type { TerminalPort } from '../terminal-port.ts';
import { writeCrashReport } from './crash-report.ts';
import { External } from './external.ts';
import { Input } from './input.ts';
import { Modes, switchAllOff } from './modes.ts';
import { Output, writeNow } from './output.ts';

interface StartTerminalOptions {
  /** Called when the program is suspended, and when it continues. */
  readonly onSuspend: (suspended: boolean) => void;
  /** Folder for failure reports. */
  readonly crashFolder: string;
  readonly redact: (text: string) => string;
  /** Enables the mouse, which disables the terminal's own selection. */
  readonly mouse: boolean;
  /** Whether the terminal shows ASCII only. */
  readonly ascii: boolean;
  readonly images: ImageDisplay;
}

/**
 * Whether Node's profiler is running; it raises SIGPROF hundreds of times a second. Node ignores SIGPROF listeners
 * whenever a debugger could start the profiler.
 */
const isProfiled = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)].some(flag =>
  /^["']?--(cpu[-_])?prof(=|["']?$)/.test(flag),
);

/** The signals that end a process and can be caught (signal(7)), except faults: nothing can safely run after one. */
const endingSignals = [
  ...(['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM'] as const),
  ...(['SIGXCPU', 'SIGXFSZ', 'SIGPWR', 'SIGIO', 'SIGSTKFLT', 'SIGSYS', 'SIGTRAP', 'SIGABRT'] as const),
  // Other names for SIGABRT and SIGIO. Ink listens to these, and Node may emit them first.
  ...(['SIGIOT', 'SIGPOLL'] as const),
  ...(isProfiled ? [] : (['SIGPROF'] as const)),
].filter(signal => own(constants.signals, signal) !== undefined);
type EndingSignal = (typeof endingSignals)[number];

/** The exit code for a signal, as a shell reports it: 128 plus its number. */
const codeOf = (signal: EndingSignal): number => 128 + constants.signals[signal];

/** A suspend key that arrives within this time of resuming was typed before the suspension. */
const typedBeforeMs = 250;

/** Runs the program until it ends. Returns the exit code. */
export function startTerminal(draw: (port: TerminalPort) => ReactNode, options: StartTerminalOptions): Promise<number> {
  return new Terminal(options).run(draw);
}

/**
 * This process's terminal. The screen draws on it, until it is lent to another program or to the shell, or the program
 * ends.
 */
class Terminal {
  readonly #options: StartTerminalOptions;
  readonly #modes = new Modes();
  readonly #external = new External();
  readonly #mouse = new Listeners<MouseEvent>();
  readonly #output: Output;
  readonly #painter: Painter;
  readonly #stream: PaintStream;
  readonly #input: Input;
  readonly #failures: Failures;
  readonly #warnings: string[] = [];
  readonly #exit = Promise.withResolvers<number>();
  #state: 'drawing' | 'lent' | 'ended' = 'drawing';
  #continuedAt = Number.NEGATIVE_INFINITY;
  #instance: Instance | undefined;

  constructor(options: StartTerminalOptions) {
    const { crashFolder, redact } = options;
    const { columns, rows } = process.stdout;
    const output = new Output(process.stdout, () => this.#painter.resume());
    this.#options = options;
    this.#output = output;
    this.#painter = new Painter(
      { write: bytes => output.write(bytes), isBlocked: () => output.isBlocked },
      { columns, rows },
    );
    this.#stream = new PaintStream(this.#painter, {
      columns,
      rows,
      alter: options.ascii ? toAscii : undefined,
      // Ink hides the cursor and enables bracketed paste itself; the modes restore both.
      control: sequence => {
        if (sequence === '\u001b[?2004h' && this.#state === 'drawing')
          output.write(this.#modes.enter('bracketedPaste'));
      },
    });
    const onMouse = options.mouse ? this.#mouse.notify : undefined;
    this.#input = new Input(process.stdin, () => this.#painter.answered(), onMouse);
    this.#failures = new Failures({
      write: (error, details) => writeCrashReport(crashFolder, error, redact, details),
      redact,
    });
  }

  /** Draws until the program ends. Returns the exit code. */
  run(draw: (port: TerminalPort) => ReactNode): Promise<number> {
    this.#handleSignals();
    this.#handleFaults();
    this.#handleTerminal();
    // Do this before any request to the terminal, so that its replies are not echoed.
    this.#input.setRawMode(true);
    // Synchronous: the first frame need not wait for these bytes to be accepted.
    this.#output.writeNow(this.#enter());
    const port = this.#port();
    const screen = (
      <ProgramBoundary failures={this.#failures} onQuit={port.quit}>
        {draw(port)}
      </ProgramBoundary>
    );
    this.#instance = render(screen, {
      stdout: this.#stream as unknown as NodeJS.WriteStream,
      stdin: this.#input as unknown as NodeJS.ReadStream,
      // Ink then passes on each frame whole; the painter finds the changes.
      debug: true,
      interactive: true,
      exitOnCtrlC: false,
      patchConsole: true,
    });
    this.#instance.waitUntilExit().then(() => this.#end(0), this.#fail);
    return this.#exit.promise;
  }

  #port(): TerminalPort {
    const { images, mouse } = this.#options;
    return {
      writeRaw: sequence => this.#output.write(sequence),
      runExternal: (command, args) => this.#runExternal(command, args),
      suspend: ({ at = performance.now() }) => {
        if (at - this.#continuedAt > typedBeforeMs) void this.#suspend(0);
      },
      quit: () => void this.#painter.pauseAndDrain().then(() => this.#end(0)),
      repaint: measure,
      failures: this.#failures,
      ...(mouse && { mouse: this.#mouse }),
      ...(images !== 'viewer' && {
        images: { display: images, cover: (bytes, removal) => this.#cover(bytes, removal) },
      }),
    };
  }

  #cover(bytes: string, removal: string): () => void {
    this.#painter.close();
    this.#output.writeLong(`\u001b[H\u001b[2J${bytes}`);
    return () => {
      // Views unmount after the terminal has been restored.
      if (this.#state !== 'drawing') return;
      this.#output.write(this.#output.cutOff() + removal);
      this.#painter.open();
    };
  }

  #enter(): string {
    const mouse = this.#options.mouse ? (['mouse'] as const) : [];
    return this.#modes.enter('title', 'alternateScreen', 'hiddenCursor', 'noWrap', ...mouse);
  }

  /**
   * Gives the terminal back. Synchronous, so that it is written last, and in full even if the process exits right away.
   */
  readonly #leave = (): void => this.#output.writeNow(this.#output.cutOff() + this.#modes.leave());

  #end(code: number): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#painter.close();
    this.#external.kill();
    this.#leave();
    for (const warning of this.#warnings) writeNow(process.stderr.fd, this.#options.redact(warning));
    this.#input.close();
    try {
      this.#instance?.unmount();
    } catch {
      // If drawing failed, the final draw fails too. The terminal is already restored.
    }
    // The caller cleans up once this resolves, so the views must have unmounted.
    this.#exit.resolve(code);
  }

  readonly #fail = (error: unknown): void => {
    if (this.#state === 'ended') return;
    this.#end(1);
    const { words, report } = this.#failures.record(error);
    const saved = report ? clean`The report is in ${report}` : 'No report could be written.';
    writeNow(process.stderr.fd, `benchtop failed: ${words}\nRuns on the service continue. ${saved}\n`);
    process.exit(1);
  };

  /**
   * Takes the terminal from the screen. Returns a function that gives it back; undefined if the screen does not have
   * the terminal, as when a key arrives while the program is waiting for a reply from it.
   */
  async #lend(): Promise<(() => void) | undefined> {
    if (this.#state !== 'drawing') return undefined;
    this.#state = 'lent';
    await this.#painter.pauseAndDrain();
    if (this.#hasEnded()) return undefined;
    const takeBack = this.#input.lend();
    this.#leave();
    return () => {
      if (this.#hasEnded()) return;
      takeBack();
      this.#output.write(this.#enter() + this.#modes.enter('bracketedPaste'));
      this.#state = 'drawing';
      this.#painter.open();
      measure();
    };
  }

  /** Whether the terminal was lost, which may happen during any await. */
  #hasEnded(): boolean {
    return this.#state === 'ended';
  }

  async #runExternal(command: string, args: readonly string[]): Promise<number> {
    const bringBack = await this.#lend();
    if (!bringBack) throw new Error('Another program is using the terminal.');
    try {
      const code = await this.#external.run(command, args);
      // A program killed by a signal may have left modes on; a shell in between reports the signal as an exit code.
      if (code > 128) this.#reset();
      return code;
    } finally {
      bringBack();
    }
  }

  /**
   * Suspends the process `pid`, or this process's group if `pid` is 0, until the shell continues it. A pager keeps the
   * terminal meanwhile.
   */
  async #suspend(pid: number): Promise<void> {
    const bringBack = await this.#lend();
    if (this.#hasEnded() || (!bringBack && !this.#external.isRunning)) return;
    this.#options.onSuspend(true);
    process.off('SIGTSTP', this.#onStopSignal);
    await stopUntilContinued(pid);
    process.on('SIGTSTP', this.#onStopSignal);
    bringBack?.();
    this.#options.onSuspend(false);
    this.#continuedAt = performance.now();
  }

  readonly #onStopSignal = (): void => void this.#suspend(process.pid);

  /** Resets the terminal after killing a program: even one that exits when asked may leave mouse reporting on. */
  #reset(): void {
    this.#input.renew();
    this.#output.writeNow(switchAllOff());
  }

  /** Ends the program that has the terminal, if there is one, and then this one. */
  async #endBy(signal: EndingSignal): Promise<void> {
    if (this.#external.isRunning) {
      await this.#external.end();
      this.#reset();
    }
    this.#end(codeOf(signal));
    process.exit(codeOf(signal));
  }

  #handleSignals(): void {
    for (const signal of endingSignals) {
      process.on(signal, () => {
        // The key was meant for a pager, but the terminal signals the whole process group.
        if (this.#external.takesKeys && (signal === 'SIGINT' || signal === 'SIGQUIT')) return;
        void this.#endBy(signal);
      });
    }
    process.on('SIGTSTP', this.#onStopSignal);
    process.on('SIGCONT', () => {
      // After a stop that the program could not catch, the shell had the terminal.
      if (this.#state !== 'drawing') return;
      this.#input.renew();
      this.#output.write(this.#modes.renew());
      measure();
    });
  }

  #handleFaults(): void {
    // Warnings that are written immediately would appear in the middle of the screen.
    process.removeAllListeners('warning');
    process.on('warning', ({ name, message }) => {
      if (name !== 'ExperimentalWarning') this.#warnings.push(`${name}: ${message}\n`);
    });
    // An error in a view's timer, listener or promise is reported in a line on the screen and does not end the program.
    const survive = (error: unknown): void => {
      if (!this.#failures.announce(error)) this.#fail(error);
    };
    process.on('uncaughtException', survive);
    process.on('unhandledRejection', survive);
    process.on('exit', this.#leave);
  }

  #handleTerminal(): void {
    const { stdin, stdout } = process;
    // Stdout's own event misses a size that changed and changed back, but the terminal has lost the part that it cut
    // off meanwhile.
    process.on('SIGWINCH', () => this.#stream.resize(stdout.columns, stdout.rows));
    // The connection was lost.
    for (const source of [stdin, stdout]) source.on('error', () => void this.#endBy('SIGHUP'));
    stdin.on('end', () => void this.#endBy('SIGHUP'));
  }
}

/** Reads the size of the terminal and redraws everything: a stopped process misses resizes. */
const measure = (): void => void process.kill(process.pid, 'SIGWINCH');

/** A process that is still running this long after a stop signal has no shell to continue it. */
const continueAnywayMs = 150;

/**
 * Stops the process `pid`, or this whole process group if `pid` is 0, so that a launcher between the shell and the
 * program stops too. Resolves when the process continues; immediately if it cannot be stopped, as in a terminal without
 * a shell.
 */
async function stopUntilContinued(pid: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('SIGCONT', resolve);
  process.kill(pid, 'SIGTSTP');
  // Also keeps the process alive while its input is paused. While it is stopped, only the wall clock advances.
  const timer = setTimeout(resolve, continueAnywayMs);
  await promise;
  clearTimeout(timer);
  process.off('SIGCONT', resolve);
}
