/** The built program, each session with its own home folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { version } from '../../src/base/version.ts';
import { endHolder, FolderHeldError, stopService } from '../../src/local/daemon/client.ts';
import { readAddress } from '../../src/local/daemon/files.ts';
import { program, Terminal } from '../../tools/rig/terminal.ts';

export { program };
export type Session = Terminal;

/** The command line that starts the program. */
export const programLine = `'${process.execPath}' '${program}'`;

/** The data folder of the local service in a home folder. */
export const dataFolderIn = (home: string): string => join(home, '.local/share/benchtop');

/** Kills the local service of a data folder, as a power failure would. */
export function killService(dataFolder: string): void {
  try {
    process.kill(readAddress(dataFolder)?.pid ?? Number.NaN, 'SIGKILL');
  } catch {
    // It was not started, or has ended.
  }
}

export interface Home extends AsyncDisposable {
  readonly home: string;
  readonly env: Record<string, string>;
  /** Stops its local service, too. */
  readonly remove: () => Promise<void>;
}

/** A separate home folder, and an environment without the developer's settings. */
export function freshHome(): Home {
  const home = mkdtempSync(join(tmpdir(), 'e2e-'));
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  const remove = async (): Promise<void> => {
    const dataFolder = dataFolderIn(home);
    await stopService(dataFolder).catch(async (error: unknown) => {
      if (!(error instanceof FolderHeldError) || error.pid === undefined) throw error;
      await endHolder(dataFolder, error.pid);
    });
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { home, env, remove, [Symbol.asyncDispose]: remove };
}

/** A copy of the program in `folder` that reports the next version. */
export function newerProgram(folder: string, next: string): string {
  const built = dirname(program);
  cpSync(built, folder, { recursive: true });
  const own = new RegExp(`(["'\`])${version.replaceAll('.', '\\.')}\\1`, 'g');
  let changed = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.c?js$/.test(name)) continue;
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    if (!own.test(text)) continue;
    writeFileSync(path, text.replaceAll(own, `"${next}"`));
    changed += 1;
  }
  if (changed === 0) throw new Error(`${built} does not say that it is version ${version}`);
  return join(folder, 'main.js');
}

/** Runs the program without a terminal and returns its output. */
export function run(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  return new Promise(resolve => {
    const child: ChildProcess = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', part => {
        output += String(part);
      });
    }
    child.on('close', code => resolve({ code, output }));
  });
}

/** A shell with job control, without the developer's settings. */
const shell = ['bash', '--norc', '--noprofile', '-i'] as const;
/** The shell's prompt at the end of the screen: with an earlier prompt above, a program may still read the input. */
export const prompt = /ready>\s*$/;

/** Starts the program; or, with `inShell`, a shell in which typing `programLine` starts it: bash, or a command. */
export function openSession(
  env: Record<string, string>,
  {
    columns = 120,
    rows = 40,
    args = [] as readonly string[],
    cwd = process.cwd(),
    inShell = false as boolean | readonly [command: string, ...args: string[]],
    program: started = program,
    node = process.execPath,
  } = {},
): Session {
  const command = inShell === true ? shell : inShell || ([node, started, ...args] as const);
  return new Terminal({ command, env: inShell ? { ...env, PS1: 'ready> ' } : env, cwd, columns, rows });
}

/** A shell in which the program was started. `leftOn` ignores bracketed paste, which the shell enables itself. */
export async function openInShell(env: Record<string, string>): Promise<Session> {
  const session = openSession(env, { inShell: true });
  await session.waitFor(prompt);
  session.type(`${programLine} open benchmarks\r`);
  await session.waitFor('▸ t-words');
  const leftOn = session.leftOn.bind(session);
  return Object.assign(session, { leftOn: () => leftOn().filter(mode => mode !== 'bracketed paste') });
}

/**
 * Waits until the shell has stopped its program and reads commands, and deletes what it got for the program: an answer of
 * the terminal. Before its prompt the terminal edits lines itself, and its ctrl-u does not reach what came in raw mode.
 */
export async function stoppedInShell(session: Session): Promise<void> {
  await session.waitFor(/Stopped.*ready> /s);
  session.type('\u0015');
}
