/**
 * The one way the program gets onto the terminal, and off it again: by a key, by a signal, by a failure, or because the
 * terminal itself has gone. Whatever was switched on is switched off with a write that does not wait.
 */
import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { render } from 'ink';
import type { ReactNode } from 'react';
import type { MouseEvent } from '../../keys/mouse.ts';
import { ProgramBoundary } from '../failure-boundary.tsx';
import { Failures } from '../failures.ts';
import { PaintStream } from '../painter/paint-stream.ts';
import { Painter } from '../painter/painter.ts';
import type { TerminalPort } from '../terminal-port.ts';
import { writeCrashReport } from './crash-report.ts';
import { Input } from './input.ts';
import { Modes } from './modes.ts';

export interface StartTerminalOptions {
  /** Told when the program is suspended and when it goes on. */
  readonly onSuspend: (suspended: boolean) => void;
  /** Where a report of a failure is put. */
  readonly crashFolder: string;
  readonly redact: (text: string) => string;
  /** Takes the mouse, which takes the terminal's own selection away. */
  readonly mouse: boolean;
}

/** Exit codes of a program that a signal ended: 128 and its number. */
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** How long an answer of the terminal is waited for before somebody else gets it. */
const answerMs = 500;

/** Draws the program until it ends. Gives the exit code. */
export function startTerminal(draw: (port: TerminalPort) => ReactNode, options: StartTerminalOptions): Promise<number> {
  const { stdin, stdout } = process;
  const modes = new Modes();
  const { promise, resolve } = Promise.withResolvers<number>();
  const warnings: string[] = [];
  let ended = false;

  const painter = new Painter(
    { write: bytes => stdout.write(bytes), isBlocked: () => stdout.writableNeedDrain },
    { columns: stdout.columns, rows: stdout.rows },
  );
  const stream = new PaintStream(painter, {
    columns: stdout.columns,
    rows: stdout.rows,
    // Ink hides the cursor and asks for pastes by itself; the modes know how to give them back.
    control: sequence => {
      if (sequence === '\u001b[?2004h') stdout.write(modes.enter('bracketedPaste'));
    },
  });
  const mice = new Set<(event: MouseEvent) => void>();
  const tellMouse = (event: MouseEvent): void => {
    for (const listener of mice) listener(event);
  };
  const input = new Input(stdin, () => painter.answered(), options.mouse ? tellMouse : undefined);

  const enter = (): string =>
    modes.enter('title', 'alternateScreen', 'hiddenCursor', 'noWrap', ...(options.mouse ? (['mouse'] as const) : []));
  /** Gives the terminal back. Synchronous: nothing may come after it, not even when the process ends at once. */
  const leave = (): void => {
    const bytes = modes.leave();
    if (bytes === '') return;
    try {
      writeSync(stdout.fd, bytes);
    } catch {
      // The terminal is gone; there is nothing to give back.
    }
  };

  const failures = new Failures({
    write: (error, details) => writeCrashReport(options.crashFolder, error, options.redact, details),
    redact: options.redact,
  });

  const end = (code: number): void => {
    if (ended) return;
    ended = true;
    painter.close();
    leave();
    for (const warning of warnings) process.stderr.write(options.redact(warning));
    input.close();
    try {
      instance.unmount();
    } catch {
      // It draws once more, which fails again where drawing is what failed. The terminal has been given back already.
    }
    // Behind the views: what they leave behind is cleared up by whoever waits for this.
    resolve(code);
  };

  const fail = (error: unknown): void => {
    if (ended) return;
    end(1);
    const { words, report } = failures.record(error);
    process.stderr.write(
      `benchtop failed: ${words}\nRuns on the service go on. ${report ? `The report is in ${report}` : 'No report could be written.'}\n`,
    );
    process.exit(1);
  };

  const enterAgain = (): void => {
    stdout.write(enter() + modes.enter('bracketedPaste'));
    painter.open();
    stream.resize(stdout.columns, stdout.rows);
    options.onSuspend(false);
  };

  const lend = async <Result,>(use: () => Result): Promise<Result> => {
    await painter.hush(answerMs);
    const takeBack = input.lend();
    leave();
    options.onSuspend(true);
    try {
      return use();
    } finally {
      takeBack();
      enterAgain();
    }
  };

  const suspend = async (): Promise<void> => {
    await painter.hush(answerMs);
    const takeBack = input.lend();
    leave();
    options.onSuspend(true);
    // Something must keep the process alive between the signal that continues it and the first read.
    const alive = setInterval(() => {}, 1_000);
    process.once('SIGCONT', () => {
      clearInterval(alive);
      takeBack();
      enterAgain();
    });
    // To the whole group: a launcher between the shell and the program stops with it.
    process.kill(0, 'SIGTSTP');
  };

  const port: TerminalPort = {
    writeRaw: sequence => stdout.write(sequence),
    runExternal: (command, args) => lend(() => spawnSync(command, [...args], { stdio: 'inherit' }).status ?? 1),
    suspend: () => void suspend(),
    quit: (code = 0) => void painter.hush(answerMs).then(() => end(code)),
    repaint: () => painter.repaint(),
    failures,
    ...(options.mouse && {
      mouse: {
        subscribe: (listener: (event: MouseEvent) => void) => {
          mice.add(listener);
          return () => mice.delete(listener);
        },
      },
    }),
  };

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      end(signalCodes[signal]);
      process.exit(signalCodes[signal]);
    });
  }
  // Written at once they would stand in the middle of the screen.
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (warning.name !== 'ExperimentalWarning') warnings.push(`${warning.name}: ${warning.message}\n`);
  });
  /** What a timer, a listener or a promise of a view throws costs a line on the screen, not the program. */
  const survive = (error: unknown): void => {
    if (!failures.announce(error)) fail(error);
  };
  process.on('uncaughtException', survive);
  process.on('unhandledRejection', survive);
  process.on('exit', leave);
  // Not stdout's own event: a size that has changed and changed back is none to it, but the terminal has lost what it cut off.
  process.on('SIGWINCH', () => stream.resize(stdout.columns, stdout.rows));
  stdout.on('drain', () => painter.resume());
  // The line has been cut: nobody is there to be told.
  for (const source of [stdin, stdout]) source.on('error', () => end(signalCodes.SIGHUP));
  stdin.on('end', () => end(signalCodes.SIGHUP));

  // Before anything is asked of the terminal: what it answers must not be echoed.
  input.setRawMode(true);
  stdout.write(enter());
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
