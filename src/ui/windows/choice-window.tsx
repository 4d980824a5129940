/** Windows for choosing actions or values, and a placeholder for a form. */
import { Box, Text } from 'ink';
import { useReducer } from 'react';
import { largestOf } from '../../base/many.ts';
import { cutApart } from '../../text/apart.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { displayWidth, padEnd, padStart, truncate } from '../../text/width.ts';
import { firstLines, wrap } from '../../text/wrap.ts';
import { ErrorNote, noteLines, useSettingAdvice } from '../app/error-note.tsx';
import { Loading } from '../app/loading.tsx';
import { useWindowRoom } from '../app/shell-context.tsx';
import { overlayCommands, paletteCommands } from '../keys/general.ts';
import { type KeyPress, keyLabel } from '../keys/key.ts';
import { type Binding, useRouter } from '../keys/router.tsx';
import { Lines } from '../widgets/lines.tsx';
import {
  Menu,
  type MenuAction,
  type MenuCursor,
  type MenuItem,
  MenuItems,
  menuBindings,
  menuIndex,
  menuReducer,
} from '../widgets/menu.tsx';
import { type EditState, edit, editStateOf, fieldHandlers, oneLine, textOf } from '../widgets/text-field/editing.ts';
import { lineView, withCaret } from '../widgets/text-field/field-view.ts';
import { type Theme, useTheme } from '../widgets/theme/theme.tsx';
import { titleRoom, Window, windowMargin } from '../widgets/window.tsx';

interface ActionMenuProps {
  /** The names of the resources that the actions change. */
  readonly subjects: readonly string[];
  readonly bindings: readonly Binding[];
  readonly onClose: () => void;
}

/** The names in a title. Long names are cut, so that all fit. */
function titleOf(names: readonly string[], room: number, { glyphs }: Theme): string {
  const between = ', ';
  let left = room - between.length * (names.length - 1);
  const shown = new Map<string, string>();
  for (const [index, name] of names.toSorted((one, other) => displayWidth(one) - displayWidth(other)).entries()) {
    const cut = truncate(name, Math.floor(left / (names.length - index)), { ellipsis: glyphs.ellipsis });
    shown.set(name, cut);
    left -= displayWidth(cut);
  }
  return names.map(name => shown.get(name)).join(between);
}

/** The cells before a menu's label. */
const markerWidth = 2;
/** Maximum number of keys to show for an action, so that its title fits. */
const maxKeys = 3;

/** Lets the user choose one of a resource's actions. */
export function ActionMenu({ subjects, bindings: offered, onClose }: ActionMenuProps) {
  const router = useRouter();
  const bindings = offered.filter(router.usable);
  const room = useWindowRoom(64);
  const theme = useTheme();
  const items = bindings.map(({ command, on }) => {
    const { ellipsis } = theme.glyphs;
    const labels = router.keysOf(command).map(keyLabel);
    const named = labels.length > maxKeys ? [...labels.slice(0, maxKeys), ellipsis] : labels;
    const keys = `  (${named.join(', ')})`;
    const words = `${on === undefined ? '' : `${on}: `}${command.title}`;
    const cut = truncate(words, room.inner - markerWidth - displayWidth(keys), { ellipsis });
    return { key: command.id, label: cut + keys };
  });
  const lines = Math.min(Math.max(1, items.length), room.height - windowMargin.lines);
  const instead =
    (binding: Binding | undefined): Binding['run'] =>
    press => {
      onClose();
      return binding && router.run(binding, press);
    };
  return (
    <Window
      title={titleOf(
        subjects.map(name => sanitiseLine(name)),
        titleRoom(room.width),
        theme,
      )}
      width={room.width}
      height={lines + windowMargin.lines}
      bindings={[{ command: overlayCommands.close, run: onClose }]}
    >
      {items.length === 0 ? <Text>No action is available now.</Text> : null}
      <Menu
        limit={lines}
        items={items}
        onChoose={index => instead(bindings[index])({ name: 'enter', text: '' })}
        bindings={bindings.map(binding => ({ ...binding, run: instead(binding) }))}
      />
    </Window>
  );
}

interface LoadingWindowProps {
  readonly title: string;
  /** Shown while the data is loading; by default, a text about reading from the service. */
  readonly words?: string;
  /** Why the form cannot be shown; undefined while it is loading. */
  readonly error?: Error | undefined;
  readonly onClose: () => void;
}

/** Shown instead of a form while its data is loading, and if that fails. */
export function LoadingWindow({ title, words, error, onClose }: LoadingWindowProps) {
  const { width, inner, ...most } = useWindowRoom(64);
  const room = { width: inner, height: most.height - windowMargin.lines };
  const theme = useTheme();
  const advice = useSettingAdvice();
  const height = error ? noteLines(error, room, theme, advice).length : 1;
  return (
    <Window
      title={title}
      width={width}
      height={height + windowMargin.lines}
      bindings={[
        { command: overlayCommands.close, run: onClose },
        { command: overlayCommands.quit, run: onClose },
      ]}
    >
      {error ? <ErrorNote error={error} width={inner} height={height} /> : <Loading words={words} />}
    </Window>
  );
}

export interface ActionWindowProps<Row> {
  readonly row: Row;
  /** All rows, if the window works on several. */
  readonly rows?: readonly Row[] | undefined;
  readonly onClose: () => void;
}

interface Choice<Value> {
  readonly key: string;
  /** Truncated if there is no room, in a way that keeps labels distinct. */
  readonly label: string;
  /** Shown after the label, and never truncated. */
  readonly note?: string;
  readonly value: Value;
}

