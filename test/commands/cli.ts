/** Runs commands like a script: arguments in; output, notes and an exit code out. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import { describeFailure } from '../../src/commands/failure.ts';
import type { CommandIo } from '../../src/commands/io.ts';
import { runCommandLine } from '../../src/commands/run.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

export interface CliOptions {
  readonly input?: string | Readable;
  /** The input is a terminal. */
  readonly asked?: boolean;
  /** Width of a terminal; a pipe if missing. */
  readonly columns?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called when the command asks to be stopped by SIGTERM and SIGHUP too. */
  readonly onStopOnSignals?: () => void;
  /** Called with the handler of ctrl-c, if the command registers one. */
  readonly onInterrupt?: (listener: () => boolean) => void;
  /** Called with the exit code for a reader that goes early. */
  readonly onExitUnread?: (code: number) => void;
  /** Called with each note. */
  readonly onNote?: (text: string) => void;
  /** Called with each chunk of output. */
  readonly onPrint?: (text: string) => void;
}

/** A folder that is removed when the test ends. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes the next `--timeout` end when the result is called. */
export function timeIsUp(): () => void {
  const limit = new AbortController();
  const spy = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(limit.signal);
  onTestFinished(() => spy.mockRestore());
  return () => limit.abort(new DOMException('The time is up.', 'TimeoutError'));
}

interface Place {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The user's home; by default one that is removed with the test. */
  readonly home?: string;
}

/** Commands on the service at an address. */
export function cliOn({ baseUrl, apiKey, home = testFolder() }: Place) {
  return async (command: string, args: readonly string[], options: CliOptions = {}): Promise<Outcome> => {
    const {
      input = '',
      asked = false,
      columns,
      environment = {},
      signal,
      onPrint,
      onNote,
      onInterrupt,
      onStopOnSignals,
      onExitUnread,
    } = options;
    const typed = typeof input === 'string' ? Readable.from([input]) : input;
    let out = '';
    const notes: string[] = [];
    const note = (text: string): void => {
      notes.push(text);
      onNote?.(text);
    };
    const io: CommandIo = {
      environment: {
        HOME: home,
        BENCHTOP_BASE_URL: baseUrl,
        BENCHTOP_API_KEY: apiKey,
        ...environment,
      },
      input: asked ? Object.assign(typed, { isTTY: true }) : typed,
      print: async text => {
        out += text;
        onPrint?.(text);
      },
      note,
      fail: async error => note(describeFailure(error)),
      columns,
      poll: { focusedMs: 20, visibleMs: 100 },
      silentMs: 600_000,
      signal: signal ?? new AbortController().signal,
      ...(onStopOnSignals && { stopOnSignals: onStopOnSignals }),
      ...(onInterrupt && { onInterrupt }),
      ...(onExitUnread && { exitUnread: onExitUnread }),
    };
    // The tab key waits so briefly for the service that a busy machine may be too late.
    const limits = command === '__complete' ? vi.spyOn(AbortSignal, 'timeout') : undefined;
    limits?.mockImplementation(() => new AbortController().signal);
    const code = await runCommandLine([...command.split(' ').filter(Boolean), ...args], io);
    limits?.mockRestore();
    return { code, out, notes: notes.join('\n') };
  };
}
