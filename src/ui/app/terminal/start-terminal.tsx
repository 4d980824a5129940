/**
 * Takes the terminal and gives it back, whatever ends the program: a key, a signal, a failure, or the loss of the
 * terminal itself. Every mode that was switched on is switched off with a non-blocking write. In between, the terminal
 * may be lent to another program or to the shell: the program then continues without drawing.
 */
import { constants } from 'node:os';
import { render } from 'ink';
import type { ReactNode } from 'react';
import { Listeners } from '../../../text/listeners.ts';
import { own } from '../../../text/own.ts';
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

export interface StartTerminalOptions {
  /** Called when the program is suspended, and when it continues. */
  readonly onSuspend: (suspended: boolean) => void;
  /** Folder for failure reports. */
  readonly crashFolder: string;
  readonly redact: (text: string) => string;
  /** Enables the mouse, which disables the terminal's own selection. */
  readonly mouse: boolean;
  /** Whether the terminal shows ASCII only. */
  readonly ascii: boolean;
}

/**
 * The signals that end a process and can be caught (signal(7)). SIGABRT cannot: Node raises it for itself. SIGPROF is its
 * profiler's, hundreds of times a second. Nor do those of a fault in the program leave it able to do anything.
 */
const endingSignals = [
  ...(['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM'] as const),
  ...(['SIGXCPU', 'SIGXFSZ', 'SIGPWR', 'SIGIO', 'SIGSTKFLT', 'SIGSYS'] as const),
].filter(signal => own(constants.signals, signal) !== undefined);
type EndingSignal = (typeof endingSignals)[number];

/** The exit code for a signal, as a shell reports it: 128 plus its number. */
const codeOf = (signal: EndingSignal): number => 128 + constants.signals[signal];

/** A suspend key that arrives this soon after continuing, or came before, was typed before the suspension. */
const typedBeforeMs = 250;

/** How long to wait for an answer of the terminal before lending it. */
const answerMs = 500;

