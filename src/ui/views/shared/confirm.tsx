/** Confirms an action that many notice, or that cannot be undone, and reports the outcome of each write. */

import { Text } from 'ink';
import { useReducer, useState } from 'react';
import type { Action } from '../../../queries/action.ts';
import { useActionForEach, useRequests } from '../../../queries/use-action.ts';
import { describeError } from '../../../service/errors.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { isTyped, typeable } from '../../../text/typed.ts';
import { truncate } from '../../../text/width.ts';
import { firstLines, wrap } from '../../../text/wrap.ts';
import { windowRoom } from '../../app/layout.ts';
import { useShell } from '../../app/shell-context.tsx';
import { confirmCommands, formCommands, overlayCommands } from '../../keys/general.ts';
import type { KeyPress } from '../../keys/key.ts';
import { KeyScope, useKeyOf } from '../../keys/router.tsx';
import { type EditState, edit, editStateOf, fieldHandlers, textOf } from '../../widgets/text-field/editing.ts';
import { lineView, withCaret } from '../../widgets/text-field/field-view.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';
import { listOf } from '../list/list-words.ts';
import { useHeldBackWords } from './asking.ts';
import { ErrorNote } from './error-note.tsx';
import { Lines, requestLines } from './lines.tsx';

export interface ConfirmProps<Row> {
  readonly title: string;
  /** What will happen, and to what. */
  readonly question: string;
  /** The verb of the button, e.g. `delete`, and of the result, e.g. `deleted`. */
  readonly verb: string;
  readonly past: string;
  readonly action: Action<Row>;
  /** The words that have to be typed before it is done; without them, one key is enough. */
  readonly typed?: string | undefined;
  /** The rows it is done to. */
  readonly rows: readonly Row[];
  readonly labelOf: (row: Row) => string;
  /** Called once every write has succeeded, after the window has closed. */
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** The free line and the keys below the question. */
const buttonLines = 2;
/** What to type, and the field for it. */
const typedLines = 2;
const oneLine = { multiline: false } as const;
/** Number of requests shown with their own lines. */
const shownRequests = 6;
const mostErrorLines = 6;
/** With fewer lines, the question gives way to the errors. */
const leastErrorLines = 4;

export interface ReportedFailure {
  readonly label: string;
  /** Undefined if it was not sent. */
  readonly error: Error | undefined;
}

/** The outcome of several requests: how many succeeded, and why the others failed. Pure. */
function reportLines(
  done: number,
  failures: readonly ReportedFailure[],
  past: string,
  width: number,
  { styles, glyphs }: Theme,
): string[] {
  const unsent = failures.filter(({ error }) => error === undefined).length;
  const counts = [
    `${done} ${past}`,
    `${failures.length - unsent} failed`,
    ...(unsent > 0 ? [`${unsent} not sent`] : []),
  ];
  return [
    styles.warning(counts.join(', ')),
    ...failures.flatMap(({ label, error }) => {
      if (!error) return [];
      const [first = '', ...rest] = wrap(clean`${label}: ${describeError(error)}`, width - 2);
      return [styles.danger(`${glyphs.cross} ${first}`), ...rest.map(line => styles.danger(`  ${line}`))];
    }),
  ];
}

interface TypedState {
  readonly field: EditState;
  /** It was confirmed with another text. */
  readonly wrong: boolean;
}

function typedReducer(state: TypedState, action: KeyPress | 'wrong'): TypedState {
  if (action === 'wrong') return { ...state, wrong: true };
  return { field: edit(state.field, action, oneLine) ?? state.field, wrong: false };
}

/**
 * The confirming key is not the one just pressed, and what needs more care takes a text that has to be typed. Esc stops
 * requests in flight.
 */
export function Confirm<Row>(props: ConfirmProps<Row>) {
  const { title, question, verb, past, action, rows: given, labelOf, onDone, onClose } = props;
  const { layout } = useShell();
  const typed = props.typed === undefined ? undefined : typeable(props.typed);
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const keyOf = useKeyOf();
  const [preview, setPreview] = useState(false);
  const [answer, dispatch] = useReducer(typedReducer, { field: editStateOf('', oneLine), wrong: false });
  const sending = useActionForEach(action, given);
  const most = windowRoom(layout);
  const width = Math.min(most.width, 64);
  const inner = width - windowMargin.columns;
  const { state, done, left } = sending;
  const busy = state.kind === 'running';
  const failures = state.kind === 'done' ? state.result : [];
  // A single request shows all details of its error.
  const error = state.kind === 'failed' ? state.error : given.length === 1 ? failures[0]?.error : undefined;
  const report =
    error || failures.length === 0
      ? []
      : reportLines(
          done,
          failures.map(({ input, error: why }) => ({ label: labelOf(input), error: why })),
          past,
          inner,
          theme,
        );
  const keyLines = buttonLines + (typed === undefined ? 0 : typedLines);
  const free = most.height - windowMargin.lines - keyLines;
  const needed = error ? leastErrorLines : Math.min(report.length, leastErrorLines);
  const asked = wrap(sanitiseLine(question), inner).slice(0, Math.max(1, free - needed));
  const errorHeight = error ? Math.min(mostErrorLines, free - asked.length) : 0;
  const requests = useRequests(
    preview ? service => Promise.all(left.slice(0, shownRequests).map(row => action(service, row))) : undefined,
  );
  const more = preview && left.length > shownRequests ? [`… and ${left.length - shownRequests} more`] : [];
  const previewed = [...requestLines(requests, inner), ...more];
  // In order of importance: the question, errors, requests, names.
  const room = free - asked.length - errorHeight;
  const reported = firstLines(report, Math.max(1, room));
  const sent = previewed.slice(0, Math.max(0, room - reported.length));
  const listRoom = room - reported.length - sent.length;
  const names = listRoom < 2 || reported.length > 0 ? [] : given.map(labelOf);
  const listed = names.length > 0 ? listOf(names, listRoom) : [];
  const lines = [...asked, ...listed.map(label => truncate(`${glyphs.bullet} ${sanitiseLine(label)}`, inner))];
  const act = async (): Promise<void> => {
    if (typed !== undefined && !isTyped(textOf(answer.field), typed)) {
      dispatch('wrong');
      return;
    }
    if (!(await sending.start())) return;
    onClose();
    onDone();
  };
  const rest = left.length < given.length ? `${verb} the other ${left.length}` : verb;
  const progress = given.length > 1 ? `${done} of ${given.length}: ` : '';
  const heldBack = useHeldBackWords();
  const doing = state.kind === 'running' && state.stopping ? 'Stopping…' : (heldBack ?? `${verb}…`);
  const [yes, no] =
    typed === undefined ? [confirmCommands.yes, confirmCommands.no] : [confirmCommands.typed, confirmCommands.leave];
  const buttons = busy
    ? `${progress}${doing}   ${styles.key(`<${keyOf(overlayCommands.close)}>`)} stop`
    : `${styles.key(`<${keyOf(no)}>`)} ${left.length < given.length ? 'close' : 'no'}   ${styles.key(`<${keyOf(yes)}>`)} ${styles.danger(rest)}`;
  const prompt = typed === undefined ? '' : truncate(`Type ${typed} to ${verb}:`, inner);
  return (
    <KeyScope
      modal
      bindings={[
        { command: yes, run: () => void act(), enabled: !busy },
        // Enter after y, as in a shell, must not stop what y has started.
        busy ? { command: overlayCommands.close, run: sending.stop } : { command: no, run: onClose },
        { command: formCommands.preview, run: () => setPreview(shown => !shown) },
      ]}
      {...(typed === undefined || busy ? {} : fieldHandlers(oneLine, dispatch))}
    >
      <Window
        title={title}
        width={width}
        height={lines.length + keyLines + reported.length + sent.length + errorHeight + windowMargin.lines}
        danger
      >
        <Lines lines={lines} width={inner} height={lines.length} />
        <Text> </Text>
        {typed === undefined ? null : (
          <Text>
            {answer.wrong ? styles.danger(`${glyphs.cross} ${prompt}`) : prompt}
            {'\n'}
            {`${styles.border(glyphs.vertical)} ${withCaret(lineView(answer.field, inner - 2), 0, styles.caret)}`}
          </Text>
        )}
        <Text>{buttons}</Text>
        <Lines lines={reported} width={inner} height={reported.length} />
        <Lines lines={sent.map(line => styles.code(line))} width={inner} height={sent.length} />
        {error ? <ErrorNote error={error} width={inner} height={errorHeight} /> : null}
      </Window>
    </KeyScope>
  );
}
