/** Text editing. Pure. Positions count graphemes, so the cursor is never inside a visible character. */
import { own } from '../../../base/own-property.ts';
import { sanitise } from '../../../text/sanitise.ts';
import { graphemes } from '../../../text/width.ts';
import type { KeyPress } from '../../keys/key.ts';
import type { FieldHandlers, ScopeHandlers } from '../../keys/scopes.ts';

export interface EditState {
  readonly characters: readonly string[];
  /** The cursor is before this character. */
  readonly cursor: number;
  /** The initial text while the user has not changed it, if the field shows it differently. */
  readonly original?: string;
  /** Whether the user has changed such a text: what the field shows has replaced it. */
  readonly isReplaced?: boolean;
}

/** Shown once a text is replaced. */
export const describeReplaced = 'Tabs, line ends and hidden characters are now as shown here';

const emptyEdit: EditState = { characters: [], cursor: 0 };

/** A field with initial text, which is sanitised like typed text. */
export function editStateOf(text: string, options: EditOptions = { multiline: true }): EditState {
  const state = insert(emptyEdit, text, options);
  return options.multiline && textOf(state) !== text ? { ...state, original: text } : state;
}

/** The text as shown. */
export function textOf({ characters }: EditState): string {
  return characters.join('');
}

/** The text that was entered: the initial text exactly, while the user has not changed it. */
export const enteredText = (state: EditState): string => state.original ?? textOf(state);

export const textBefore = ({ characters, cursor }: EditState): string => characters.slice(0, cursor).join('');

/** The field without the text before the cursor. */
export const afterCursor = ({ characters, cursor }: EditState): EditState => ({
  characters: characters.slice(cursor),
  cursor: 0,
});

interface EditOptions {
  /** Whether to keep line ends; otherwise they become spaces. */
  readonly multiline: boolean;
}

export const oneLine: EditOptions = { multiline: false };

/** Inserts text at the cursor, as typing or pasting does. */
export function insert(state: EditState, text: string, { multiline }: EditOptions): EditState {
  const clean = sanitise(multiline ? text.replace(/\r\n?/g, '\n') : text.replace(/[\r\n]+/g, ' '), { multiline });
  const added = graphemes(clean);
  // Joined with the character before the cursor, because a combining mark belongs to its letter.
  const seam = Math.max(0, state.cursor - 1);
  const joined = graphemes([...state.characters.slice(seam, state.cursor), ...added].join(''));
  const before = [...state.characters.slice(0, seam), ...joined];
  return { characters: [...before, ...state.characters.slice(state.cursor)], cursor: before.length };
}

/** The editing keys; other keys that type nothing go to the surrounding scopes. */
const edits: Readonly<Record<string, (state: EditState, options: EditOptions) => EditState>> = {
  left: state => moveTo(state, state.cursor - 1),
  right: state => moveTo(state, state.cursor + 1),
  home: state => moveTo(state, lineStart(state)),
  end: state => moveTo(state, lineEnd(state)),
  'ctrl-a': state => moveTo(state, lineStart(state)),
  'ctrl-e': state => moveTo(state, lineEnd(state)),
  'ctrl-b': state => moveTo(state, state.cursor - 1),
  'ctrl-f': state => moveTo(state, state.cursor + 1),
  'alt-left': state => moveTo(state, wordStart(state)),
  'alt-right': state => moveTo(state, wordEnd(state)),
  'ctrl-left': state => moveTo(state, wordStart(state)),
  'ctrl-right': state => moveTo(state, wordEnd(state)),
  'alt-b': state => moveTo(state, wordStart(state)),
  'alt-f': state => moveTo(state, wordEnd(state)),
  backspace: state => cut(state, state.cursor - 1, state.cursor),
  // Terminals send DEL for backspace; Ink reports it as `delete` on some of them.
  delete: state =>
    state.cursor < state.characters.length
      ? cut(state, state.cursor, state.cursor + 1)
      : cut(state, state.cursor - 1, state.cursor),
  'ctrl-d': state => cut(state, state.cursor, state.cursor + 1),
  'ctrl-h': state => cut(state, state.cursor - 1, state.cursor),
  'ctrl-w': state => cut(state, wordStart(state), state.cursor),
  'alt-backspace': state => cut(state, wordStart(state), state.cursor),
  'alt-d': state => cut(state, state.cursor, wordEnd(state)),
  'ctrl-u': state => cut(state, lineStart(state), state.cursor),
  'ctrl-k': state => cut(state, state.cursor, lineEnd(state)),
};

