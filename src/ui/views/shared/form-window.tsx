/** Windows of forms: fill it in, look at the request, send it, see why it failed; or have what was entered taken at once. */
import { Text } from 'ink';
import { useState } from 'react';
import type { Action } from '../../../queries/action.ts';
import { useAction, useRequests } from '../../../queries/use-action.ts';
import type { Service } from '../../../queries/workbench.tsx';
import { windowRoom } from '../../app/layout.ts';
import { useShell } from '../../app/shell-context.tsx';
import { formCommands } from '../../keys/general.ts';
import { KeyScope } from '../../keys/router.tsx';
import { Form, formHeight, leastFormLines } from '../../widgets/form/form.tsx';
import { type FieldSpec, formValues, initialFormState } from '../../widgets/form/form-state.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';
import { ErrorNote } from './error-note.tsx';
import { Lines, requestLines } from './lines.tsx';

export interface FormWindowProps<Input, Result> {
  readonly title: string;
  readonly fields: readonly FieldSpec[];
  readonly action: Action<Input, Result>;
  /** What the action is given, of what the fields hold. */
  readonly inputOf: (values: Readonly<Record<string, string>>) => Input;
  /** Calls what the preview shows, if that is not what the action calls. */
  readonly describe?: (service: Service, input: Input) => unknown;
  /** Index of the field that has the keys first. */
  readonly start?: number;
  /** Called after the window has closed by itself; not if the user has left it before. */
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

export interface PlainFormWindowProps extends Pick<FormWindowProps<never, never>, 'title' | 'fields' | 'onClose'> {
  readonly onSubmit: (values: Readonly<Record<string, string>>) => void;
}

/** A form that sends nothing: what was entered is taken at once. */
export function PlainFormWindow({ title, fields, onSubmit, onClose }: PlainFormWindowProps) {
  const { layout } = useShell();
  const room = windowRoom(layout);
  const width = Math.min(room.width, 68);
  const height = Math.min(room.height, formHeight(fields) + windowMargin.lines);
  return (
    <KeyScope modal>
      <Window title={title} width={width} height={height}>
        <Form
          fields={fields}
          width={width - windowMargin.columns}
          height={height - windowMargin.lines}
          busy={false}
          onCancel={onClose}
          onSubmit={values => {
            onSubmit(values);
            onClose();
          }}
        />
      </Window>
    </KeyScope>
  );
}

/** Lines of an error at most; the fields come first. */
const mostErrorLines = 6;

/** A form that starts something. What was typed stays when it fails. Esc while it is being sent stops it, and stays. */
export function FormWindow<Input, Result>(props: FormWindowProps<Input, Result>) {
  const { title, fields, action, inputOf, describe = action, start: first = 0, onDone, onClose } = props;
  const { layout } = useShell();
  const room = windowRoom(layout);
  const width = Math.min(room.width, 76);
  const inner = width - windowMargin.columns;
  const { styles } = useTheme();
  const { state, start, stop } = useAction(action);
  const busy = state.kind === 'running';
  const [values, setValues] = useState(() => formValues(initialFormState(fields), fields));
  const [preview, setPreview] = useState(false);
  const requests = useRequests(preview ? service => describe(service, inputOf(values)) : undefined);
  const sentLines = requestLines(requests, inner);
  const below = windowMargin.lines + (busy ? 1 : 0);
  const free = room.height - below - leastFormLines;
  const errorHeight = state.kind === 'failed' ? Math.min(mostErrorLines, free) : 0;
  const previewLines = Math.min(sentLines.length, free - errorHeight);
  const otherLines = below + errorHeight + previewLines;
  const height = Math.min(room.height, formHeight(fields) + otherLines);
  const submit = async (submitted: Readonly<Record<string, string>>): Promise<void> => {
    const result = await start(inputOf(submitted));
    if (result === undefined) return;
    onClose();
    onDone(result);
  };
  return (
    <KeyScope modal>
      <Window title={title} width={width} height={height}>
        <Form
          fields={fields}
          width={inner}
          height={height - otherLines}
          start={first}
          busy={busy}
          onSubmit={submitted => void submit(submitted)}
          onCancel={busy ? stop : onClose}
          onChange={setValues}
          bindings={[{ command: formCommands.preview, run: () => setPreview(shown => !shown) }]}
        />
        {state.kind === 'failed' ? <ErrorNote error={state.error} width={inner} height={errorHeight} /> : null}
        {busy ? <Text>{state.stopping ? 'Stopping…' : `Sending…   ${styles.key('<esc>')} stop`}</Text> : null}
        <Lines lines={sentLines.map(line => styles.code(line))} width={inner} height={previewLines} />
      </Window>
    </KeyScope>
  );
}
