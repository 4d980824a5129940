/**
 * Input and output of a command. Standard output holds the result and nothing else, so that it can be piped; everything
 * else goes to standard error.
 */
import type { Readable } from 'node:stream';
import { errorCode } from '../base/errors.ts';
import type { PollIntervals } from '../queries/polling.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { defaultColumns, isAsciiOnly, toAscii } from '../text/terminal.ts';
import { CommandError, type ExitCode, exitCodes, Interruption } from './exit.ts';
import { writeOutput } from './standard-output.ts';

/** A note's data, which only JSON output contains, next to the text. */
export type NoteFields = Readonly<Record<string, unknown>>;

/** Line mode's additions to a command's input and output. */
export interface LineMode {
  /** Asks, and returns the line that the user types. @throws Error if the user interrupts, or ends the input */
  readonly ask: (question: string, hidden: boolean) => Promise<string>;
  /** Called with the name of a list and the ids of its numbered rows. */
  readonly listed: (name: string, ids: readonly string[]) => void;
}

export interface CommandIo {
  readonly environment: NodeJS.ProcessEnv;
  readonly input: Readable & { readonly isTTY?: boolean | undefined };
  /** Writes to standard output unchanged. Resolves once there is room for more. */
  readonly print: (text: string) => Promise<void>;
  /** Prints one line on standard error, made safe for a terminal. */
  readonly note: (text: string, fields?: NoteFields) => void;
  /** Reports an error the same way, without secrets. The exit code defaults to the error's own. */
  readonly fail: (error: unknown, code?: ExitCode) => Promise<void>;
  /** Overrides the poll intervals from the settings, e.g. so that a test need not wait for them. */
  readonly poll?: PollIntervals;
  /** Overrides after how long without a response the other rows of a list are not read, for the same reason. */
  readonly silentMs?: number;
  /** Width of the terminal in columns; undefined for a file or a pipe. */
  readonly columns: number | undefined;
  readonly lines?: LineMode;
  /** Calls the listener on ctrl-c. If it returns true, it has stopped something, and the signal is not aborted. */
  readonly onInterrupt?: (listener: () => boolean) => void;
  /** Aborts on ctrl-c, with an {@link Interruption}. A second ctrl-c ends the program immediately. */
  readonly signal: AbortSignal;
  /**
   * Lets SIGTERM, SIGHUP and SIGQUIT abort the signal too, so that a command can print the work that it started, or may
   * have started, and remove its files.
   */
  readonly stopOnSignals?: () => void;
  /**
   * Sets the exit code to use if standard output closes, which by default is success. For a command whose exit code
   * is its result: a reader that left early must not turn it into success.
   */
  readonly exitUnread?: (code: ExitCode) => void;
}

const ignore = (): void => {};

/** Writes safe text to standard error. */
function report(safe: string): void {
  // If the pipe is closed or the disk is full, only the exit code can report it.
  if (process.stderr.listenerCount('error', ignore) === 0) process.stderr.on('error', ignore);
  process.stderr.write(`${isAsciiOnly(process.env) ? toAscii(safe) : safe}\n`);
}

/** Keeps a note on one line, because CI systems treat some line beginnings in a log as commands. */
const note = (text: string): void => report(sanitiseLine(text));

/**
 * Ends the process when standard output fails.
 *
 * @param unread the exit code if the reader closes the pipe (`| head`), which is not an error
 */
export function stopWriting(
  { code, name, message }: NodeJS.ErrnoException,
  asJson = false,
  unread: ExitCode = exitCodes.done,
): never {
  if (code === 'EPIPE') process.exit(unread);
  const words = `The output is incomplete: ${code === 'ENOSPC' ? 'the disk is full' : message} (${code}).`;
  const error = { name, kind: 'failed', message: words, code, exit_code: exitCodes.failed };
  note(asJson ? JSON.stringify({ error }) : `benchtop: ${words}`);
  process.exit(exitCodes.failed);
}

type Input = Pick<CommandIo, 'input' | 'signal'>;

/**
 * Reads standard input to its end.
 *
 * @param waitMs how long to wait for the first byte; returns undefined after that, and closes the input so that it does
 * not keep the process alive
 * @throws CommandError if it is not UTF-8, AbortError if the user interrupts
 */
export function readInput(io: Input): Promise<string>;
export function readInput(io: Input, waitMs: number | undefined): Promise<string | undefined>;
export async function readInput({ input, signal }: Input, waitMs?: number): Promise<string | undefined> {
  let text = '';
  let gaveUp = false;
  const stop = (): void => void input.destroy(signal.reason);
  const timer =
    waitMs === undefined
      ? undefined
      : setTimeout(() => {
          gaveUp = true;
          input.destroy();
        }, waitMs);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    // Invalid UTF-8 must not be sent as different text.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    for await (const part of input) {
      clearTimeout(timer);
      text += typeof part === 'string' ? part : decoder.decode(part, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    if (gaveUp) return undefined;
    if (errorCode(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      throw new CommandError('Standard input is not UTF-8. Nothing was sent.');
    }
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/**
 * The process's streams. Each is opened on first use, because opening it takes Node a few milliseconds.
 *
 * @param asJson whether a failure of standard output is reported as JSON
 */
export function processIo(asJson: boolean): CommandIo {
  let unread: ExitCode = exitCodes.done;
  const stop = (error: Error): never => stopWriting(error, asJson, unread);
  const interrupt = new AbortController();
  const stopOn = (name: NodeJS.Signals, code: ExitCode) =>
    process.once(name, () => interrupt.abort(new Interruption(code)));
  let stopsOther = (): boolean => false;
  const interrupted = (): void => {
    if (stopsOther()) return;
    process.off('SIGINT', interrupted);
    interrupt.abort(new Interruption(exitCodes.interrupted));
  };
  process.on('SIGINT', interrupted);
  let stopsOnSignals = false;
  const shown = isAsciiOnly(process.env) ? toAscii : (text: string) => text;
  return {
    environment: process.env,
    get input() {
      return process.stdin;
    },
    // Output to a file or a pipe is data and stays unchanged.
    print: text => writeOutput(process.stdout.isTTY ? shown(text) : text, stop),
    note,
    fail: async error => report((await import('./failure.ts')).describeFailure(error)),
    get columns() {
      const { stdout } = process;
      // A terminal that reports no size has 0 columns.
      return stdout.isTTY ? stdout.columns || defaultColumns : undefined;
    },
    signal: interrupt.signal,
    onInterrupt: listener => {
      stopsOther = listener;
    },
    stopOnSignals: () => {
      // Called for every followed resource, but each listener is needed only once.
      if (stopsOnSignals) return;
      stopsOnSignals = true;
      stopOn('SIGTERM', exitCodes.terminated);
      stopOn('SIGHUP', exitCodes.hungUp);
      stopOn('SIGQUIT', exitCodes.quit);
    },
    exitUnread: code => {
      unread = code;
    },
  };
}
