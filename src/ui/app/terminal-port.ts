import type { ImageDisplay } from '../../text/image-display.ts';
import type { KeyPress } from '../keys/key.ts';
import type { MouseSource } from '../keys/mouse-regions.tsx';
import type { Failures } from './failures.ts';

/** The terminal's functions besides drawing; tests replace it. */
export interface TerminalPort {
  /** Writes bytes that draw nothing (OSC 52, a notice), without disturbing the screen. */
  readonly writeRaw: (sequence: string) => void;
  /**
   * Leaves the full screen, runs a program on the terminal, and comes back. Everything except drawing continues in the
   * meantime. Resolves with the exit code.
   *
   * @throws Error if the program cannot be started, or another one has the terminal
   */
  readonly runExternal: (command: string, args: readonly string[]) => Promise<number>;
  /**
   * Suspends the program, as ctrl-z does in a shell, until the shell continues it. Ignores a suspend key that was typed
   * before the program continued.
   */
  readonly suspend: (press: KeyPress) => void;
  readonly quit: () => void;
  /** Mouse events, if the mouse is enabled. */
  readonly mouse?: MouseSource;
  /** Shows images on the terminal; missing if it cannot. */
  readonly images?: ImageTerminal;
  readonly repaint: () => void;
  /** Records the program's failures; if missing, they get no report. */
  readonly failures?: Failures;
}

/** A terminal that shows images. */
export interface ImageTerminal {
  readonly display: Exclude<ImageDisplay, 'viewer'>;
  /**
   * Clears the screen and writes `bytes`. Returns a function that writes `removal`, even if not all bytes have been
   * written yet, and redraws the screen. Keys still arrive, and everything except drawing continues in the meantime.
   */
  readonly cover: (bytes: string, removal: string) => () => void;
}
