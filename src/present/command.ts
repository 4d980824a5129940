/** A command as data: the single source for key bindings, help, the hint line and the palette. */

export interface Command {
  /** `layer.verb`, e.g. `list.down`; used for overrides in the config file. */
  readonly id: string;
  /** In the imperative, e.g. `move down`. */
  readonly title: string;
  readonly keys: readonly string[];
  /** Heading in help, e.g. `Move`. */
  readonly group: string;
  /** The word on the hint line; commands without one are only in help. */
  readonly hint?: string;
  /** Hinted after the others: useful, but not the main purpose of the view. */
  readonly secondary?: boolean;
  /**
   * The command only dispatches, so that several presses in one read need one redraw: 100 `j` move 100 rows and draw
   * once. Other commands redraw before and after.
   */
  readonly repeats?: boolean;
  /** Repeated presses run the command once, with a count: `]]]]]` opens only the fifth neighbour. */
  readonly counts?: boolean;
  /** False if the palette should not offer it, such as cursor movement. */
  readonly palette?: boolean;
  /** Changes something on the service; disabled in read-only mode. */
  readonly writes?: boolean;
  /** Cannot be undone. */
  readonly destructive?: boolean;
}

export type CommandTable = Readonly<Record<string, Command>>;