/** A line for each choice: labels truncated to fit, and aligned notes. */
function choiceLines(choices: readonly Choice<unknown>[], width: number, theme: Theme): string[] {
  const notes = choices.map(({ note = '' }) => sanitiseLine(note));
  const widest = largestOf(notes, displayWidth);
  const labels = choices.map(({ label }) => sanitiseLine(label));
  const room = Math.max(minLabelWidth, width - (widest > 0 ? widest + 2 : 0));
  const cuts = cutApart(labels, room, { ellipsis: theme.glyphs.ellipsis });
  const longest = largestOf(cuts.values(), displayWidth);
  return labels.map((label, index) => {
    const shown = cuts.get(label) ?? label;
    return notes[index] ? `${padEnd(shown, longest)}  ${padStart(notes[index], widest)}` : shown;
  });
}

const minLabelWidth = 8;

interface ChoiceWindowProps<Value> {
  readonly title: string;
  /** Shown above a few choices. */
  readonly about?: string;
  readonly choices: readonly Choice<Value>[];
  readonly waiting?: boolean;
  readonly emptyText?: string;
  readonly onChoose: (value: Value) => void;
  readonly onClose: () => void;
}

/** If there are more choices than this, typing narrows them down. */
const fewChoices = 5;

/** Lets the user choose one of several values. */
export function ChoiceWindow<Value>(props: ChoiceWindowProps<Value>) {
  const { title, about = '', choices, waiting = false, emptyText = '', onChoose, onClose } = props;
  const widest = largestOf(choices, ({ label, note = '' }) => displayWidth(`${label}  ${note}`));
  const { width, inner, ...room } = useWindowRoom(Math.max(64, widest + 3 + windowMargin.columns));
  const labels = choiceLines(choices, inner - 3, useTheme());
  const isLong = choices.length > fewChoices;
  const lines = Math.min(Math.max(1, choices.length) + (isLong ? typedLines : 0), room.height - windowMargin.lines);
  const items = choices.map(({ key }, index) => ({ key, label: labels[index] ?? key }));
  const aboutLines = about === '' ? [] : firstLines(wrap(about, inner), room.height - windowMargin.lines - lines);
  const choose = (index: number): void => {
    onClose();
    const chosen = choices[index];
    if (chosen) onChoose(chosen.value);
  };
  const search = useSearch(items, choices, lines - typedLines, choose);
  return (
    <Window
      title={title}
      width={width}
      height={aboutLines.length + lines + windowMargin.lines}
      bindings={[...(isLong ? search.bindings : []), { command: overlayCommands.close, run: onClose }]}
      {...(isLong ? search.handlers : {})}
    >
      <Lines lines={aboutLines} width={inner} height={aboutLines.length} />
      {waiting ? <Loading /> : null}
      {!waiting && choices.length === 0 ? <Text>{emptyText}</Text> : null}
      {isLong ? <SearchedMenu search={search} width={inner} /> : <Menu limit={lines} items={items} onChoose={choose} />}
    </Window>
  );
}

/** The typed text and the position, above the choices. */
const typedLines = 1;

interface SearchState {
  readonly typed: EditState;
  readonly cursor: MenuCursor;
}

type SearchAction = { readonly press: KeyPress } | MenuAction;

function searchReducer({ typed, cursor }: SearchState, action: SearchAction): SearchState {
  if ('press' in action) return { typed: edit(typed, action.press, oneLine) ?? typed, cursor: { index: 0 } };
  return { typed, cursor: menuReducer(cursor, action) };
}

/** These keys go to the ends of the list, not to the ends of the text. */
const isEnd = ({ name }: KeyPress): boolean => name === 'home' || name === 'end';

/** Narrows down the choices as the user types: every word must be in the label or the note. */
function useSearch(
  items: readonly MenuItem[],
  choices: readonly Pick<Choice<unknown>, 'label' | 'note'>[],
  height: number,
  choose: (index: number) => void,
) {
  const [{ typed, cursor }, dispatch] = useReducer(searchReducer, { typed: editStateOf(''), cursor: { index: 0 } });
  const handlers = fieldHandlers(oneLine, press => dispatch({ press }));
  const isTyped = (press: KeyPress): boolean => !isEnd(press) && handlers.field.takes(press);
  const words = textOf(typed).toLowerCase().split(/\s+/);
  const found = items.flatMap((item, index) => {
    const { label = '', note = '' } = choices[index] ?? {};
    const searched = `${label} ${note}`.toLowerCase();
    return words.every(word => searched.includes(word)) ? [{ ...item, index }] : [];
  });
  const keys = found.map(({ key }) => key);
  const at = menuIndex(cursor, keys);
  return {
    typed,
    found,
    at,
    height,
    count: items.length,
    handlers: { ...handlers, field: { ...handlers.field, takes: isTyped } },
    bindings: menuBindings(keys, height, dispatch, () => choose(found[at]?.index ?? -1), paletteCommands),
  };
}

function SearchedMenu({ search, width }: { readonly search: ReturnType<typeof useSearch>; readonly width: number }) {
  const { styles } = useTheme();
  const { typed, found, at, height, count } = search;
  const total = found.length === count ? '' : ` of ${count}`;
  const position = found.length === 0 ? `none of ${count}` : `${at + 1}/${found.length}${total}`;
  const room = width - displayWidth(position) - 2;
  const line = withCaret(lineView(typed, Math.max(1, room - 1)), 0, styles.caret);
  return (
    <>
      <Box width={width} justifyContent="space-between">
        <Text wrap="truncate">{`${styles.key('/')}${line}`}</Text>
        <Text>{styles.muted(position)}</Text>
      </Box>
      <MenuItems items={found} at={at} height={height} />
    </>
  );
}
