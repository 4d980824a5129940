/** Form windows: one previews the request, sends it and shows errors; the other submits without sending. */
import { Text } from 'ink';
import { useEffect, useState } from 'react';
import { largestOf } from '../../base/many.ts';
import type { Action } from '../../queries/action.ts';
import { isUnanswered } from '../../service/errors.ts';
import { clockOrDay } from '../../text/time.ts';
import { displayWidth } from '../../text/width.ts';
import { lastLines, wrap } from '../../text/wrap.ts';
import type { Service } from '../../workbench/workbench.ts';
import { useConnection } from '../app/connection.ts';
import { ErrorNote, noteLines } from '../app/error-note.tsx';
import { useDelayText } from '../app/loading.tsx';
import { useShell, useWindowRoom } from '../app/shell-context.tsx';
import { type CheckInput, useAction, useRequests } from '../data/use-action.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { formCommands } from '../keys/general.ts';
import { useKeyOf } from '../keys/router.tsx';
import { Form, type FormModel, formHeight, minFormLines, useForm } from '../widgets/form/form.tsx';
import { type FieldSpec, type FormState, type FormValues, shownFields } from '../widgets/form/form-state.ts';
import { Lines } from '../widgets/lines.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { requestLines } from './requests.ts';

interface FormWindowProps<Input, Result> {
  readonly title: string;
  readonly fields: readonly FieldSpec[];
  readonly action: Action<Input, Result>;
  readonly inputOf: (values: FormValues) => Input;
  /** Called before anything is sent. If it returns a reason, nothing is sent. */
  readonly check?: CheckInput<Input>;
  /** Describes the work that will start, below the fields. */
  readonly summary?: ((values: FormValues) => string | undefined) | undefined;
  /** Makes the calls for the preview, if they differ from the action's. */
  readonly describe?: (service: Service, input: Input) => unknown;
  /** Called with the values and the name of the focused field, after they have changed. */
  readonly onChange?: (values: FormValues, focused: string | undefined) => void;
  /** When the same input was last sent without a known outcome; by default, looked up by the action's key. */
  readonly sentBefore?: (input: Input) => number | undefined;
  /** How to find out whether a request succeeded if its response was lost. */
  readonly lostAdvice?: string | undefined;
  /** Index of the field that is focused at first. */
  readonly start?: number;
  /** Identifies the form: until it is sent, the next form with this name begins with its typed values. */
  readonly draft?: string | undefined;
  /** Called after the window has closed on its own, not if the user closed it. */
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

interface PlainFormWindowProps extends Pick<FormWindowProps<never, never>, 'title' | 'fields' | 'start' | 'onClose'> {
  /** Called before submitting. If it returns a warning, the window shows it, and the user may submit again. */
  readonly warningOf?: (values: FormValues) => string | undefined;
  /** If it returns a problem, the window shows it and stays open. */
  readonly onSubmit: ((values: FormValues) => void) | ((values: FormValues) => string | undefined);
  /** The hint's verb for submitting. */
  readonly verb?: string;
}

/** The cells of a window around the text in a field. */
const aroundField = windowMargin.columns + 7;

/** A form that sends nothing and submits immediately. */
export function PlainFormWindow({
  verb = 'ok',
  title,
  fields,
  start,
  warningOf,
  onSubmit,
  onClose,
}: PlainFormWindowProps) {
  const longest = largestOf(fields, field => {
    const isLine = field.kind === 'text' && !field.multiline && typeof field.initial === 'string';
    return isLine ? displayWidth(field.initial) + aroundField : 0;
  });
  const { width, inner, ...room } = useWindowRoom(Math.max(68, longest));
  const { showHelp } = useShell();
  const { styles } = useTheme();
  const form = useForm(fields, start);
  const [warning, setWarning] = useState<string>();
  const warningLines = warning === undefined ? [] : wrap(warning, inner);
  const below = windowMargin.lines + warningLines.length;
  const height = Math.min(room.height, formHeight(shownFields(form.state, fields)) + below);
  return (
    <Window title={title} width={width} height={height}>
      <Form
        form={form}
        width={inner}
        height={height - below}
        busy={false}
        verb={verb}
        onCancel={onClose}
        onHelp={showHelp}
        onSubmit={values => {
          const words = warningOf?.(values) ?? onSubmit(values);
          if (typeof words === 'string') setWarning(words);
          else onClose();
        }}
      />
      <Lines lines={warningLines.map(styles.warning)} width={inner} height={warningLines.length} />
    </Window>
  );
}

/** Maximum lines for an error; the fields take precedence. */
const maxErrorLines = 6;

/** With fewer lines, there is no summary. */
const minSummaryLines = 4;

interface FormLines {
  readonly summary: readonly string[];
  /** The number of lines that an error takes. */
  readonly failure: number;
  /** Whether a line shows the progress or a warning. */
  readonly hasNote: boolean;
  readonly preview: number;
}

/** Divides the window's lines: the fields come first, then an error, the summary and the preview. */
function formRoom(fields: readonly FieldSpec[], most: number, { summary, failure, hasNote, preview }: FormLines) {
  const room = most - windowMargin.lines - minFormLines - failure - (hasNote ? 1 : 0);
  // An error takes the place of the summary, whose cost stands at the end; a preview may shorten it.
  const summaryLines = room < minSummaryLines ? [] : lastLines(summary, Math.max(minSummaryLines, room - preview));
  const below = windowMargin.lines + summaryLines.length + (hasNote ? 1 : 0);
  const free = most - below - minFormLines;
  const errorHeight = Math.min(failure, free);
  const previewLines = Math.min(preview, free - errorHeight);
  const otherLines = below + errorHeight + previewLines;
  return {
    summaryLines,
    errorHeight,
    previewLines,
    otherLines,
    height: Math.min(most, formHeight(fields) + otherLines),
  };
}

/** Adds the advice to an error if the request may have succeeded. */
const withAdvice = (error: Error, advice: string | undefined): Error =>
  advice !== undefined && isUnanswered(error) ? error.withAdvice(advice) : error;

/** Sends the form; a request that may have succeeded is sent again only if the user insists. */
function useSubmit<Input, Result>(
  { inputOf, onClose, onDone, sentBefore }: FormWindowProps<Input, Result>,
  { state, start, startedBefore }: ReturnType<typeof useAction<Input, Result>>,
  { dispatch }: FormModel,
) {
  const keyOf = useKeyOf();
  const [warning, setWarning] = useState<string>();
  const submit = async (submitted: FormValues): Promise<void> => {
    const input = inputOf(submitted);
    const before = (sentBefore ?? startedBefore)(input);
    const hasFailed = state.kind === 'failed';
    const why =
      before !== undefined && !hasFailed ? `Sent ${clockOrDay(before)} without a response` : 'It may have succeeded';
    const isDoubtful = before !== undefined || (hasFailed && isUnanswered(state.error));
    const isAsked = warning === undefined && isDoubtful;
    setWarning(isAsked ? `${why}: press ${keyOf(formCommands.submit)} again to resend it` : undefined);
    if (isAsked) return;
    const result = await start(input);
    if (result === undefined) {
      dispatch({ kind: 'confirm-again' });
      return;
    }
    onClose();
    onDone(result);
  };
  return { warning, submit };
}

/**
 * A form that starts work. Keeps its values after a failure. Esc stops a request in flight, or else closes the preview,
 * and keeps the window open.
 */
export function FormWindow<Input, Result>(props: FormWindowProps<Input, Result>) {
  const {
    title,
    fields,
    action,
    inputOf,
    describe = action,
    summary,
    start: first = 0,
    draft,
    onChange,
    onClose,
  } = props;
  const hasList = fields.some(field => field.kind === 'choice' && field.isList);
  const { width, inner, ...window } = useWindowRoom(hasList ? 100 : 76);
  const { showHelp } = useShell();
  const theme = useTheme();
  const { styles } = theme;
  const { origins } = useConnection();
  const keyOf = useKeyOf();
  const sending = useAction(action, props.check);
  const { state, stop } = sending;
  const busy = state.kind === 'running';
  const error = state.kind === 'failed' ? withAdvice(state.error, props.lostAdvice) : undefined;
  const heldBack = useDelayText();
  const { drafts } = useWorkbench();
  const form = useForm(fields, first, draft === undefined ? undefined : (drafts.get(draft) as FormState | undefined));
  useEffect(() => {
    if (draft !== undefined && form.state.touched.size > 0) drafts.set(draft, form.state);
  }, [drafts, draft, form.state]);
  const sent = (): void => {
    if (draft !== undefined) drafts.delete(draft);
    onClose();
  };
  const focused = shownFields(form.state, fields)[form.state.focus]?.name;
  const changed = JSON.stringify([form.values, focused]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `changed` stands for the values and the focus
  useEffect(() => onChange?.(form.values, focused), [changed]);
  const { warning, submit } = useSubmit({ ...props, onClose: sent }, sending, form);
  const [preview, setPreview] = useState(false);
  const requests = useRequests(preview ? service => describe(service, inputOf(form.values)) : undefined);
  const sentLines = requestLines(requests, inner);
  const words = summary?.(form.values);
  const room = formRoom(fields, window.height, {
    summary: words === undefined ? [] : wrap(words, inner),
    failure: error ? noteLines(error, { width: inner, height: maxErrorLines }, theme, origins).length : 0,
    hasNote: busy || warning !== undefined,
    preview: sentLines.length,
  });
  return (
    <Window title={title} width={width} height={room.height}>
      <Form
        form={form}
        width={inner}
        height={room.height - room.otherLines}
        busy={busy}
        onSubmit={submitted => void submit(submitted)}
        onCancel={busy ? stop : preview ? () => setPreview(false) : onClose}
        onHelp={showHelp}
        bindings={[{ command: formCommands.preview, run: () => setPreview(shown => !shown) }]}
      />
      <Lines lines={room.summaryLines.map(styles.muted)} width={inner} height={room.summaryLines.length} />
      {error ? <ErrorNote inForm error={error} width={inner} height={room.errorHeight} /> : null}
      {warning !== undefined && !busy ? <Text wrap="truncate">{styles.warning(warning)}</Text> : null}
      {busy ? (
        <Text>
          {state.stopping
            ? 'Stopping…'
            : `${heldBack ?? 'Sending…'}   ${styles.key(`<${keyOf(formCommands.cancel)}>`)} stop`}
        </Text>
      ) : null}
      <Lines lines={sentLines.map(line => styles.code(line))} width={inner} height={room.previewLines} />
    </Window>
  );
}