/** Runs the program until it ends. Returns the exit code. */
export function startTerminal(draw: (port: TerminalPort) => ReactNode, options: StartTerminalOptions): Promise<number> {
  const { stdin, stdout } = process;
  const modes = new Modes();
  const { promise, resolve } = Promise.withResolvers<number>();
  const warnings: string[] = [];
  let ended = false;
  /** Whether the screen has the terminal, as opposed to another program, the shell, or neither yet. */
  let shown = true;
  let continuedAt = Number.NEGATIVE_INFINITY;
  const external = new External();

  const output = new Output(stdout, () => painter.resume());
  const painter = new Painter(
    { write: bytes => output.write(bytes), isBlocked: () => output.isBlocked },
    { columns: stdout.columns, rows: stdout.rows },
  );
  const stream = new PaintStream(painter, {
    columns: stdout.columns,
    rows: stdout.rows,
    alter: options.ascii ? toAscii : undefined,
    // Ink hides the cursor and enables bracketed paste itself; the modes restore both.
    control: sequence => {
      if (sequence === '\u001b[?2004h' && shown) output.write(modes.enter('bracketedPaste'));
    },
  });
  const mouse = new Listeners<MouseEvent>();
  const input = new Input(stdin, () => painter.answered(), options.mouse ? mouse.notify : undefined);

  const enter = (): string =>
    modes.enter('title', 'alternateScreen', 'hiddenCursor', 'noWrap', ...(options.mouse ? (['mouse'] as const) : []));
  /** Gives the terminal back. Synchronous: nothing may come after it, even if the process exits right away. */
  const leave = (): void => output.writeNow(modes.leave());

  const failures = new Failures({
    write: (error, details) => writeCrashReport(options.crashFolder, error, options.redact, details),
    redact: options.redact,
  });

  const end = (code: number): void => {
    if (ended) return;
    ended = true;
    painter.close();
    external.kill();
    leave();
    for (const warning of warnings) writeNow(process.stderr.fd, options.redact(warning));
    input.close();
    try {
      instance.unmount();
    } catch {
      // It draws once more, which fails again if drawing is what failed. The terminal has already been restored.
    }
    // After the views: the caller waits for this before cleaning up.
    resolve(code);
  };

  const fail = (error: unknown): void => {
    if (ended) return;
    end(1);
    const { words, report } = failures.record(error);
    writeNow(
      process.stderr.fd,
      `benchtop failed: ${words}\nRuns on the service continue. ${report ? `The report is in ${report}` : 'No report could be written.'}\n`,
    );
    process.exit(1);
  };

  /** Reads the size of the terminal and redraws everything: a stopped process misses resizes. */
  const measure = (): void => void process.kill(process.pid, 'SIGWINCH');

  /**
   * Takes the terminal from the screen. Returns a function that gives it back, or undefined if the screen does not have
   * the terminal: keys may arrive while its last answers are awaited.
   */
  const release = async (): Promise<(() => void) | undefined> => {
    if (!shown) return undefined;
    shown = false;
    await painter.pauseAndDrain(answerMs);
    if (ended) return undefined;
    const takeBack = input.lend();
    leave();
    return () => {
      if (ended) return;
      takeBack();
      output.write(enter() + modes.enter('bracketedPaste'));
      shown = true;
      painter.open();
      measure();
    };
  };

  const runExternal: TerminalPort['runExternal'] = async (command, args) => {
    const bringBack = await release();
    if (!bringBack) throw new Error('Another program is using the terminal.');
    try {
      return await external.run(command, args);
    } finally {
      bringBack();
    }
  };

  /**
   * Suspends the process, or with 0 its group, until the shell continues it. If a pager has the terminal, it keeps it.
   */
  const suspend = async (pid: number): Promise<void> => {
    const bringBack = await release();
    if (ended || (!bringBack && !external.isRunning)) return;
    options.onSuspend(true);
    process.off('SIGTSTP', onStopSignal);
    await stopUntilContinued(pid);
    process.on('SIGTSTP', onStopSignal);
    continuedAt = performance.now();
    bringBack?.();
    options.onSuspend(false);
  };
  const onStopSignal = (): void => void suspend(process.pid);

  /** Ends another program that has the terminal, and then this one. */
  const endBy = async (signal: EndingSignal): Promise<void> => {
    if (external.isRunning && !(await external.end())) {
      input.renew();
      output.writeNow(switchAllOff());
    }
    end(codeOf(signal));
    process.exit(codeOf(signal));
  };

  const port: TerminalPort = {
    writeRaw: sequence => output.write(sequence),
    runExternal,
    suspend: () => {
      if (input.heardAt - continuedAt > typedBeforeMs) void suspend(0);
    },
    quit: (code = 0) => void painter.pauseAndDrain(answerMs).then(() => end(code)),
    repaint: measure,
    failures,
    ...(options.mouse && { mouse }),
  };

  for (const signal of endingSignals) {
    process.on(signal, () => {
      // Keys of a pager, which the terminal sends to all its programs.
      if (external.takesKeys && (signal === 'SIGINT' || signal === 'SIGQUIT')) return;
      void endBy(signal);
    });
  }
  process.on('SIGTSTP', onStopSignal);
  process.on('SIGCONT', () => {
    // After a stop that could not be handled: the shell had the terminal.
    if (!shown) return;
    input.renew();
    output.write(modes.renew());
    measure();
  });
  // Written immediately they would appear in the middle of the screen.
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (warning.name !== 'ExperimentalWarning') warnings.push(`${warning.name}: ${warning.message}\n`);
  });
  /** An error thrown by a timer, a listener or a promise of a view costs a line on the screen, not the program. */
  const survive = (error: unknown): void => {
    if (!failures.announce(error)) fail(error);
  };
  process.on('uncaughtException', survive);
  process.on('unhandledRejection', survive);
  process.on('exit', leave);
  // Not stdout's own event: it misses a size that changed and changed back, after which the terminal has lost what it
  // cut off.
  process.on('SIGWINCH', () => stream.resize(stdout.columns, stdout.rows));
  // The line was cut.
  for (const source of [stdin, stdout]) source.on('error', () => void endBy('SIGHUP'));
  stdin.on('end', () => void endBy('SIGHUP'));

  // Before any request to the terminal: its answers must not be echoed.
  input.setRawMode(true);
  // Synchronous: the first frame need not wait for these bytes to be accepted.
  output.writeNow(enter());
  const screen = (
    <ProgramBoundary failures={failures} onQuit={port.quit}>
      {draw(port)}
    </ProgramBoundary>
  );
  const instance = render(screen, {
    stdout: stream as unknown as NodeJS.WriteStream,
    stdin: input as unknown as NodeJS.ReadStream,
    debug: true,
    interactive: true,
    exitOnCtrlC: false,
    patchConsole: true,
  });
  instance.waitUntilExit().then(() => end(0), fail);
  return promise;
}

/** A process that still runs this long after it should have been stopped has no shell that could continue it. */
const continueAnywayMs = 150;

/**
 * Stops a process, or with 0 the whole group, so that a launcher between the shell and the program stops too. Resolves
 * when the process continues; immediately if it cannot be stopped, as in a terminal without a shell.
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
