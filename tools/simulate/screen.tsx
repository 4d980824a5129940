/** The program's screen in this process, with its real life cycle, on a virtual terminal. */
import child from 'node:child_process';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Readable, Writable } from 'node:stream';
import xterm from '@xterm/headless';
import type { Place } from '../../src/resources/place.ts';
import type { Service } from '../../src/service/index.ts';
import { Program } from '../../src/ui/app/program.tsx';
import { startTerminal } from '../../src/ui/app/terminal/start-terminal.tsx';
import { registry } from '../../src/ui/views/registry.ts';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';
import type { Workbench } from '../../src/workbench/workbench.ts';
import { newWorkbench } from '../../test/workbench/new-workbench.ts';
import { type Input, mouseBytes } from '../rig/inputs.ts';
import { leftOn } from '../rig/sequences.ts';
import { outputCheck } from '../rig/traces.ts';
import type { Bugs } from './bugs.ts';

export interface ScreenOptions {
  readonly service: Service;
  /** Where it opens. */
  readonly place: Place;
  readonly readOnly: boolean;
  readonly crashFolder: string;
  readonly onUnmeant: (what: string) => void;
  readonly bugs: Bugs | undefined;
}

/** No file has this descriptor. */
const terminalFd = 1_000_000;

/** The terminal behind `process.stdin`, `process.stdout` and writes to `terminalFd`. */
class VirtualTerminal {
  readonly emulator = new xterm.Terminal({ cols: 120, rows: 40, allowProposedApi: true });
  readonly stdin = Object.assign(new Readable({ read: () => {} }), {
    isTTY: true,
    isRaw: false,
    setRawMode(on: boolean) {
      this.isRaw = on;
      return this;
    },
    ref: () => {},
    unref: () => {},
  });
  readonly stdout = Object.assign(
    new Writable({
      decodeStrings: false,
      write: (bytes: string, _encoding, done) => {
        this.take(String(bytes));
        done();
      },
    }),
    { isTTY: true, fd: terminalFd, columns: 120, rows: 40 },
  );
  sent = '';
  readonly #onBytes: (bytes: string) => void;
  readonly #bug: (bytes: string) => string;

  constructor(onBytes: (bytes: string) => void, bug: (bytes: string) => string) {
    this.#onBytes = onBytes;
    this.#bug = bug;
    this.emulator.onData(reply => this.stdin.push(reply));
  }

  take(written: string): void {
    const bytes = this.#bug(written);
    this.sent += bytes;
    this.#onBytes(bytes);
    this.emulator.write(bytes);
  }
}

let terminal: VirtualTerminal | undefined;

/** Stands in for a child process on the terminal; it ends after a moment. */
function spawned(): EventEmitter {
  const program = Object.assign(new EventEmitter(), { pid: undefined, exitCode: null, kill: () => true });
  setTimeout(() => program.emit('exit', 0, null), 1_000);
  return program;
}

/** Redirects signals, exits and writes to the terminal. Call it once. */
function installTerminal(): void {
  const { writeSync } = fs;
  const watched = ((fd: number, ...rest: [Uint8Array]) => {
    if (fd !== terminalFd) return writeSync(fd, ...rest);
    terminal?.take(Buffer.from(rest[0]).toString());
    return rest[0].length;
  }) as typeof writeSync;
  Object.assign(fs, { writeSync: watched });
  Object.assign(child, { spawn: spawned });
  syncBuiltinESMExports();
  process.kill = (_pid, name) => {
    setTimeout(() => process.emit(name as NodeJS.Signals, name as NodeJS.Signals), 1);
    return true;
  };
}

const same = (bytes: string): string => bytes;
let isInstalled = false;

export class SimulatedScreen {
  readonly #terminal: VirtualTerminal;
  readonly #workbench: Workbench;
  readonly #keys: (bytes: string) => string;
  readonly #foreign: Map<string | symbol, readonly unknown[]>;
  readonly #real = { stdin: process.stdin, stdout: process.stdout, exit: process.exit };
  /** Set once it has ended. */
  code: number | undefined;

  constructor({ service, place, readOnly, crashFolder, onUnmeant, bugs }: ScreenOptions) {
    if (!isInstalled) installTerminal();
    isInstalled = true;
    this.#terminal = new VirtualTerminal(outputCheck(onUnmeant), bugs?.bytes ?? same);
    this.#keys = bugs?.keys ?? same;
    terminal = this.#terminal;
    this.#foreign = new Map(process.eventNames().map(name => [name, process.rawListeners(name)]));
    const { stdin, stdout } = this.#terminal;
    for (const [name, value] of Object.entries({ stdin, stdout })) {
      Object.defineProperty(process, name, { value, configurable: true });
    }
    process.exit = (code => {
      this.code ??= Number(code);
      return undefined as never;
    }) as typeof process.exit;
    this.#workbench = newWorkbench({ service: async () => service, profile: 'simulated', readOnly });
    const workbench = this.#workbench;
    const drawn = startTerminal(
      port => (
        <Program
          workbench={workbench}
          theme={createTheme()}
          registry={registry}
          terminal={port}
          start={place}
          notices="desktop"
        />
      ),
      {
        onSuspend: on => workbench.setSuspended(on),
        mouse: true,
        ascii: false,
        images: 'viewer',
        crashFolder,
        redact: text => text,
      },
    );
    drawn.then(
      code => {
        this.code ??= code;
      },
      (error: unknown) => onUnmeant(`the screen: ${String(error)}`),
    );
  }

  text(): string {
    const { buffer, rows } = this.#terminal.emulator;
    const line = (row: number): string =>
      buffer.active.getLine(buffer.active.baseY + row)?.translateToString(true) ?? '';
    return Array.from({ length: rows }, (_, row) => line(row)).join('\n');
  }

  get size(): { readonly columns: number; readonly rows: number } {
    const { columns, rows } = this.#terminal.stdout;
    return { columns, rows };
  }

  type(bytes: string): void {
    if (this.code === undefined) this.#terminal.stdin.push(this.#keys(bytes));
  }

  send(input: Input): void {
    if (input.kind === 'resize') this.resize(input.columns, input.rows);
    else this.type(input.kind === 'mouse' ? mouseBytes(input) : input.bytes);
  }

  resize(columns: number, rows: number): void {
    Object.assign(this.#terminal.stdout, { columns, rows });
    this.#terminal.emulator.resize(columns, rows);
    process.emit('SIGWINCH', 'SIGWINCH');
  }

  signal(name: NodeJS.Signals): void {
    if (this.code === undefined) process.emit(name, name);
  }

  /** The terminal state that it did not restore. */
  left(): string[] {
    const { sent, stdin } = this.#terminal;
    return [...leftOn(sent), ...(stdin.isRaw ? ['raw mode'] : [])];
  }

  /** Restores the process after its end. */
  close(): void {
    this.#workbench.close();
    for (const name of process.eventNames()) {
      const known = this.#foreign.get(name) ?? [];
      for (const listener of process.rawListeners(name)) {
        if (!known.includes(listener)) process.off(name, listener as () => void);
      }
    }
    const { stdin, stdout, exit } = this.#real;
    for (const [name, value] of Object.entries({ stdin, stdout })) {
      Object.defineProperty(process, name, { value, configurable: true });
    }
    process.exit = exit;
    this.#terminal.emulator.dispose();
  }
}
