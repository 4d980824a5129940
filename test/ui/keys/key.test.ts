import type { Key } from 'ink';
import { describe, expect, it } from 'vitest';
import { generalLayers, listCommands } from '../../../src/ui/keys/general.ts';
import { isKeyName, keyLabel, keyPresses, overrideErrors } from '../../../src/ui/keys/key.ts';

const key = (...flags: (keyof Key)[]): Key => Object.fromEntries(flags.map(flag => [flag, true])) as unknown as Key;
const names = (input: string, ...flags: (keyof Key)[]) => keyPresses(input, key(...flags)).map(press => press.name);

describe('keyPresses', () => {
  it('takes every character of a chunk as a key press', () => {
    expect(keyPresses('j'.repeat(100), key())).toHaveLength(100);
    expect(names('dG/')).toEqual(['d', 'G', '/']);
  });

  it('names keys with their modifiers', () => {
    expect(names('', 'downArrow')).toEqual(['down']);
    expect(names('', 'tab', 'shift')).toEqual(['shift-tab']);
    expect(names('d', 'ctrl')).toEqual(['ctrl-d']);
    expect(names(' ', 'ctrl')).toEqual(['ctrl-space']);
    expect(names('x', 'meta')).toEqual(['alt-x']);
    expect(names('', 'leftArrow', 'meta')).toEqual(['alt-left']);
    expect(names('', 'escape')).toEqual(['esc']);
    expect(names('G', 'shift')).toEqual(['G']);
  });

  it('takes an escape before ctrl-c, or before another, as its own key', () => {
    expect(names('c', 'ctrl', 'meta')).toEqual(['esc', 'ctrl-c']);
    expect(names('', 'escape', 'meta')).toEqual(['esc', 'esc']);
    expect(names('d', 'ctrl', 'meta')).toEqual(['ctrl-alt-d']);
  });

  it('gives text fields what they insert, in whole graphemes', () => {
    expect(keyPresses('a 👍🏽é', key()).map(press => press.text)).toEqual(['a', ' ', '👍🏽', 'é']);
    expect(keyPresses('', key('return'))).toEqual([{ name: 'enter', text: '' }]);
  });

  it('takes a line end within a chunk as the pressed key', () => {
    expect(keyPresses('a\rb', key())).toEqual([
      { name: 'a', text: 'a' },
      { name: 'enter', text: '' },
      { name: 'b', text: 'b' },
    ]);
  });
});

describe('a chunk', () => {
  it('may contain control keys, which are not text', () => {
    expect(keyPresses('a\u0010\u0000\t\n\u001f', key())).toEqual([
      { name: 'a', text: 'a' },
      { name: 'ctrl-p', text: '' },
      { name: 'ctrl-space', text: '' },
      { name: 'tab', text: '' },
      { name: 'ctrl-j', text: '' },
      { name: 'ctrl-_', text: '' },
    ]);
  });
});

describe('isKeyName', () => {
  it.each(['j', 'G', '/', 'ctrl-d', 'alt-x', 'shift-tab', 'pagedown', 'esc', 'é'])('accepts %s', name => {
    expect(isKeyName(name)).toBe(true);
  });
  it.each(['', 'jj', 'control-d', 'ctrl-', 'F13 ', 'ctrl-m', 'ctrl-i', 'ctrl-[', 'ctrl-h', 'ctrl-A', 'shift-a'])(
    'refuses “%s”',
    name => {
      expect(isKeyName(name)).toBe(false);
    },
  );
});

it('labels arrows with arrows', () => {
  expect([keyLabel('up'), keyLabel('pagedown'), keyLabel('ctrl-d')]).toEqual(['↑', 'PgDn', 'ctrl-d']);
});

describe('overrideErrors', () => {
  const layers = generalLayers.map(table => Object.values(table));

  it('finds no error in the default keys, or in a free key', () => {
    expect(overrideErrors(layers, {})).toEqual([]);
    expect(overrideErrors(layers, { 'list.down': ['j', 'ctrl-n'] })).toEqual([]);
  });

  it('names invalid commands, invalid keys and conflicts', () => {
    expect(overrideErrors(layers, { 'list.dwon': ['j'] })).toEqual(['keys.list.dwon: there is no such command']);
    expect(overrideErrors(layers, { 'list.down': ['jj'] })).toEqual([
      'keys.list.down: “jj” is not a key that terminals send',
    ]);
    expect(overrideErrors(layers, { 'app.quit': [] })).toEqual(['keys.app.quit: at least one key must quit']);
    expect(overrideErrors(layers, { 'list.down': ['k'] }).join()).toContain(listCommands.up.id);
  });

  it('accepts only keys that it can read itself', () => {
    const strange = layers.flat().flatMap(command => command.keys.filter(key => !isKeyName(key)));
    expect(strange).toEqual([]);
  });
});
