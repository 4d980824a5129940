/**
 * The stream that Ink uses as the terminal. Ink writes whole frames to it (its `debug` mode), which go to the painter;
 * Ink's few control sequences go to the terminal unchanged.
 */
import { EventEmitter } from 'node:events';
import { Output } from 'ink';
import { cachedRows } from './cached-rows.ts';
import type { Painter } from './painter.ts';

// Applies to all frames that Ink renders in this process.
Output.create = cachedRows(Output);

const onlyControls = /^(?:\u001b\[[?>=<]?[\d;]*[A-Za-z])+$/;

interface PaintStreamOptions {
  readonly columns: number;
  readonly rows: number;
  readonly control: (sequence: string) => void;
  /** Alters a frame without changing its widths. */
  readonly alter?: ((frame: string) => string) | undefined;
}

export class PaintStream extends EventEmitter {
  readonly isTTY = true;
  readonly writable = true;
  columns: number;
  rows: number;
  readonly #painter: Painter;
  readonly #control: (sequence: string) => void;
  readonly #alter: (frame: string) => string;

  constructor(painter: Painter, { columns, rows, control, alter = frame => frame }: PaintStreamOptions) {
    super();
    this.#painter = painter;
    this.columns = columns;
    this.rows = rows;
    this.#control = control;
    this.#alter = alter;
  }

  write(data: string | Uint8Array, encoding?: unknown, done?: unknown): boolean {
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
    if (onlyControls.test(text)) this.#control(text);
    else if (text !== '' && text !== '\n') this.#painter.frame(this.#alter(text));
    const callback = typeof encoding === 'function' ? encoding : done;
    if (typeof callback === 'function') callback();
    return true;
  }

  /** Passes the new size to Ink; the next frame is painted in full. */
  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.#painter.resize({ columns, rows });
    this.emit('resize');
  }
}
