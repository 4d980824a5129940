/**
 * A terminal for tests, in process: frames go through the real painter into an emulator of a terminal, which is
 * then read. Nothing sleeps: waiting ends with the frame that satisfies it.
 *
 *     const screen = openScreen(<App />, { columns: 80, rows: 24 });
 *     await screen.waitFor('Benchmarks');
 *     await screen.press('j', 'enter');
 *     expect(screen.text()).toContain('▸ t-words');
 *     screen.close();
 */
import { PassThrough } from 'node:stream';
import xterm from '@xterm/headless';
import { render } from 'ink';
import type { ReactNode } from 'react';
import { vi } from 'vitest';
import { PaintStream } from '../src/ui/app/painter/paint-stream.ts';
import { Painter } from '../src/ui/app/painter/painter.ts';
import { bytesOf } from '../tools/rig/keys.ts';

export interface ScreenOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** Called with everything written to the terminal. */
  readonly onBytes?: (bytes: string) => void;
}

/** Long enough for a busy machine. */
const limitMs = 120_000;
/** Real time: where a test lets its own pass, all of it may pass before a file is read. */
const realTime = performance.now.bind(performance);
const escapeMs = 25;

export interface Screen {
  /** Sends keys, each in its own write, and waits until they are shown, with the code that they load. */
  readonly press: (...keys: string[]) => Promise<void>;
  /** Sends text in one write, as a fast typist or a macro does. */
  readonly type: (text: string) => Promise<void>;
  readonly text: () => string;
  readonly line: (row: number) => string;
  /** Style of a cell. */
  readonly styleAt: (column: number, row: number) => { bold: boolean; inverse: boolean; dim: boolean; colour: number };
  readonly resize: (columns: number, rows: number) => Promise<void>;
  /** Bytes sent to the terminal since the last call. */
  readonly bytes: () => number;
  /** Waits until the screen shows this, and then for frames that follow at once. */
  readonly waitFor: (wanted: string | ((text: string) => boolean)) => Promise<void>;
  /** Sequences that drew nothing: copies, notices. */
  readonly raw: () => readonly string[];
  /** The error that ended the drawing, if any. */
  readonly failure: () => unknown;
  readonly close: () => void;
}

class Input extends PassThrough {
  readonly isTTY = true;
  setRawMode(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** Renders into a terminal of `columns` by `rows`. */
export function openScreen(node: ReactNode, { columns = 80, rows = 24, onBytes }: ScreenOptions = {}): Screen {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  // The alternate screen, as in the program: nothing is re-wrapped when the size changes.
  terminal.write('\u001b[?1049h\u001b[?7l');
  let sent = 0;
  let frames = 0;
  const raw: string[] = [];
  const painter = new Painter(
    {
      write: bytes => {
        sent += Buffer.byteLength(bytes);
        frames += 1;
        onBytes?.(bytes);
        terminal.write(bytes);
      },
      isBlocked: () => false,
    },
    { columns, rows },
  );
  terminal.onData(reply => {
    if (reply === '\u001b[0n') painter.answered();
  });
  const stdout = new PaintStream(painter, { columns, rows, control: sequence => raw.push(sequence) });
  const stdin = new Input();
  const instance = render(node, {
    stdout: stdout as unknown as NodeJS.WriteStream,
    stdin: stdin as unknown as NodeJS.ReadStream,
    debug: true,
    interactive: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  let failure: unknown;
  instance.waitUntilExit().catch((error: unknown) => {
    failure = error;
  });

  const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 5));

  /** Resolves when the emulator has processed everything written so far. */
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 3; round += 1) {
      await new Promise(resolve => setImmediate(resolve));
      await instance.waitUntilRenderFlush();
      await new Promise<void>(resolve => terminal.write('', resolve));
    }
  };

  /** Resolves once parts that are being loaded are on screen, and the painter, which sends few frames a second, is done. */
  const rest = async (): Promise<void> => {
    await vi.dynamicImportSettled();
    await settle();
    // A frame that is sent is the newest; more may follow without end.
    const before = frames;
    while (painter.isBehind && frames === before) await pause();
    await settle();
  };
  const line = (row: number): string => terminal.buffer.active.getLine(row)?.translateToString(true) ?? '';
  const text = (): string => Array.from({ length: terminal.rows }, (_, row) => line(row)).join('\n');

  return {
    press: async (...keys) => {
      for (const key of keys) {
        stdin.write(bytesOf(key));
        // How long Ink waits after an escape to see whether it begins a sequence.
        if (key === 'esc') {
          await settle();
          await new Promise(resolve => setTimeout(resolve, escapeMs));
        }
        await settle();
      }
      await rest();
    },
    type: async typed => {
      stdin.write(typed);
      await settle();
      await rest();
    },
    text,
    line,
    styleAt: (column, row) => {
      const cell = terminal.buffer.active.getLine(row)?.getCell(column);
      return {
        bold: cell?.isBold() !== 0,
        inverse: cell?.isInverse() !== 0,
        dim: cell?.isDim() !== 0,
        colour: cell?.getFgColor() ?? -1,
      };
    },
    resize: async (newColumns, newRows) => {
      if (newColumns === terminal.cols && newRows === terminal.rows) return;
      const before = frames;
      terminal.resize(newColumns, newRows);
      stdout.resize(newColumns, newRows);
      await settle();
      // The painter may still wait for the terminal's answer to the frame before.
      while (frames === before && failure === undefined) {
        await pause();
        await settle();
      }
      await rest();
    },
    bytes: () => {
      const count = sent;
      sent = 0;
      return count;
    },
    waitFor: async wanted => {
      const satisfied = typeof wanted === 'string' ? (shown: string) => shown.includes(wanted) : wanted;
      const deadline = realTime() + limitMs;
      while (!satisfied(text())) {
        if (realTime() > deadline) throw new Error(`timed out waiting for ${wanted}; the screen shows:\n${text()}`);
        await settle();
        await pause();
      }
      await rest();
    },
    raw: () => raw,
    failure: () => failure,
    close: () => {
      painter.close();
      instance.unmount();
      terminal.dispose();
    },
  };
}
