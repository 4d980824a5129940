import type { MouseSource } from '../keys/mouse-regions.tsx';
import type { Failures } from './failures.ts';

/** What the screens may ask of the terminal beyond drawing, so that they can be tested without one. */
export interface TerminalPort {
  /** Writes bytes that draw nothing (OSC 52, a notice), without disturbing what is shown. */
  readonly writeRaw: (sequence: string) => void;
  /**
   * Leaves the full screen, runs a program on the terminal, comes back. Everything but the drawing continues meanwhile.
   * Resolves with the exit code.
   *
   * @throws Error if the program cannot be started, or another one has the terminal
   */
  readonly runExternal: (command: string, args: readonly string[]) => Promise<number>;
  /** Stops the program as the shell's ctrl-z does, until it is continued. */
  readonly suspend: () => void;
  /** Ends the program. */
  readonly quit: (code?: number) => void;
  /** Reports of the mouse, where it is switched on. */
  readonly mouse?: MouseSource;
  /** Draws the whole screen again. */
  readonly repaint: () => void;
  /** Reports failures of the program; if it is missing they get no report. */
  readonly failures?: Failures;
}
