/** Form windows: fill in, preview the request, send it, see errors; or submit without sending. */
import { Text } from 'ink';
import { useEffect, useState } from 'react';
import type { Action } from '../../queries/action.ts';
import { isUnanswered } from '../../service/errors.ts';
import { clockOrDay } from '../../text/time.ts';
import { wrap } from '../../text/wrap.ts';
import type { Service } from '../../workbench/workbench.ts';
import { ErrorNote } from '../app/error-note.tsx';
import { useShell, useWindowRoom } from '../app/shell-context.tsx';
import { useHeldBackWords } from '../app/waiting.tsx';
import { useAction, useRequests } from '../data/use-action.ts';
import { formCommands } from '../keys/general.ts';
import { useKeyOf } from '../keys/router.tsx';
import { Form, formHeight, leastFormLines, useForm } from '../widgets/form/form.tsx';
import { type FieldSpec, type FormValues, shownFields } from '../widgets/form/form-state.ts';
import { Lines } from '../widgets/lines.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { requestLines } from './requests.ts';

export interface FormWindowProps<Input, Result> {
  readonly title: string;
  readonly fields: readonly FieldSpec[];
  readonly action: Action<Input, Result>;
  readonly inputOf: (values: Readonly<Record<string, string>>) => Input;
  /** Describes below the fields what will be started. */
  readonly summary?: ((values: Readonly<Record<string, string>>) => string | undefined) | undefined;
  /** Makes the calls for the preview, if these differ from the action's. */
  readonly describe?: (service: Service, input: Input) => unknown;
  /** Called with the values and the name of the focused field, after they have changed. */
  readonly onChange?: (values: FormValues, focused: string | undefined) => void;
  /** Index of the field with the initial focus. */
  readonly start?: number;
  /** Called after the window has closed on its own, not if the user closed it. */
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

export interface PlainFormWindowProps extends Pick<FormWindowProps<never, never>, 'title' | 'fields' | 'onClose'> {
  readonly onSubmit: (values: Readonly<Record<string, string>>) => void;
}

/** A form that sends nothing and submits immediately. */
export function PlainFormWindow({ title, fields, onSubmit, onClose }: PlainFormWindowProps) {
  const { width, inner, ...room } = useWindowRoom(68);
  const { showHelp } = useShell();
  const height = Math.min(room.height, formHeight(fields) + windowMargin.lines);
  return (
    <Window title={title} width={width} height={height}>
      <Form
        form={useForm(fields)}
        width={inner}
        height={height - windowMargin.lines}
        busy={false}
        onCancel={onClose}
        onHelp={showHelp}
        onSubmit={values => {
          onSubmit(values);
          onClose();
        }}
      />
    </Window>
  );
}

/** Maximum lines of an error; the fields take precedence. */
const mostErrorLines = 6;

/**
 * A form that starts work. Keeps its values after a failure. Esc stops a request in flight and keeps the window open.
 */
export function FormWindow<Input, Result>(props: FormWindowProps<Input, Result>) {
  const { title, fields, action, inputOf, describe = action, summary, start: first = 0, onDone, onClose } = props;
  const { onChange } = props;
  const hasList = fields.some(field => field.kind === 'choice' && field.isList);
  const { width, inner, ...room } = useWindowRoom(hasList ? 100 : 76);
  const { showHelp } = useShell();
  const { styles } = useTheme();
  const keyOf = useKeyOf();
  const { state, start, stop, startedBefore } = useAction(action);
  const busy = state.kind === 'running';
  const heldBack = useHeldBackWords();
  const form = useForm(fields, first);
  const focused = shownFields(form.state, fields)[form.state.focus]?.name;
  const changed = JSON.stringify([form.values, focused]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `changed` stands for the values and the focus
  useEffect(() => onChange?.(form.values, focused), [changed]);
  const mayHaveHappened = state.kind === 'failed' && isUnanswered(state.error);
  const [warning, setWarning] = useState<string>();
  const [preview, setPreview] = useState(false);
  const requests = useRequests(preview ? service => describe(service, inputOf(form.values)) : undefined);
  const sentLines = requestLines(requests, inner);
  const words = summary?.(form.values);
  const summed = words === undefined ? [] : wrap(words, inner);
  // An error takes the place of the summary.
  const others = Math.max(4, summed.length + (state.kind === 'failed' ? mostErrorLines : 0));
  const summaryLines = room.height < windowMargin.lines + leastFormLines + others ? [] : summed;
  const below = windowMargin.lines + summaryLines.length + (busy || warning !== undefined ? 1 : 0);
  const free = room.height - below - leastFormLines;
  const errorHeight = state.kind === 'failed' ? Math.min(mostErrorLines, free) : 0;
  const previewLines = Math.min(sentLines.length, free - errorHeight);
  const otherLines = below + errorHeight + previewLines;
  const height = Math.min(room.height, formHeight(fields) + otherLines);
  const submit = async (submitted: Readonly<Record<string, string>>): Promise<void> => {
    const input = inputOf(submitted);
    const before = startedBefore(input);
    const isOlder = before !== undefined && state.kind !== 'failed';
    const why = isOlder ? `Sent ${clockOrDay(before)} without an answer` : 'It may have succeeded';
    const words = `${why}: press ${keyOf(formCommands.submit)} again to resend it`;
    const isAsked = warning === undefined && (mayHaveHappened || before !== undefined);
    setWarning(isAsked ? words : undefined);
    if (isAsked) return;
    const result = await start(input);
    if (result === undefined) return;
    onClose();
    onDone(result);
  };
  return (
    <Window title={title} width={width} height={height}>
      <Form
        form={form}
        width={inner}
        height={height - otherLines}
        busy={busy}
        onSubmit={submitted => void submit(submitted)}
        onCancel={busy ? stop : onClose}
        onHelp={showHelp}
        bindings={[{ command: formCommands.preview, run: () => setPreview(shown => !shown) }]}
      />
      <Lines lines={summaryLines.map(styles.muted)} width={inner} height={summaryLines.length} />
      {state.kind === 'failed' ? <ErrorNote inForm error={state.error} width={inner} height={errorHeight} /> : null}
      {warning !== undefined && !busy ? <Text wrap="truncate">{styles.warning(warning)}</Text> : null}
      {busy ? (
        <Text>
          {state.stopping
            ? 'Stopping…'
            : `${heldBack ?? 'Sending…'}   ${styles.key(`<${keyOf(formCommands.cancel)}>`)} stop`}
        </Text>
      ) : null}
      <Lines lines={sentLines.map(line => styles.code(line))} width={inner} height={previewLines} />
    </Window>
  );
}
