/** A command as data: the single source for key bindings, help, the hint line and the palette. */

/**
 * The ranks of hints, most important first: the view's purpose, other decisions, stopping work, following a row, the
 * rest, and conveniences.
 */
export const hintRanks = ['main', 'second', 'stop', 'follow', 'normal', 'last'] as const;
export type HintRank = (typeof hintRanks)[number];

export interface Command {
  /** `layer.verb`, e.g. `list.down`; used for overrides in the config file. */
  readonly id: string;
  /** In the imperative, e.g. `move down`. */
  readonly title: string;
  readonly keys: readonly string[];
  /** Heading in help, e.g. `Move`. */
  readonly group: string;
  /** The word on the hint line. Commands without a hint appear only in help. */
  readonly hint?: string;
  /** Determines the order of hints, and which ones stay when space is tight; `normal` by default. */
  readonly rank?: HintRank;
  /** The command only dispatches, so several presses in one read need only one redraw: pressing `j` 100 times draws once. */
  readonly repeats?: boolean;
  /** Repeated presses run the command once, with a count: `]]]]]` opens only the fifth neighbour. */
  readonly counts?: boolean;
  /** False to keep it out of the palette, e.g. for cursor movement. */
  readonly palette?: boolean;
  /** Changes something on the service; disabled in read-only mode. */
  readonly writes?: boolean;
  /** Cannot be undone. */
  readonly destructive?: boolean;
}

export type CommandTable = Readonly<Record<string, Command>>;

/** A table of commands with the same group, or with other properties in common; a command may override these. */
export function commandTable<Name extends string>(
  common: string | (Partial<Command> & Pick<Command, 'group'>),
  commands: Readonly<Record<Name, Omit<Command, 'group'> & Partial<Command>>>,
): Readonly<Record<Name, Command>> {
  const shared = typeof common === 'string' ? { group: common } : common;
  const entries = Object.entries<Partial<Command>>(commands).map(([name, command]) => [
    name,
    { ...shared, ...command },
  ]);
  return Object.fromEntries(entries) as Readonly<Record<Name, Command>>;
}
