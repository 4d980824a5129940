/** The built program in a real pseudo-terminal whose every byte is checked: its screens, its modes, its exit. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { SequenceReader } from './sequences.ts';

export const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface TerminalOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly columns: number;
  readonly rows: number;
  /** False for a terminal that answers no request. */
  readonly answers: boolean;
  readonly onUnmeant: (what: string) => void;
  /** Texts that must never be written. */
  readonly secrets: readonly string[];
}

export interface Terminal {
  readonly pid: number;
  readonly write: (bytes: string) => void;
  readonly resize: (columns: number, rows: number) => void;
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly signal: (name: string) => void;
  readonly text: () => string;
  /** The emulator's whole content: the screen, and the main screen before and after the program. */
  readonly everything: () => string;
  /** Waits for `ms` without output, at most ten times as long. */
  readonly quiet: (ms: number) => Promise<void>;
  readonly ended: Promise<{ readonly code: number; readonly at: number }>;
  readonly hasEnded: () => boolean;
  /** Differences from the state before the program. */
  readonly changed: () => Promise<readonly string[]>;
  readonly close: () => void;
}

/** Bytes at the end of a chunk that may be the beginning of a secret. */
const overlap = 64;

/**
 * While the terminal is lent or given back, the kernel itself echoes what is typed: keys, including tabs, which it erases
 * with `\b \b`, and pastes, whose marks it writes with a caret.
 */
function withoutEcho(data: string): string {
  return data
    .replaceAll('\b \b', '')
    .replace(/^\t+(?=\u001b|$)/, '')
    .replace(/\^\[\[200~.*?(?:\^\[\[201~?|$)/gs, '');
}

export function openTerminal(options: TerminalOptions): Terminal {
  let { columns, rows } = options;
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const reader = new SequenceReader(options.onUnmeant);
  const child = spawn(process.execPath, [program, ...options.args], {
    cols: columns,
    rows,
    env: { ...options.env },
    cwd: options.cwd,
    name: 'xterm-256color',
  });
  let lastByte = performance.now();
  let tail = '';
  let over = false;
  child.onData(data => {
    lastByte = performance.now();
    const text = tail + data;
    tail = text.slice(-overlap);
    for (const secret of options.secrets) if (text.includes(secret)) options.onUnmeant('a credential');
    reader.take(withoutEcho(data));
    terminal.write(data);
  });
  terminal.onData(reply => {
    if (options.answers && !over) child.write(reply);
  });
  const ended = new Promise<{ code: number; at: number }>(resolve =>
    child.onExit(({ exitCode }) => {
      over = true;
      resolve({ code: exitCode, at: performance.now() });
    }),
  );
  const linesOf = (buffer: typeof terminal.buffer.active, from: number): string =>
    Array.from(
      { length: Math.max(0, buffer.baseY + terminal.rows - from) },
      (_, row) => buffer.getLine(from + row)?.translateToString(true) ?? '',
    ).join('\n');
  const text = (): string => linesOf(terminal.buffer.active, terminal.buffer.active.baseY);
  const drained = (): Promise<void> => new Promise(resolve => terminal.write('', resolve));

  return {
    pid: child.pid,
    write: bytes => {
      if (!over) child.write(bytes);
    },
    resize: (newColumns, newRows) => {
      if (over) return;
      columns = newColumns;
      rows = newRows;
      terminal.resize(columns, rows);
      child.resize(columns, rows);
    },
    size: () => ({ columns, rows }),
    signal: name => {
      if (!over) process.kill(child.pid, name);
    },
    text,
    everything: () => `${linesOf(terminal.buffer.normal, 0)}\n${text()}`,
    quiet: async ms => {
      const since = performance.now();
      while (performance.now() - Math.max(lastByte, since) < ms && performance.now() - since < ms * 10) await wait(5);
      await drained();
    },
    ended,
    hasEnded: () => over,
    changed: async () => {
      const modes = reader.modes.changed().map(mode => `mode ${mode}`);
      const title = reader.titles === 0 ? [] : ['title'];
      // Later output is plain, and where the shell would write it.
      await new Promise<void>(resolve => terminal.write('\r\n#', resolve));
      const { baseY, cursorY } = terminal.buffer.active;
      const cell = terminal.buffer.active.getLine(baseY + cursorY)?.getCell(0);
      const plain = cell?.getChars() === '#' && cell.isAttributeDefault();
      return [...modes, ...title, ...(plain ? [] : ['style'])];
    },
    close: () => {
      if (!over) process.kill(child.pid, 'SIGKILL');
      terminal.dispose();
    },
  };
}

/** Resident memory of a process in bytes (Linux); undefined if it has ended. */
export function memoryOf(pid: number): number | undefined {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return undefined;
  try {
    const found = /VmRSS:\s+(\d+)/.exec(readFileSync(path, 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found) * 1024;
  } catch {
    return undefined;
  }
}
