/** Windows with choices: actions, values; and a notice shown instead of a form. */
import { Text } from 'ink';
import { cutApart } from '../../text/apart.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { displayWidth, padEnd } from '../../text/width.ts';
import { ErrorNote, noteLines, useSettingAdvice } from '../app/error-note.tsx';
import { useWindowRoom } from '../app/shell-context.tsx';
import { Waiting } from '../app/waiting.tsx';
import { overlayCommands } from '../keys/general.ts';
import { keyLabel } from '../keys/key.ts';
import { type Binding, useRouter } from '../keys/router.tsx';
import { Menu } from '../widgets/menu.tsx';
import { type Theme, useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';

export interface ActionMenuProps {
  readonly title: string;
  readonly bindings: readonly Binding[];
  readonly onClose: () => void;
}

/** All actions on a resource, to choose from. */
export function ActionMenu({ title, bindings: offered, onClose }: ActionMenuProps) {
  const router = useRouter();
  const bindings = offered.filter(router.usable);
  const room = useWindowRoom(56);
  const items = bindings.map(({ command }) => ({
    key: command.id,
    label: `${command.title}  (${router.keysOf(command).map(keyLabel).join(', ')})`,
  }));
  const lines = Math.min(Math.max(1, items.length), room.height - windowMargin.lines);
  const instead =
    (binding: Binding | undefined): Binding['run'] =>
    press => {
      onClose();
      return binding && router.run(binding, press);
    };
  return (
    <Window
      title={title}
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

export interface LoadingWindowProps {
  readonly title: string;
  /** What is loading, if not data of the service. */
  readonly words?: string;
  /** Why the form cannot be shown; without it, something is still loading. */
  readonly error?: Error | undefined;
  readonly onClose: () => void;
}

/** Shown instead of a form until its data has been read, or could not be read. */
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
      {error ? <ErrorNote error={error} width={inner} height={height} /> : <Waiting words={words} />}
    </Window>
  );
}

/** The properties of a window that an action opens. */
export interface ActionWindowProps<Row> {
  readonly row: Row;
  readonly onClose: () => void;
}

export interface Choice<Value> {
  readonly key: string;
  /** Cut if there is no room, so that different labels stay different. */
  readonly label: string;
  /** Shown after the label, and never cut. */
  readonly note?: string;
  readonly value: Value;
}

/** The line of each choice: the labels, cut, and their notes below each other. */
function choiceLines(choices: readonly Choice<unknown>[], width: number, theme: Theme): string[] {
  const notes = choices.map(({ note = '' }) => sanitiseLine(note));
  const widest = Math.max(0, ...notes.map(displayWidth));
  const labels = choices.map(({ label }) => sanitiseLine(label));
  const room = Math.max(leastLabel, width - (widest > 0 ? widest + 2 : 0));
  const cuts = cutApart(labels, room, { ellipsis: theme.glyphs.ellipsis });
  const longest = Math.max(0, ...Array.from(cuts.values(), each => displayWidth(each)));
  return labels.map((label, index) => {
    const shown = cuts.get(label) ?? label;
    return notes[index] ? `${padEnd(shown, longest)}  ${notes[index]}` : shown;
  });
}

const leastLabel = 8;

export interface ChoiceWindowProps<Value> {
  readonly title: string;
  readonly choices: readonly Choice<Value>[];
  readonly waiting?: boolean;
  readonly emptyWords: string;
  readonly onChoose: (value: Value) => void;
  readonly onClose: () => void;
}

/** A choice of one among several. */
export function ChoiceWindow<Value>(props: ChoiceWindowProps<Value>) {
  const { title, choices, waiting = false, emptyWords, onChoose, onClose } = props;
  const { width, inner, ...room } = useWindowRoom(64);
  const lines = Math.min(Math.max(1, choices.length), room.height - windowMargin.lines);
  const labels = choiceLines(choices, inner - 3, useTheme());
  return (
    <Window
      title={title}
      width={width}
      height={lines + windowMargin.lines}
      bindings={[{ command: overlayCommands.close, run: onClose }]}
    >
      {waiting ? <Waiting /> : null}
      {!waiting && choices.length === 0 ? <Text>{emptyWords}</Text> : null}
      <Menu
        limit={lines}
        items={choices.map(({ key }, index) => ({ key, label: labels[index] ?? key }))}
        onChoose={index => {
          onClose();
          const chosen = choices[index];
          if (chosen) onChoose(chosen.value);
        }}
      />
    </Window>
  );
}
