/** The built program in a real pseudo-terminal, read through an emulator. Nothing sleeps: waiting ends with the screen. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn as spawnInTerminal } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { version } from '../../src/commands/version.ts';
import { endHolder, FolderHeld, stopService } from '../../src/local/daemon/client.ts';
import { bytesOf } from '../screen.ts';
import { svgOf } from './svg.ts';

export const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** The command line that starts the program. */
export const programLine = `'${process.execPath}' '${program}'`;
const limitMs = Number(process.env['E2E_LIMIT_MS'] ?? 60_000);

/** A separate home folder, and an environment without the developer's settings. */
export function freshHome(): { home: string; env: Record<string, string>; remove: () => Promise<void> } {
  const home = mkdtempSync(join(tmpdir(), 'e2e-'));
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  const remove = async (): Promise<void> => {
    const dataFolder = join(home, '.local/share/benchtop');
    await stopService(dataFolder).catch(async (error: unknown) => {
      if (!(error instanceof FolderHeld) || error.pid === undefined) throw error;
      await endHolder(dataFolder, error.pid);
    });
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { home, env, remove };
}

/** A copy of the program in `folder` that reports the next version. */
export function newerProgram(folder: string, next: string): string {
  const built = dirname(program);
  cpSync(built, folder, { recursive: true });
  const own = new RegExp(`(["'\`])${version.replaceAll('.', '\\.')}\\1`, 'g');
  let changed = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
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

export interface Session {
  readonly press: (...keys: string[]) => void;
  readonly type: (text: string) => void;
  readonly text: () => string;
  /** The terminal's content as a picture. */
  readonly svg: () => string;
  readonly waitFor: (wanted: string | RegExp) => Promise<void>;
  /** Waits until the screen has changed. */
  readonly changed: (before: string) => Promise<void>;
  /** Waits until this text is gone from the terminal. */
  readonly gone: (words: string) => Promise<void>;
  readonly resize: (columns: number, rows: number) => void;
  readonly signal: (name: string) => void;
  /** Everything sent to the terminal so far. */
  readonly sent: () => string;
  /** Stops reading, like a terminal whose line has stalled. */
  readonly stall: () => void;
  readonly pid: number;
  /** Resolves when the program has ended. */
  readonly ended: Promise<{ exitCode: number }>;
  /** Terminal modes that the program left switched on. */
  readonly leftOn: () => string[];
  /** The content of the terminal's main screen, after the program. */
  readonly mainScreen: () => string;
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
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const [command, ...words] = inShell === true ? shell : inShell || [node, started, ...args];
  const child = spawnInTerminal(command, words, {
    cols: columns,
    rows,
    env: inShell ? { ...env, PS1: 'ready> ' } : env,
    cwd,
    name: env['TERM'] ?? 'xterm-256color',
  });
  let sent = '';
  child.onData(data => {
    sent += data;
    terminal.write(data);
  });
  terminal.onData(reply => child.write(reply));
  const ended = new Promise<{ exitCode: number }>(resolve => child.onExit(resolve));
  const lines = (buffer: typeof terminal.buffer.active): string =>
    Array.from(
      { length: terminal.rows },
      (_, row) => buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? '',
    ).join('\n');
  const text = (): string => lines(terminal.buffer.active);

  const until = async (seen: () => boolean, wanted: string | RegExp): Promise<void> => {
    const deadline = Date.now() + limitMs;
    while (!seen()) {
      if (Date.now() > deadline) throw new Error(`waited in vain for ${wanted}; the terminal shows:\n${text()}`);
      await new Promise<void>(resolve => terminal.write('', resolve));
      await new Promise(resolve => setTimeout(resolve, 10));
    }
  };
  const waitFor = (wanted: string | RegExp): Promise<void> =>
    until(() => (typeof wanted === 'string' ? text().includes(wanted) : wanted.test(text())), wanted);
  /** The last of these sequences decides. */
  const isOn = (on: string, off: string): boolean => sent.lastIndexOf(on) > sent.lastIndexOf(off);
  return {
    press: (...keys) => {
      for (const key of keys) child.write(bytesOf(key));
    },
    type: typed => child.write(typed),
    text,
    svg: () => svgOf(terminal),
    waitFor,
    gone: words => until(() => !text().includes(words), `the end of ${words}`),
    changed: async before => {
      const deadline = Date.now() + limitMs;
      while (text() === before) {
        if (Date.now() > deadline) throw new Error(`nothing changed on the terminal:\n${before}`);
        await new Promise<void>(resolve => terminal.write('', resolve));
        await new Promise(resolve => setTimeout(resolve, 5));
      }
    },
    resize: (newColumns, newRows) => {
      terminal.resize(newColumns, newRows);
      child.resize(newColumns, newRows);
    },
    signal: name => child.kill(name),
    sent: () => sent,
    stall: () => child.pause(),
    pid: child.pid,
    ended,
    leftOn: () =>
      [
        isOn('\u001b[?1049h', '\u001b[?1049l') ? 'alternate screen' : '',
        isOn('\u001b[?25l', '\u001b[?25h') ? 'hidden cursor' : '',
        isOn('\u001b[?7l', '\u001b[?7h') ? 'no wrap' : '',
        isOn('\u001b[?2004h', '\u001b[?2004l') ? 'bracketed paste' : '',
        ...[1000, 1002, 1003, 1006].map(mode =>
          isOn(`\u001b[?${mode}h`, `\u001b[?${mode}l`) ? `mouse mode ${mode}` : '',
        ),
      ].filter(Boolean),
    mainScreen: () => lines(terminal.buffer.normal),
  };
}

/** A shell in which the program was started. `leftOn` ignores bracketed paste, which the shell enables itself. */
export async function openInShell(env: Record<string, string>): Promise<Session> {
  const session = openSession(env, { inShell: true });
  await session.waitFor(prompt);
  session.type(`${programLine}\r`);
  await session.waitFor('▸ t-words');
  return { ...session, leftOn: () => session.leftOn().filter(mode => mode !== 'bracketed paste') };
}
