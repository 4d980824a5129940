/** Confirms an action with wide effects, or one that cannot be undone, and reports the outcome of each write. */

import { Text } from 'ink';
import { useReducer, useState } from 'react';
import type { Command } from '../../present/command.ts';
import type { Action } from '../../queries/action.ts';
import { describeError } from '../../service/errors.ts';
import { clean, sanitiseLine } from '../../text/sanitise.ts';
import { isTyped, typeable } from '../../text/typed.ts';
import { truncate } from '../../text/width.ts';
import { firstLines, wrap } from '../../text/wrap.ts';
import { ErrorNote, noteLines, useSettingAdvice } from '../app/error-note.tsx';
import type { Size } from '../app/layout.ts';
import { useDelayText } from '../app/loading.tsx';
import { useWindowRoom } from '../app/shell-context.tsx';
import { type CheckInputs, type RepeatedAction, useActionForEach, useRequests } from '../data/use-action.ts';
import { confirmCommands, formCommands, overlayCommands } from '../keys/general.ts';
import type { KeyPress } from '../keys/key.ts';
import { useKeyOf } from '../keys/router.tsx';
import { Lines } from '../widgets/lines.tsx';
import { type EditState, edit, editStateOf, fieldHandlers, oneLine, textOf } from '../widgets/text-field/editing.ts';
import { lineView, withCaret } from '../widgets/text-field/field-view.ts';
import { type Theme, useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { listOf } from './names.ts';
import { requestLines } from './requests.ts';

interface ConfirmProps<Row> {
  /** Names the remaining rows. */
  readonly title: (left: readonly Row[]) => string;
  /** Describes the effect on the remaining rows. */
  readonly question: (left: readonly Row[]) => string;
  /** The verb for the button, e.g. `delete`, and for the result, e.g. `deleted`. */
  readonly verb: string;
  readonly participle: string;
  readonly action: Action<Row>;
  /** The text that the user must type to confirm the remaining rows; if undefined, one key is enough. */
  readonly typed?: ((left: readonly Row[]) => string | undefined) | undefined;
  readonly rows: readonly Row[];
  readonly labelOf: (row: Row) => string;
  /** Called with the responses once every write has succeeded, after the window has closed. */
  readonly onDone: (answers: ReadonlyMap<Row, unknown>) => void;
  readonly onClose: () => void;
  /** Called before anything is sent. If it returns a reason, nothing is sent, and the window asks again. */
  readonly check?: CheckInputs<Row> | undefined;
}

/** The blank line and the keys below the question. */
const buttonLines = 2;
/** Lines for the prompt and its field. */
const typedLines = 2;
/** Maximum number of requests to show. */
const shownRequests = 6;
const maxErrorLines = 6;
/** With fewer lines, the errors replace the question. */
const minErrorLines = 4;

interface ReportedFailure {
  readonly label: string;
  /** Undefined if it was not sent. */
  readonly error: Error | undefined;
}

/** The outcome of several requests: how many succeeded, and why others failed. Pure. */
function reportLines(
  done: number,
  failures: readonly ReportedFailure[],
  participle: string,
  width: number,
  { styles, glyphs }: Theme,
): string[] {
  const unsent = failures.filter(({ error }) => error === undefined).length;
  const counts = [
    `${done} ${participle}`,
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
  /** Whether the typed text is wrong. */
  readonly wrong: boolean;
}

const untypedState: TypedState = { field: editStateOf('', oneLine), wrong: false };

function typedReducer(state: TypedState, action: KeyPress | 'wrong' | 'again'): TypedState {
  if (action === 'again') return untypedState;
  if (action === 'wrong') return { ...state, wrong: true };
  return { field: edit(state.field, action, oneLine) ?? state.field, wrong: false };
}

/** The required text and the typed text, which is cleared if the required text changes. */
function useTyped(words: string | undefined) {
  const typed = words === undefined ? undefined : typeable(words);
  const [answer, dispatch] = useReducer(typedReducer, untypedState);
  const [typedFor, setTypedFor] = useState(typed);
  if (typed !== typedFor) {
    setTypedFor(typed);
    dispatch('again');
  }
  return { typed, answer, dispatch };
}

/**
 * The key that opens the window never confirms it, and a dangerous action must be confirmed by typing. Esc stops
 * requests in flight.
 */
export function Confirm<Row>(props: ConfirmProps<Row>) {
  const { verb, action, rows, check, onDone, onClose } = props;
  const [preview, setPreview] = useState(false);
  const sending = useActionForEach(action, rows, check);
  // Once all are sent, the question stays until the window closes.
  const remaining = sending.left.length > 0 ? sending.left : rows;
  const { typed, answer, dispatch } = useTyped(props.typed?.(remaining));
  const { width, inner, ...most } = useWindowRoom(64);
  const busy = sending.state.kind === 'running';
  const keyLines = buttonLines + (typed === undefined ? 0 : typedLines);
  const previewed = usePreview(preview, action, sending.left, inner);
  const size = { width: inner, height: most.height - windowMargin.lines - keyLines };
  const content = contentOf(
    { ...props, rows: remaining, question: props.question(remaining) },
    rows.length,
    sending,
    previewed,
    size,
    useTheme(),
    useSettingAdvice(),
  );
  const act = async (): Promise<void> => {
    if (typed !== undefined && !isTyped(textOf(answer.field), typed)) {
      dispatch('wrong');
      return;
    }
    if (!(await sending.start())) {
      // Text typed for another question must not confirm this one.
      dispatch('again');
      return;
    }
    onClose();
    onDone(sending.answers);
  };
  const keys = typed === undefined ? confirmCommands : { yes: confirmCommands.typed, no: confirmCommands.leave };
  return (
    <Window
      title={props.title(remaining)}
      width={width}
      height={content.height + keyLines + windowMargin.lines}
      danger
      guarded
      bindings={[
        { command: keys.yes, run: () => void act(), enabled: !busy },
        // Enter after y, as in a shell, must not stop the requests that y has started.
        busy ? { command: overlayCommands.close, run: sending.stop } : { command: keys.no, run: onClose },
        { command: formCommands.preview, run: () => setPreview(shown => !shown) },
      ]}
      {...(typed === undefined || busy ? {} : fieldHandlers(oneLine, dispatch))}
    >
      <Lines lines={content.lines} width={inner} height={content.lines.length} />
      <Text> </Text>
      {typed === undefined ? null : <TypedAnswer words={`Type ${typed} to ${verb}:`} answer={answer} width={inner} />}
      <Buttons verb={verb} keys={keys} count={rows.length} sending={sending} />
      <Lines lines={content.below} width={inner} height={content.below.length} />
      {content.error ? <ErrorNote error={content.error} width={inner} height={content.errorHeight} /> : null}
    </Window>
  );
}

/** The requests that would be sent for the first rows, as lines; none if there is no preview. */
function usePreview<Row>(
  preview: boolean,
  action: Action<Row>,
  rows: readonly Row[],
  width: number,
): readonly string[] {
  const shown = rows.slice(0, shownRequests);
  const requests = useRequests(preview ? service => Promise.all(shown.map(row => action(service, row))) : undefined);
  const more = rows.length - shown.length;
  return [...requestLines(requests, width), ...(preview && more > 0 ? [`… and ${more} more`] : [])];
}

interface Content {
  /** The question and the names. */
  readonly lines: readonly string[];
  /** The outcomes, and the requests. */
  readonly below: readonly string[];
  /** A single request's error, with all its details. */
  readonly error: Error | undefined;
  readonly errorHeight: number;
  readonly height: number;
}

/**
 * The parts that fit, most important first: the question, errors, requests, names.
 *
 * @param count the initial number of rows
 */
function contentOf<Row>(
  {
    question,
    participle,
    rows,
    labelOf,
  }: Pick<ConfirmProps<Row>, 'participle' | 'rows' | 'labelOf'> & { readonly question: string },
  count: number,
  { state, done }: Pick<RepeatedAction<Row>, 'state' | 'done'>,
  previewed: readonly string[],
  { width, height }: Size,
  theme: Theme,
  advice: readonly string[],
): Content {
  const failures = state.kind === 'done' ? state.result : [];
  const error = state.kind === 'failed' ? state.error : count === 1 ? failures[0]?.error : undefined;
  const named = failures.map(({ input, error: why }) => ({ label: labelOf(input), error: why }));
  const report = error || named.length === 0 ? [] : reportLines(done, named, participle, width, theme);
  const errorLines = error ? noteLines(error, { width, height: maxErrorLines }, theme, advice).length : 0;
  const needed = Math.min(error ? errorLines : report.length, minErrorLines);
  const questionLines = wrap(sanitiseLine(question), width).slice(0, Math.max(1, height - needed));
  const errorHeight = Math.min(errorLines, height - questionLines.length);
  const room = height - questionLines.length - errorHeight;
  const reported = firstLines(report, Math.max(1, room));
  const sent = previewed.slice(0, Math.max(0, room - reported.length));
  const listRoom = room - reported.length - sent.length;
  const listed = listRoom < 2 || reported.length > 0 ? [] : listOf(rows.map(labelOf), listRoom);
  const lines = [
    ...questionLines,
    ...listed.map(label => truncate(`${theme.glyphs.bullet} ${sanitiseLine(label)}`, width)),
  ];
  const below = [...reported, ...sent.map(line => theme.styles.code(line))];
  return { lines, below, error, errorHeight, height: lines.length + below.length + errorHeight };
}

/** The prompt for the required text, and its field. */
function TypedAnswer({ words, answer, width }: { words: string; answer: TypedState; width: number }) {
  const { styles, glyphs } = useTheme();
  const prompt = truncate(words, width);
  return (
    <Text>
      {answer.wrong ? styles.danger(`${glyphs.cross} ${prompt}`) : prompt}
      {'\n'}
      {`${styles.border(glyphs.vertical)} ${withCaret(lineView(answer.field, width - 2), 0, styles.caret)}`}
    </Text>
  );
}

interface ButtonsProps<Row> {
  readonly verb: string;
  readonly keys: Readonly<Record<'yes' | 'no', Command>>;
  readonly count: number;
  readonly sending: Pick<RepeatedAction<Row>, 'state' | 'done' | 'left'>;
}

/** The available keys; while requests are in flight, their progress. */
function Buttons<Row>({ verb, keys, count, sending: { state, done, left } }: ButtonsProps<Row>) {
  const { styles } = useTheme();
  const keyOf = useKeyOf();
  const heldBack = useDelayText();
  const key = (command: Command): string => styles.key(`<${keyOf(command)}>`);
  if (state.kind === 'running') {
    const progress = count > 1 ? `${done} of ${count}: ` : '';
    const doing = state.stopping ? 'Stopping…' : (heldBack ?? `${verb}…`);
    return <Text>{`${progress}${doing}   ${key(overlayCommands.close)} stop`}</Text>;
  }
  const isPart = left.length < count;
  const yes = styles.danger(isPart ? `${verb} the other ${left.length}` : verb);
  return <Text>{`${key(keys.no)} ${isPart ? 'close' : 'no'}   ${key(keys.yes)} ${yes}`}</Text>;
}
