/** The window of a form: fill it in, look at the request, send it, see why it failed. */
import { Text } from 'ink';
import { useState } from 'react';
import { useAction } from '../../../queries/use-action.ts';
import type { Service } from '../../../queries/workbench.tsx';
import { safeJson } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import { useShell } from '../../app/shell-context.tsx';
import { formCommands } from '../../keys/general.ts';
import { KeyScope } from '../../keys/router.tsx';
import { Form, fieldLinesOf } from '../../widgets/form/form.tsx';
import { type FieldSpec, formValues, initialFormState } from '../../widgets/form/form-state.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';
import { FaultNote } from './fault-note.tsx';
import { Lines } from './lines.tsx';

export interface FormWindowProps<Result> {
  readonly title: string;
  readonly fields: readonly FieldSpec[];
  /** The request as it would be sent, for the preview. */
  readonly request: (values: Readonly<Record<string, string>>) => {
    readonly method: string;
    readonly path: string;
    readonly body: unknown;
  };
  /** Sends it; every request gets the signal, with which esc stops it. */
  readonly work: (service: Service, values: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Result>;
  readonly touches: readonly (readonly unknown[])[];
  /** Index of the field that has the keys first. */
  readonly start?: number;
  /** Called after the window has closed by itself; not where the user has left it before. */
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

/** A form that starts something. What was typed stays when it fails. Esc while it is being sent stops it, and stays. */
export function FormWindow<Result>(props: FormWindowProps<Result>) {
  const { title, fields, request, work, touches, start: first = 0, onDone, onClose } = props;
  const { layout } = useShell();
  const width = Math.min(layout.columns - 4, 76);
  const inner = width - windowMargin.columns;
  const { styles } = useTheme();
  const { state, start, stop } = useAction<Result>();
  const busy = state.kind === 'running';
  const [values, setValues] = useState(() => formValues(initialFormState(fields), fields));
  const [preview, setPreview] = useState(false);
  const sent = preview ? request(values) : undefined;
  const sentLines = sent ? [`${sent.method} ${sent.path}`, ...wrap(safeJson(sent.body, 2), inner)] : [];
  const fieldLines = fields.reduce((sum, field) => sum + fieldLinesOf(field, false), 2);
  const otherLines = (state.kind === 'failed' ? 6 : 0) + (busy ? 1 : 0) + windowMargin.lines;
  const previewLines = Math.min(sentLines.length, Math.max(0, layout.rows - otherLines - 8));
  const height = Math.min(layout.rows - 2, fieldLines + otherLines + previewLines);
  const submit = async (submitted: Readonly<Record<string, string>>): Promise<void> => {
    const result = await start((service, signal) => work(service, submitted, signal), touches);
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
          height={Math.max(4, height - otherLines - previewLines)}
          start={first}
          busy={busy}
          onSubmit={submitted => void submit(submitted)}
          onCancel={busy ? stop : onClose}
          onChange={setValues}
          bindings={[{ command: formCommands.preview, run: () => setPreview(shown => !shown) }]}
        />
        {state.kind === 'failed' ? <FaultNote fault={state.fault} width={inner} height={6} /> : null}
        {busy ? <Text>{state.stopping ? 'Stopping…' : `Sending…   ${styles.key('<esc>')} stop`}</Text> : null}
        <Lines lines={sentLines.map(line => styles.code(line))} width={inner} height={previewLines} />
      </Window>
    </KeyScope>
  );
}
