/** The windows in which things are done: choose an action, confirm it, fill in its form, see what came of it. */
import { Text } from 'ink';
import { useState } from 'react';
import type { Fault } from '../../../queries/fault.ts';
import { useAction } from '../../../queries/use-action.ts';
import type { Service } from '../../../queries/workbench.tsx';
import { safeJson, sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { useShell } from '../../app/shell-context.tsx';
import { confirmCommands, formCommands, overlayCommands } from '../../keys/general.ts';
import { keyLabel } from '../../keys/key.ts';
import { type Binding, KeyScope, useRouter } from '../../keys/router.tsx';
import { Form, fieldLinesOf } from '../../widgets/form/form.tsx';
import { type FieldSpec, formValues, initialFormState } from '../../widgets/form/form-state.ts';
import { Menu } from '../../widgets/menu.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';
import { FaultNote } from './fault-note.tsx';
import { Lines } from './lines.tsx';
import { listOf } from './names.ts';
import { Waiting } from './waiting.tsx';

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
  const items = bindings.map(({ command }) => ({
    key: command.id,
    label: `${command.title}  (${router.keysOf(command).map(keyLabel).join(', ')})`,
  }));
  const instead =
    (binding: Binding | undefined): Binding['run'] =>
    press => {
      onClose();
      return binding?.run(press);
    };
  return (
    <KeyScope modal bindings={[{ command: overlayCommands.close, run: onClose }]}>
      <Window title={title} width={width} height={Math.max(1, items.length) + windowMargin.lines}>
        {items.length === 0 ? <Text>Nothing can be done with this now.</Text> : null}
        <Menu
          items={items}
          onChoose={index => instead(bindings[index])({ name: 'enter', text: '' })}
          bindings={bindings.map(binding => ({ ...binding, run: instead(binding) }))}
        />
      </Window>
    </KeyScope>
  );
}

export interface ConfirmProps<Result> {
  readonly title: string;
  /** What will happen, and to what. */
  readonly question: string;
  /** What it is done to: listed, where the question has no room for all of them. */
  readonly things?: readonly string[];
  /** The word on the button, e.g. `delete`. */
  readonly verb: string;
  /** What is sent, a method and a path a line, for the preview. */
  readonly requests: readonly string[];
  readonly work: (service: Service) => Promise<Result>;
  readonly touches: readonly (readonly unknown[])[];
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

/** Requests that a confirmation shows by their own lines. */
const shownRequests = 6;

/** Asks before something that many see, or that cannot be undone. The key that does it is not the one under the finger. */
export function Confirm<Result>(props: ConfirmProps<Result>) {
  const { title, question, things = [], verb, requests, work, touches, onDone, onClose } = props;
  const { layout } = useShell();
  const width = useWindowWidth(64);
  const [preview, setPreview] = useState(false);
  const { styles, glyphs } = useTheme();
  const { state, start } = useAction<Result>();
  const inner = width - windowMargin.columns;
  const asked = wrap(sanitiseLine(question), inner);
  const faultHeight = state.kind === 'failed' ? 5 : 0;
  const busy = state.kind === 'running';
  const more = requests.length - shownRequests;
  const previewed = preview
    ? [...requests.slice(0, shownRequests), ...(more > 0 ? [`… and ${more} more`] : [])].flatMap(each =>
        wrap(sanitiseLine(each), inner),
      )
    : [];
  // What is asked comes first, then what is sent, if that is wanted, then what it is done to by name.
  const room = layout.rows - 4 - windowMargin.lines - faultHeight - asked.length;
  const sent = previewed.slice(0, Math.max(0, room));
  const listed = room - sent.length < 2 ? [] : listOf(things, room - sent.length);
  const lines = [...asked, ...listed.map(thing => truncate(`${glyphs.bullet} ${sanitiseLine(thing)}`, inner))];
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
        { command: formCommands.preview, run: () => setPreview(shown => !shown) },
      ]}
    >
      <Window
        title={title}
        width={width}
        height={lines.length + 2 + sent.length + faultHeight + windowMargin.lines}
        danger
      >
        {lines.map((line, index) => (
          <Text key={index} wrap="truncate">
            {line}
          </Text>
        ))}
        <Text> </Text>
        <Text>
          {busy ? `${verb}…` : `${styles.key('<esc>')} keep it   ${styles.key('<y>')} ${styles.danger(verb)}`}
        </Text>
        <Lines lines={sent.map(line => styles.code(line))} width={inner} height={sent.length} />
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
  /** Index of the field that has the keys first. */
  readonly start?: number;
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

