import { describe, expect, it } from 'vitest';
import { pressOf } from '../../../src/ui/keys/key.ts';
import {
  type EditState,
  edit,
  editStateOf,
  enteredText,
  fieldHandlers,
  insert,
  textOf,
} from '../../../src/ui/widgets/text-field/editing.ts';
import { areaView, lineView } from '../../../src/ui/widgets/text-field/field-view.ts';

const one = { multiline: false };
const many = { multiline: true };
/** Types keys into a text; `|` marks the cursor, before and after. */
function keys(marked: string, options: { multiline: boolean }, ...names: string[]): string {
  const [before = '', after = ''] = marked.split('|');
  let state: EditState = { ...editStateOf(before + after), cursor: editStateOf(before).cursor };
  for (const name of names) {
    state = edit(state, { name, text: name.length === 1 || name === '👍🏽' ? name : '' }, options) ?? state;
  }
  return `${state.characters.slice(0, state.cursor).join('')}|${state.characters.slice(state.cursor).join('')}`;
}

describe('edit', () => {
  it.each([
    ['ab|c', ['x'], 'abx|c'],
    ['ab|c', ['left', 'backspace'], '|bc'],
    ['ab|c', ['ctrl-d'], 'ab|'],
    ['ab|c', ['delete'], 'ab|'],
    ['abc|', ['delete'], 'ab|'],
    ['one two|', ['ctrl-w'], 'one |'],
    ['one two|', ['alt-left', 'alt-left'], '|one two'],
    ['|one two', ['alt-d'], '| two'],
    ['one t|wo', ['ctrl-u'], '|wo'],
    ['one t|wo', ['ctrl-k'], 'one t|'],
    ['one|', ['ctrl-a', 'ctrl-e', 'home'], '|one'],
    ['a👍🏽|', ['backspace'], 'a|'],
    ['|a👍🏽b', ['right', 'right'], 'a👍🏽|b'],
    ['|', ['left', 'backspace', 'ctrl-w'], '|'],
  ])('%s, %j → %s', (before, names, after) => {
    expect(keys(before, one, ...names)).toBe(after);
  });

  it.each([
    ['ab\ncd|', ['up'], 'ab|\ncd'],
    ['ab\nc|d', ['up', 'down'], 'ab\nc|d'],
    ['abc|\nd', ['down'], 'abc\nd|'],
    ['ab|', ['up'], '|ab'],
    ['ab\ncd|', ['ctrl-a', 'ctrl-k'], 'ab\n|'],
    ['ab|', ['alt-enter', 'c'], 'ab\nc|'],
    ['|\nab', ['ctrl-a'], '|\nab'],
  ])('in several lines: %j, %j → %j', (before, names, after) => {
    expect(keys(before, many, ...names)).toBe(after);
  });

  it('ignores keys without a meaning', () => {
    expect(edit(editStateOf('a'), { name: 'tab', text: '' }, one)).toBeUndefined();
    expect(edit(editStateOf('a'), { name: 'up', text: '' }, one)).toBeUndefined();
  });

  it('knows which keys belong to a field, whatever it holds', () => {
    const taken = (options: { multiline: boolean }, ...names: string[]) =>
      names.filter(name => fieldHandlers(options, () => {}).field.takes(pressOf(name)));
    expect(
      taken({ multiline: false }, 't', '?', 'space', 'left', 'ctrl-k', 'up', 'f5', 'esc', 'tab', 'alt-enter'),
    ).toEqual(['t', '?', 'space', 'left', 'ctrl-k']);
    expect(taken({ multiline: true }, 'up', 'alt-enter', 'enter')).toEqual(['up', 'alt-enter']);
  });

  it('joins a paste into one line, keeps its lines in a text area, and drops control characters', () => {
    expect(textOf(insert(editStateOf(''), 'a\r\nb\u001b[31mc', one))).toBe('a bc');
    expect(textOf(insert(editStateOf(''), 'a\r\nb', many))).toBe('a\nb');
  });
});

describe('lineView', () => {
  it('scrolls sideways to keep the cursor visible', () => {
    expect(lineView(editStateOf('abcdef'), 4)).toEqual({ lines: ['def '], cursor: { x: 3, y: 0 } });
    expect(lineView({ ...editStateOf('abcdef'), cursor: 0 }, 4)).toEqual({ lines: ['abcd'], cursor: { x: 0, y: 0 } });
  });

  it('shows a very long paste quickly, wherever the cursor is', { timeout: 20_000 }, () => {
    const state = insert(editStateOf('start '), 'pasted '.repeat(30_000), one);
    expect(lineView(state, 10)).toEqual({ lines: ['d pasted  '], cursor: { x: 9, y: 0 } });
    expect(lineView({ ...state, cursor: 0 }, 10)).toEqual({ lines: ['start past'], cursor: { x: 0, y: 0 } });
    const typed = Array.from('typed after it').reduce((before, letter) => insert(before, letter, one), state);
    expect(lineView(typed, 10).lines).toEqual([' after it ']);
  });

  it('masks secrets', () => {
    expect(lineView(editStateOf('key'), 6, true).lines).toEqual(['•••   ']);
  });
});

describe('areaView', () => {
  it('wraps, and shows the lines around the cursor', () => {
    expect(areaView(editStateOf('abcdef\ng'), 4, 5)).toEqual({
      lines: ['abcd', 'ef  ', 'g   '],
      cursor: { x: 1, y: 2 },
    });
    expect(areaView(editStateOf('a\nb\nc'), 4, 2)).toEqual({ lines: ['b   ', 'c   '], cursor: { x: 1, y: 1 } });
    expect(areaView({ ...editStateOf('a\nb\nc'), cursor: 0 }, 4, 2).lines).toEqual(['a   ', 'b   ']);
  });

  it('gives the cursor its own line after a full one', () => {
    expect(areaView(editStateOf('abcd'), 4, 3).cursor).toEqual({ x: 0, y: 1 });
  });
});

it('keeps its initial text exactly until it is changed, and reports the change (B2)', () => {
  const original = 'a\tb\u200b\r\n';
  const typed = (...presses: readonly (readonly [name: string, text?: string])[]) =>
    presses.reduce<EditState>(
      (state, [name, text = '']) => edit(state, { name, text }, many) ?? state,
      editStateOf(original),
    );
  const facts = (state: EditState) => [enteredText(state), textOf(state), state.isReplaced ?? false];
  const shown = 'a   b\n';
  expect(facts(typed())).toEqual([original, shown, false]);
  expect(facts(typed(['left'], ['up'], ['f5']))).toEqual([original, shown, false]);
  expect(facts(typed(['x', 'x'], ['backspace'], ['left']))).toEqual([shown, shown, true]);
  expect(facts(typed(['backspace'], ['ctrl-u'], ['y', 'y']))).toEqual(['y', 'y', false]);
  // A field of one line shows it on one.
  expect(enteredText(editStateOf(original, one))).toBe(textOf(editStateOf(original, one)));
});
