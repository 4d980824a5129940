/**
 * Keys as the key map writes them: `j`, `G`, `/`, `ctrl-d`, `up`, `pagedown`, `enter`, `esc`, `tab`, `shift-tab`, `space`,
 * `alt-x`, `f1`. Terminals deliver everything typed within one read as one text, so a text is many presses.
 */
import type { Key } from 'ink';
import type { Command } from '../../present/command.ts';
import { own } from '../../text/own.ts';
import { graphemes } from '../../text/width.ts';

export interface KeyPress {
  /** Name in the key map. */
  readonly name: string;
  /** What a text field would insert; empty for keys that write nothing. */
  readonly text: string;
}

/** The press of a key by its name. */
export function pressOf(name: string): KeyPress {
  if (name === 'space') return { name, text: ' ' };
  return { name, text: graphemes(name).length === 1 ? name : '' };
}

/** Names of the keys that write nothing, in the order in which Ink's flags are looked at. */
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

/** Characters that have a name of their own because the bare character would be invisible in a help text. */
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
  // An escape before a key is how terminals write alt; Ink reports it as meta. Two that came at once are two.
  if (named?.[1] === 'esc') return key.meta ? [esc, esc] : [esc];
  if (named) return [{ name: withModifiers(named[1], key, key.shift), text: '' }];
  if (input === '') return [];
  // One wants to get out: whatever came just before, ctrl-c is ctrl-c.
  if (key.ctrl && key.meta && input === 'c') return [esc, { name: 'ctrl-c', text: '' }];
  if (key.ctrl || key.meta) {
    return [{ name: withModifiers(own(namedCharacters, input) ?? input, key, false), text: '' }];
  }
  return graphemes(input).map(character => {
    const name = own(namedCharacters, character) ?? controlName(character) ?? character;
    return { name, text: name === 'space' || name === character ? character : '' };
  });
}

/** Control keys are named only where they come alone; within a read they are the characters that terminals send for them. */
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

/** A key as help and hints show it. */
export function keyLabel(name: string): string {
  return own(glyphNames, name) ?? name;
}

const keyPattern =
  /^(ctrl-)?(alt-)?(shift-)?(up|down|left|right|pageup|pagedown|home|end|enter|esc|tab|space|backspace|delete|\S)$/u;

/** Whether a text of the config file names a key. */
export function isKeyName(name: string): boolean {
  return keyPattern.test(name);
}

/** Keys by command id, as the config file gives them. */
export type KeyOverrides = Readonly<Record<string, readonly string[]>>;

/** Says what is wrong with the overrides: unknown commands, unknown keys, and two commands of one layer on one key. */
export function overrideErrors(layers: readonly (readonly Command[])[], overrides: KeyOverrides): string[] {
  const errors: string[] = [];
  const known = new Map(layers.flat().map(command => [command.id, command]));
  for (const [id, keys] of Object.entries(overrides)) {
    if (!known.has(id)) errors.push(`keys.${id}: there is no such command`);
    for (const key of keys) if (!isKeyName(key)) errors.push(`keys.${id}: “${key}” is not a key`);
  }
  for (const layer of layers) {
    const owners = new Map<string, string>();
    for (const command of layer) {
      for (const key of own(overrides, command.id) ?? command.keys) {
        const owner = owners.get(key);
        if (owner !== undefined && owner !== command.id && (own(overrides, command.id) || own(overrides, owner))) {
          errors.push(`keys.${command.id}: “${key}” already means ${owner}`);
        }
        owners.set(key, owner ?? command.id);
      }
    }
  }
  return errors;
}
