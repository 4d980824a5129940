/** Runs another program (a pager, an editor) on the terminal while this one continues without drawing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants as fileConstants, openSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** A signal from a key meant for a program may arrive this long after the program has ended. */
const lateMs = 1_000;
/** How long a program has to exit and give back the terminal when asked. */
const graceMs = 400;

/**
 * Opens the terminal a second time: this program's writes must not block, other programs' writes must, and blocking is
 * a property of the open file. Undefined if the process has no terminal.
 */
function openTerminal(): number | undefined {
  try {
    return openSync('/dev/tty', fileConstants.O_RDWR);
  } catch {
    return undefined;
  }
}

/** The leaf processes below a process. The shell in between waits for these. Linux only. */
function leavesOf(pid: number): number[] {
  let children: number[] = [];
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    children = text.split(' ').map(Number).filter(Boolean);
  } catch {
    // The process has ended, or this is not Linux.
  }
  return children.length === 0 ? [pid] : children.flatMap(leavesOf);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process ended on its own.
  }
}

export class External {
  #child: ChildProcess | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /**
   * Whether keyboard signals are for the external program. A signal that ends it may arrive here after its exit is
   * known: a process with several threads receives signals in no particular order.
   */
  get takesKeys(): boolean {
    return this.isRunning || performance.now() - this.#endedAt < lateMs;
  }

  /**
   * Runs a program until it ends. Returns its exit code; 128 plus the signal number if a signal ended it.
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
      this.#endedAt = performance.now();
    }
  }

  /** Asks the program to end; does not wait. */
  kill(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    for (const leaf of leavesOf(pid)) send(leaf, signal);
    if (signal === 'SIGKILL') send(pid, signal);
  }

  /** Ends the program. Returns whether it ended when asked, and so could restore the terminal. */
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
