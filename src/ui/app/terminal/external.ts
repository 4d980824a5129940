/** Another program on the terminal (a pager, an editor), which runs while this one continues its work without drawing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants as fileConstants, openSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** A program that is asked to end has so long to give the terminal back. */
const graceMs = 400;

/**
 * The terminal, opened once more: what this program writes must not wait, what another one writes must, and that is a
 * property of the open file. Undefined if the process has no terminal of its own.
 */
function openTerminal(): number | undefined {
  try {
    return openSync('/dev/tty', fileConstants.O_RDWR);
  } catch {
    return undefined;
  }
}

/** The processes below one that have none below them. The shell between waits for these. Only Linux says which. */
function leavesOf(pid: number): number[] {
  let children: number[] = [];
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    children = text.split(' ').map(Number).filter(Boolean);
  } catch {
    // It has ended, or this is another system.
  }
  return children.length === 0 ? [pid] : children.flatMap(leavesOf);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

export class External {
  #child: ChildProcess | undefined;

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /**
   * Runs it until it ends. Returns its exit code; 128 and the number of the signal that ended it.
   *
   * @throws Error if it cannot be started
   */
  async run(command: string, args: readonly string[]): Promise<number> {
    const terminal = openTerminal();
    const child = spawn(command, [...args], { stdio: terminal ? [terminal, terminal, 'inherit'] : 'inherit' });
    if (terminal) closeSync(terminal);
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    try {
      return await promise;
    } finally {
      this.#child = undefined;
    }
  }

  /** Asks it to end, without waiting for that. */
  kill(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    for (const leaf of leavesOf(pid)) send(leaf, signal);
    if (signal === 'SIGKILL') send(pid, signal);
  }

  /** Ends it. Returns whether it ended when asked to, and so had the time to leave the terminal as it had found it. */
  async end(): Promise<boolean> {
    const child = this.#child;
    if (!child) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    child.once('exit', () => resolve(true));
    this.kill();
    const timer = setTimeout(() => {
      this.kill('SIGKILL');
      resolve(false);
    }, graceMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
