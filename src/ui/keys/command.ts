/**
 * Commands as data. The table is the one source for what a key does, what help says, what the hint line shows and what the
 * palette offers.
 */
import { own } from '../../text/own.ts';
import { isKeyName } from './key.ts';

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
  readonly aside?: boolean;
  /**
   * Dispatches and nothing else, so that several in one read need no drawing between them: 100 `j` move 100 rows and draw
   * once. Before and after any other command the screen is drawn.
   */
  readonly repeats?: boolean;
  /** False where the palette should not offer it (nobody moves a cursor by name). */
  readonly palette?: boolean;
  /** Changes something on the service; taken away by read-only mode. */
  readonly writes?: boolean;
  /** Cannot be undone. */
  readonly destructive?: boolean;
}

export type CommandTable = Readonly<Record<string, Command>>;

/** Keys by command id, as the config file gives them. */
export type KeyOverrides = Readonly<Record<string, readonly string[]>>;

/** Says what is wrong with the overrides: unknown commands, unknown keys, and two commands of one layer on one key. */
export function overrideFaults(layers: readonly (readonly Command[])[], overrides: KeyOverrides): string[] {
  const faults: string[] = [];
  const known = new Map(layers.flat().map(command => [command.id, command]));
  for (const [id, keys] of Object.entries(overrides)) {
    if (!known.has(id)) faults.push(`keys.${id}: there is no such command`);
    for (const key of keys) if (!isKeyName(key)) faults.push(`keys.${id}: “${key}” is not a key`);
  }
  for (const layer of layers) {
    const owners = new Map<string, string>();
    for (const command of layer) {
      for (const key of own(overrides, command.id) ?? command.keys) {
        const owner = owners.get(key);
        if (owner !== undefined && owner !== command.id && (own(overrides, command.id) || own(overrides, owner))) {
          faults.push(`keys.${command.id}: “${key}” already means ${owner}`);
        }
        owners.set(key, owner ?? command.id);
      }
    }
  }
  return faults;
}