/** The state after a key, or undefined if the field does not handle it. */
export function edit(state: EditState, press: KeyPress, options: EditOptions): EditState | undefined {
  const next = pressed(state, press, options);
  const hadOriginal = state.original !== undefined || state.isReplaced;
  const isReplaced = hadOriginal && next && next.original === undefined && next.characters.length > 0;
  return isReplaced ? { ...next, isReplaced } : next;
}

function pressed(state: EditState, press: KeyPress, options: EditOptions): EditState | undefined {
  if (press.text !== '') return insert(state, press.text, options);
  if (options.multiline) {
    if (press.name === 'up' || press.name === 'down') return moveLine(state, press.name === 'up' ? -1 : 1);
    if (press.name === 'ctrl-j' || press.name === 'alt-enter' || press.name === 'shift-enter')
      return insert(state, '\n', options);
  }
  return own(edits, press.name)?.(state, options);
}

/** A field's handlers: `type` is called with every press that the field handles; a paste is one press. */
export function fieldHandlers(
  options: EditOptions,
  type: (press: KeyPress) => void,
): Required<Pick<ScopeHandlers, 'onPaste'>> & { readonly field: FieldHandlers } {
  return {
    // Whether a key edits text depends only on its name.
    field: { takes: press => press.text !== '' || edit(emptyEdit, press, options) !== undefined, type },
    onPaste: text => {
      type({ name: 'paste', text });
      return true;
    },
  };
}

function moveTo(state: EditState, cursor: number): EditState {
  return { ...state, cursor: Math.max(0, Math.min(state.characters.length, cursor)) };
}

function cut(state: EditState, from: number, to: number): EditState {
  const start = Math.max(0, from);
  if (start >= to) return state;
  return { characters: [...state.characters.slice(0, start), ...state.characters.slice(to)], cursor: start };
}

const isSpace = (character: string | undefined): boolean => character !== undefined && /^\s+$/u.test(character);

function wordStart({ characters, cursor }: EditState): number {
  let at = cursor;
  while (at > 0 && isSpace(characters[at - 1])) at -= 1;
  while (at > 0 && !isSpace(characters[at - 1])) at -= 1;
  return at;
}

function wordEnd({ characters, cursor }: EditState): number {
  let at = cursor;
  while (at < characters.length && isSpace(characters[at])) at += 1;
  while (at < characters.length && !isSpace(characters[at])) at += 1;
  return at;
}

function lineStart({ characters, cursor }: EditState): number {
  return cursor === 0 ? 0 : characters.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ characters, cursor }: EditState): number {
  const end = characters.indexOf('\n', cursor);
  return end === -1 ? characters.length : end;
}

/** Moves up or down a line in the same column; from the first or last line, to the beginning or end of the text. */
function moveLine(state: EditState, direction: -1 | 1): EditState {
  const start = lineStart(state);
  const column = state.cursor - start;
  if (direction === -1) {
    if (start === 0) return moveTo(state, 0);
    const above = lineStart({ ...state, cursor: start - 1 });
    return moveTo(state, Math.min(above + column, start - 1));
  }
  const end = lineEnd(state);
  if (end === state.characters.length) return moveTo(state, end);
  const below = end + 1;
  return moveTo(state, Math.min(below + column, lineEnd({ ...state, cursor: below })));
}
