/**
 * What a command of the command line reads and writes. Standard output holds the result and nothing else, so that it can be
 * piped; all that is said beside it goes to standard error.
 */
import type { Readable } from 'node:stream';
import { sanitise } from '../text/sanitise.ts';
import { isAsciiOnly, toAscii } from '../text/terminal.ts';

export interface CommandIo {
  readonly environment: NodeJS.ProcessEnv;
  readonly input: Readable & { readonly isTTY?: boolean | undefined };
  /** Writes to standard output as it is. Resolves once there is room for more. */
  readonly print: (text: string) => Promise<void>;
  /** Says something beside the result, on a line of its own. Made safe for a terminal. */
  readonly note: (text: string) => void;
  /** Columns of the terminal that the output goes to; undefined where it goes to a file or a pipe. */
  readonly columns: number | undefined;
  /** Aborts on ctrl-c. A second one ends the program at once. */
  readonly signal: AbortSignal;
}

/** The process's own input and output. */
export function processIo(): CommandIo {
  const { stdin, stdout, stderr, env } = process;
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());
  // Whoever reads has had enough (`| head`): that is no failure.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  const shown = isAsciiOnly(env) ? toAscii : (text: string) => text;
  return {
    environment: env,
    input: stdin,
    print: text =>
      new Promise(resolve => {
        // What goes to a file or a pipe is data, and stays as it is.
        if (stdout.write(stdout.isTTY ? shown(text) : text)) resolve();
        else stdout.once('drain', resolve);
      }),
    note: text => void stderr.write(`${shown(sanitise(text, { multiline: true }))}\n`),
    columns: stdout.isTTY ? stdout.columns : undefined,
    signal: interrupt.signal,
  };
}
