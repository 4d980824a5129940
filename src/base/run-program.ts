/** Runs programs that print a short result. */
import { type ChildProcess, spawn } from 'node:child_process';
import { errorCode } from './errors.ts';

const maxOutputBytes = 64 * 1_024;
const hasProcessGroups = process.platform !== 'win32';

interface RunOptions {
  readonly limitMs: number;
  /** Text for standard input. Without it, the program has neither standard input nor standard error. */
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Kills a program and its children, if the system has process groups. */
function killGroup(child: ChildProcess): void {
  child.stdout?.destroy();
  try {
    if (hasProcessGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It exited on its own.
  }
}

/**
 * Runs a program without a shell, so that no word is expanded or split, and returns its output. It is killed with its
 * children at the time limit, after printing more than 64 KiB, once the signal aborts, and when this process exits.
 *
 * @throws Error with a message that follows the program's name in a sentence
 */
export async function runProgram(
  [program = '', ...parameters]: readonly string[],
  { limitMs, input, signal }: RunOptions,
): Promise<string> {
  const stopped = 'was stopped before it ended';
  if (signal?.aborted) throw new Error(stopped);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(program, parameters, {
    stdio: input === undefined ? ['ignore', 'pipe', 'ignore'] : 'pipe',
    detached: hasProcessGroups,
    shell: false,
  });
  const fail = (words: string): void => reject(new Error(words));
  const stop = (words: string): void => {
    fail(words);
    killGroup(child);
  };
  const onAbort = (): void => stop(stopped);
  const onExit = (): void => killGroup(child);
  const timer = setTimeout(() => stop(`took longer than ${limitMs / 1_000} s`), limitMs);
  signal?.addEventListener('abort', onAbort);
  process.on('exit', onExit);
  const output: Buffer[] = [];
  let [bytes, problem] = [0, ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    output.push(chunk);
    bytes += chunk.length;
    if (bytes > maxOutputBytes) stop(`printed more than ${maxOutputBytes / 1_024} KiB`);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-maxOutputBytes);
  });
  child.on('error', error => {
    const words = errorCode(error) === 'ENOENT' ? 'was not found' : `could not be started (${errorCode(error)})`;
    reject(new Error(words, { cause: error }));
  });
  child.on('close', (code, killedBy) => {
    if (code === 0) return resolve(Buffer.concat(output).toString());
    const last = problem.trim().split('\n').at(-1);
    fail(`${killedBy ? `was killed by ${killedBy}` : `failed with exit code ${code}`}${last && `: ${last}`}`);
  });
  // A program that does not read its input closes it.
  child.stdin?.on('error', () => {}).end(input);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    process.off('exit', onExit);
  }
}
