/** The windows in which things are done: choose an action, confirm it, fill in its form, see what came of it. */
import { Box, Text } from 'ink';
import SelectInput from 'ink-select-input';
import { useState } from 'react';
import { useAction } from '../../../queries/use-action.ts';
import type { Service } from '../../../queries/workbench.tsx';
import { safeJson, sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import { useShell } from '../../app/shell-context.tsx';
import { confirmCommands, formCommands, overlayCommands } from '../../keys/general.ts';
import { keyLabel } from '../../keys/key.ts';
import { type Binding, KeyScope, useRouter } from '../../keys/router.tsx';
import { Form } from '../../widgets/form/form.tsx';
import { type FieldSpec, formValues, initialFormState } from '../../widgets/form/form-state.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';
import { FaultNote } from './fault-note.tsx';

function useWindowWidth(most: number): number {
  const { layout } = useShell();
  return Math.min(layout.columns - 4, most);
}

export interface ActionMenuProps {
  readonly title: string;
  readonly bindings: readonly Binding[];
  readonly onClose: () => void;
}

/** Everything that can be done with a thing, to choose from. */
export function ActionMenu({ title, bindings, onClose }: ActionMenuProps) {
  const router = useRouter();
  const width = useWindowWidth(56);
  const items = bindings.map((binding, index) => ({
    key: binding.command.id,
    label: `${binding.command.title}  (${router.keysOf(binding.command).map(keyLabel).join(', ')})`,
    value: index,
  }));
  return (
    <KeyScope modal bindings={[{ command: overlayCommands.close, run: onClose }]}>
      <Window title={title} width={width} height={Math.max(1, items.length) + windowMargin.lines}>
        {items.length === 0 ? <Text>Nothing can be done with this now.</Text> : null}
        <SelectInput
          items={items}
          onSelect={item => {
            onClose();
            bindings[item.value]?.run({ name: 'enter', text: '' });
          }}
        />
      </Window>
    </KeyScope>
  );
}

export interface ConfirmProps<Result> {
  readonly title: string;
  /** What will happen, and to what. */
  readonly question: string;
  /** The word on the button, e.g. `delete`. */
  readonly verb: string;
  readonly work: (service: Service) => Promise<Result>;
  readonly touches: readonly (readonly unknown[])[];
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. The key that does it is not the one under the finger. */
export function Confirm<Result>({ title, question, verb, work, touches, onDone, onClose }: ConfirmProps<Result>) {
  const width = useWindowWidth(64);
  const { styles } = useTheme();
  const { state, start } = useAction<Result>();
  const inner = width - windowMargin.columns;
  const lines = wrap(sanitiseLine(question), inner);
  const faultHeight = state.kind === 'failed' ? 5 : 0;
  const busy = state.kind === 'running';
  const act = async (): Promise<void> => {
    const result = await start(work, touches);
    if (result === undefined) return;
    onClose();
    onDone(result);
  };
  return (
    <KeyScope
      modal
      bindings={[
        { command: confirmCommands.yes, run: () => void act(), enabled: !busy },
        { command: confirmCommands.no, run: onClose },
      ]}
    >
      <Window title={title} width={width} height={lines.length + 2 + faultHeight + windowMargin.lines} danger>
        {lines.map((line, index) => (
          <Text key={index}>{line}</Text>
        ))}
        <Text> </Text>
        <Text>
          {busy ? `${verb}…` : `${styles.key('<esc>')} keep it   ${styles.key('<y>')} ${styles.danger(verb)}`}
        </Text>
        {state.kind === 'failed' ? <FaultNote fault={state.fault} width={inner} height={faultHeight} /> : null}
      </Window>
    </KeyScope>
  );
}

export interface FormWindowProps<Result> {
  readonly title: string;
  readonly fields: readonly FieldSpec[];
  /** The request as it would be sent, for the preview. */
  readonly request: (values: Readonly<Record<string, string>>) => {
    readonly method: string;
    readonly path: string;
    readonly body: unknown;
  };
  readonly work: (service: Service, values: Readonly<Record<string, string>>) => Promise<Result>;
  readonly touches: readonly (readonly unknown[])[];
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

/** A form that starts something. What was typed stays when it fails. */
export function FormWindow<Result>(props: FormWindowProps<Result>) {
  const { title, fields, request, work, touches, onDone, onClose } = props;
  const { layout } = useShell();
  const width = useWindowWidth(76);
  const inner = width - windowMargin.columns;
  const { styles } = useTheme();
  const { state, start } = useAction<Result>();
  const [values, setValues] = useState(() => formValues(initialFormState(fields), fields));
  const [preview, setPreview] = useState(false);
  const fieldLines = fields.reduce((sum, field) => sum + (field.kind === 'text' && field.multiline ? 8 : 4), 0);
  const wanted = fieldLines + 2 + (state.kind === 'failed' ? 6 : 0) + (preview ? 8 : 0) + windowMargin.lines;
  const height = Math.min(layout.rows - 2, wanted);
  const submit = async (submitted: Readonly<Record<string, string>>): Promise<void> => {
    const result = await start(service => work(service, submitted), touches);
    if (result === undefined) return;
    onClose();
    onDone(result);
  };
  const sent = preview ? request(values) : undefined;
  return (
    <KeyScope modal>
      <Window title={title} width={width} height={height}>
        <Form
          fields={fields}
          width={inner}
          busy={state.kind === 'running'}
          onSubmit={submitted => void submit(submitted)}
          onCancel={onClose}
          onChange={setValues}
          bindings={[{ command: formCommands.preview, run: () => setPreview(shown => !shown) }]}
        />
        {state.kind === 'failed' ? <FaultNote fault={state.fault} width={inner} height={6} /> : null}
        {state.kind === 'running' ? <Text>Sending…</Text> : null}
        {sent ? (
          <Box flexDirection="column">
            <Text>{styles.muted(`${sent.method} ${sent.path}`)}</Text>
            {wrap(safeJson(sent.body, 2), inner).map((line, index) => (
              <Text key={index}>{styles.code(line)}</Text>
            ))}
          </Box>
        ) : null}
      </Window>
    </KeyScope>
  );
}
