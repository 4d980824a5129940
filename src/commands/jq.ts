/** Filters of jq, by the jq of this machine: a part of its language that looks like the whole would give wrong results. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { errorCode } from '../text/errors.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';

/** What jq exits with where a filter cannot be compiled. */
const notCompiled = 3;

/**
 * Checks a filter by the jq of this machine before anything is asked.
 *
 * @throws CommandError if jq is not on the PATH, or the filter cannot be compiled
 */
export async function checkFilter(filter: string, io: CommandIo): Promise<void> {
  // Without input nothing runs, and everything is compiled.
  const { code, words } = await jq('', filter, io);
  if (code === notCompiled) throw new CommandError(`jq refuses the filter: ${words}`);
}

/**
 * What `jq -r FILTER` prints for the JSON.
 *
 * @throws CommandError if jq is not on the PATH, or refuses the filter; where it fails on this JSON, with exit code 1
 */
export async function runJq(json: string, filter: string, io: CommandIo): Promise<string> {
  const { output, code, words } = await jq(json, filter, io);
  if (code === 0) return output;
  if (code === notCompiled) throw new CommandError(`jq refuses the filter: ${words}`);
  throw new CommandError(`jq failed: ${words}`, exitCodes.failed);
}

/** Its exit code, and the first line of what it wrote to standard error. */
async function jq(json: string, filter: string, { environment, signal }: CommandIo) {
  // jq 1.6 does not know `--`: a space before a filter that begins with a dash keeps it from being read as an option.
  const argument = filter.startsWith('-') ? ` ${filter}` : filter;
  const child = spawn('jq', ['-r', argument], { env: environment, signal, stdio: 'pipe' });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  // It may refuse the filter without reading.
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
