/** A command as data: the one source for what a key does, what help says, what the hint line shows and what the palette offers. */

export interface Command {
  /** `layer.verb`, e.g. `list.down`; the name used for overrides in the config file. */
  readonly id: string;
  /** What it does, in the imperative, e.g. `move down`. */
  readonly title: string;
  readonly keys: readonly string[];
  /** Heading in help, e.g. `Move`. */
  readonly group: string;
  /** The word on the hint line; commands without one are only in help. */
  readonly hint?: string;
  /** Hinted after the others: it helps, but is not what one came for. */
  readonly secondary?: boolean;
  /**
   * Dispatches and nothing else, so that several in one read need no drawing between them: 100 `j` move 100 rows and draw
   * once. Before and after any other command the screen is drawn.
   */
  readonly repeats?: boolean;
  /** False if the palette should not offer it (one does not move a cursor by name). */
  readonly palette?: boolean;
  /** Changes something on the service; taken away by read-only mode. */
  readonly writes?: boolean;
  /** Cannot be undone. */
  readonly destructive?: boolean;
}

export type CommandTable = Readonly<Record<string, Command>>;