/** A form that starts something. What was typed stays when it fails. */
export function FormWindow<Result>(props: FormWindowProps<Result>) {
  const { title, fields, request, work, touches, start: first = 0, onDone, onClose } = props;
  const { layout } = useShell();
  const width = useWindowWidth(76);
  const inner = width - windowMargin.columns;
  const { styles } = useTheme();
  const { state, start } = useAction<Result>();
  const [values, setValues] = useState(() => formValues(initialFormState(fields), fields));
  const [preview, setPreview] = useState(false);
  const sent = preview ? request(values) : undefined;
  const sentLines = sent ? [`${sent.method} ${sent.path}`, ...wrap(safeJson(sent.body, 2), inner)] : [];
  const fieldLines = fields.reduce((sum, field) => sum + fieldLinesOf(field, false), 2);
  const otherLines = (state.kind === 'failed' ? 6 : 0) + (state.kind === 'running' ? 1 : 0) + windowMargin.lines;
  const previewLines = Math.min(sentLines.length, Math.max(0, layout.rows - otherLines - 8));
  const height = Math.min(layout.rows - 2, fieldLines + otherLines + previewLines);
  const submit = async (submitted: Readonly<Record<string, string>>): Promise<void> => {
    const result = await start(service => work(service, submitted), touches);
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
          busy={state.kind === 'running'}
          onSubmit={submitted => void submit(submitted)}
          onCancel={onClose}
          onChange={setValues}
          bindings={[{ command: formCommands.preview, run: () => setPreview(shown => !shown) }]}
        />
        {state.kind === 'failed' ? <FaultNote fault={state.fault} width={inner} height={6} /> : null}
        {state.kind === 'running' ? <Text>Sending…</Text> : null}
        <Lines lines={sentLines.map(line => styles.code(line))} width={inner} height={previewLines} />
      </Window>
    </KeyScope>
  );
}

export interface NoticeWindowProps {
  readonly title: string;
  /** What is waited for. */
  readonly words?: string;
  /** Why there is nothing to do; something is on its way, where it is missing. */
  readonly fault?: Fault | undefined;
  readonly onClose: () => void;
}

/** Stands where a form will be once what it needs is known, or cannot be known. */
export function NoticeWindow({ title, words = 'Asking the service', fault, onClose }: NoticeWindowProps) {
  const width = useWindowWidth(64);
  return (
    <KeyScope
      modal
      bindings={[
        { command: overlayCommands.close, run: onClose },
        { command: overlayCommands.quit, run: onClose },
      ]}
    >
      <Window title={title} width={width} height={(fault ? 6 : 1) + windowMargin.lines}>
        {fault ? (
          <FaultNote fault={fault} width={width - windowMargin.columns} height={6} />
        ) : (
          <Waiting words={words} />
        )}
      </Window>
    </KeyScope>
  );
}

export interface ChoiceWindowProps<Value> {
  readonly title: string;
  readonly choices: readonly { readonly key: string; readonly label: string; readonly value: Value }[];
  readonly waiting?: boolean;
  readonly emptyWords: string;
  readonly onChoose: (value: Value) => void;
  readonly onClose: () => void;
}

/** One of several, to choose from. */
export function ChoiceWindow<Value>(props: ChoiceWindowProps<Value>) {
  const { title, choices, waiting = false, emptyWords, onChoose, onClose } = props;
  const { layout } = useShell();
  const width = useWindowWidth(64);
  const lines = Math.min(Math.max(1, choices.length), layout.rows - 6);
  return (
    <KeyScope modal bindings={[{ command: overlayCommands.close, run: onClose }]}>
      <Window title={title} width={width} height={lines + windowMargin.lines}>
        {waiting ? <Waiting words="Asking the service" /> : null}
        {!waiting && choices.length === 0 ? <Text>{emptyWords}</Text> : null}
        <Menu
          limit={lines}
          items={choices.map(({ key, label }) => ({
            key,
            label: truncate(sanitiseLine(label), width - windowMargin.columns - 3),
          }))}
          onChoose={index => {
            onClose();
            const chosen = choices[index];
            if (chosen) onChoose(chosen.value);
          }}
        />
      </Window>
    </KeyScope>
  );
}
