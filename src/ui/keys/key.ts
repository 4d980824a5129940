/**
 * Keys as written in the key map: `j`, `G`, `/`, `ctrl-d`, `up`, `pagedown`, `enter`, `esc`, `tab`, `shift-tab`,
 * `space`, `alt-x`. A terminal delivers everything typed between two reads as one string, which may hold many
 * presses.
 */
import type { Key } from 'ink';
import { own } from '../../base/own-property.ts';
import type { Command } from '../../present/command.ts';
import { graphemes } from '../../text/width.ts';
import { globalCommands } from './general.ts';

export interface KeyPress {
  /** Name in the key map. */
  readonly name: string;
  /** The text it types into a field; empty for keys that type nothing. */
  readonly text: string;
  /** An escape stood before the key: alt, or the key escape. Missing if the terminal reported alt as a modifier. */
  readonly escaped?: boolean;
  /** The number of presses in a row, for a command that counts them; 1 if missing. */
  readonly count?: number;
  /** Returns the number typed just before the key, and undoes the command that its first digit ran. */
  readonly number?: () => number;
  /** A digit's command passes this a function that undoes it, in case the digit begins a number. */
  readonly ifNumber?: (takeBack: () => void) => void;
  /**
   * The time of the read (`performance.now`), the same for all presses in one read, which may be handled later. Missing
   * for a press that did not come from a key.
   */
  readonly at?: number;
}

export function pressOf(name: string): KeyPress {
  if (name === 'space') return { name, text: ' ' };
  return { name, text: graphemes(name).length === 1 ? name : '' };
}

/** Names of the keys that type nothing, in the order in which Ink's flags are checked. */
const namedKeys: readonly (readonly [flag: keyof Key, name: string])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'esc'],
  ['tab', 'tab'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
];

/** Characters that need a name, because they would be invisible in help. */
const namedCharacters: Readonly<Record<string, string>> = {
  ' ': 'space',
  '\r': 'enter',
  '\t': 'tab',
  '\0': 'ctrl-space',
};

const esc: KeyPress = { name: 'esc', text: '' };

function withModifiers(name: string, key: Key, shift: boolean): string {
  return `${key.ctrl ? 'ctrl-' : ''}${key.meta ? 'alt-' : ''}${shift ? 'shift-' : ''}${name}`;
}

/** The presses in one of Ink's input events. */
export function keyPresses(input: string, key: Key): readonly KeyPress[] {
  const named = namedKeys.find(([flag]) => key[flag] === true);
  // Terminals send alt as an escape before the key; Ink reports it as meta. Two escapes in one read are two presses.
  if (named?.[1] === 'esc') return key.meta ? [esc, esc] : [esc];
  // Only a sequence with modifiers has an event type.
  const escaped = key.meta && key.eventType === undefined && { escaped: true };
  if (named) return [{ name: withModifiers(named[1], key, key.shift), text: '', ...escaped }];
  if (input === '') return [];
  // ctrl-c leaves the program even right after an escape.
  if (key.ctrl && key.meta && input === 'c') return [esc, { name: 'ctrl-c', text: '' }];
  if (key.ctrl || key.meta) {
    return [{ name: withModifiers(own(namedCharacters, input) ?? input, key, false), text: '', ...escaped }];
  }
  return graphemes(input).map(character => {
    const name = own(namedCharacters, character) ?? controlName(character) ?? character;
    return { name, text: name === 'space' || name === character ? character : '' };
  });
}

/** Ink names control keys only if they arrive alone; within a longer read they are raw control characters. */
function controlName(character: string): string | undefined {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x20 ? `ctrl-${String.fromCharCode(code + 0x40).toLowerCase()}` : undefined;
}

const glyphNames: Readonly<Record<string, string>> = {
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  pageup: 'PgUp',
  pagedown: 'PgDn',
  home: 'Home',
  end: 'End',
};

/** A key as shown in help and hints. */
export function keyLabel(name: string): string {
  return own(glyphNames, name) ?? name;
}

const keyPattern =
  /^(ctrl-)?(alt-)?((shift-)?(up|down|left|right|pageup|pagedown|home|end|enter|esc|tab|space|backspace|delete)|\S)$/u;

/** Terminals send these as other keys: as backspace, tab, enter and esc, and letters without shift. */
const unsendable = /^ctrl-(alt-)?([him[]|\p{Lu})$/u;

/** Whether a string from the config file names a key that terminals send. */
export function isKeyName(name: string): boolean {
  return keyPattern.test(name) && !unsendable.test(name);
}

/** Keys by command id, from the config file. */
export type KeyOverrides = Readonly<Record<string, readonly string[]>>;

/** A key that two commands share, although both may be active at the same time. */
interface KeyClash {
  readonly key: string;
  /** The commands, in the order they are declared. */
  readonly commands: readonly [first: Command, second: Command];
}

/** The keys that several of these commands share. */
export function keyClashes(commands: readonly Command[], overrides: KeyOverrides = {}): KeyClash[] {
  const owners = new Map<string, Command>();
  return commands.flatMap(command =>
    (own(overrides, command.id) ?? command.keys).flatMap((key): KeyClash[] => {
      const owner = owners.get(key) ?? command;
      owners.set(key, owner);
      return owner.id === command.id ? [] : [{ key, commands: [owner, command] }];
    }),
  );
}

/**
 * Errors in the overrides: unknown commands, unknown keys, and keys that two commands in one layer share. Commands that
 * share a key by default may keep it: the enabled one gets it.
 */
export function overrideErrors(layers: readonly (readonly Command[])[], overrides: KeyOverrides): string[] {
  const errors = new Set<string>();
  const known = new Set(layers.flat().map(({ id }) => id));
  for (const [id, keys] of Object.entries(overrides)) {
    if (!known.has(id)) errors.add(`keys.${id}: there is no such command`);
    for (const key of keys) if (!isKeyName(key)) errors.add(`keys.${id}: “${key}” is not a key that terminals send`);
    if (id === globalCommands.quit.id && keys.length === 0) errors.add(`keys.${id}: at least one key must quit`);
  }
  for (const layer of layers) {
    for (const { key, commands } of keyClashes(layer, overrides)) {
      if (commands.every(({ keys }) => keys.includes(key))) continue;
      const [first, second] = commands;
      const [named, other] = own(overrides, second.id) ? [second, first] : [first, second];
      errors.add(`keys.${named.id}: “${key}” already means ${other.id}`);
    }
  }
  return [...errors];
}
