/** Filters with the installed jq. A partial reimplementation of jq would get the rest of the language wrong. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { errorCode } from '../base/errors.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';

/** jq's exit code for a filter that does not compile. */
const notCompiled = 3;

/**
 * Checks a filter before any request is sent.
 *
 * @throws CommandError if jq is not on the PATH, or the filter does not compile
 */
export async function checkFilter(filter: string, io: CommandIo): Promise<void> {
  // Without input, jq only compiles the filter.
  const { code, words } = await jq('', filter, io);
  if (code === notCompiled) throw new CommandError(`jq refuses the filter: ${words}`);
}

/**
 * Runs `jq -r FILTER` on the JSON.
 *
 * @throws CommandError if jq is not on the PATH or refuses the filter; with exit code 1 if the filter fails on this
 * JSON
 */
export async function runJq(json: string, filter: string, io: CommandIo): Promise<string> {
  const { output, code, words } = await jq(json, filter, io);
  if (code === 0) return output;
  if (code === notCompiled) throw new CommandError(`jq refuses the filter: ${words}`);
  throw new CommandError(`jq failed: ${words}`, exitCodes.failed);
}

/** Runs jq. Returns its output, its exit code and the first line of its standard error. */
async function jq(json: string, filter: string, { environment, signal }: CommandIo) {
  // jq 1.6 does not know `--`: a leading space keeps a filter that begins with a dash from being read as an option.
  const argument = filter.startsWith('-') ? ` ${filter}` : filter;
  const child = spawn('jq', ['-r', argument], { env: environment, signal, stdio: 'pipe' });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  // jq may exit before reading its input.
  child.stdin.on('error', () => {}).end(json);
  try {
    const [output, words, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { output, code, words: words.trim().split('\n')[0] ?? '' };
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new CommandError(
      '--jq needs the program jq, which is not on the PATH. --field NAME gives one field without it.',
    );
  }
}
