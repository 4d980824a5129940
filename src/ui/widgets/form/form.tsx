/** A form on screen: its fields, what is wrong with them, and its keys. What was typed stays until it is done. */
import { Box, Text } from 'ink';
import { useEffect, useReducer } from 'react';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { formCommands } from '../../keys/general.ts';
import { type Binding, KeyScope } from '../../keys/router.tsx';
import { fieldHandlers } from '../text-field/editing.ts';
import { areaView, lineView, withCaret } from '../text-field/field-view.ts';
import { type Theme, useTheme } from '../theme/theme.tsx';
import {
  choiceOf,
  editOf,
  type FieldSpec,
  type FormAction,
  type FormState,
  formFaults,
  formReducer,
  formValues,
  initialFormState,
} from './form-state.ts';

export interface FormProps {
  readonly fields: readonly FieldSpec[];
  readonly width: number;
  /** While something is under way the keys are still. */
  readonly busy: boolean;
  readonly onSubmit: (values: Readonly<Record<string, string>>) => void;
  readonly onCancel: () => void;
  /** Told of every change, for a preview of what would be sent. */
  readonly onChange?: (values: Readonly<Record<string, string>>) => void;
  readonly bindings?: readonly Binding[];
  /** Lines that the form may take; the field with the keys is always among those shown. */
  readonly height?: number;
  /** Index of the field that has the keys first. */
  readonly start?: number;
}

const areaHeight = 4;

export function Form(props: FormProps) {
  const { fields, width, busy, onSubmit, onCancel, onChange, bindings = [], height = 1_000, start = 0 } = props;
  const [state, dispatch] = useReducer(
    (old: FormState, action: FormAction) => formReducer(old, action, fields),
    fields,
    given => ({ ...initialFormState(given), focus: start }),
  );
  useEffect(() => onChange?.(formValues(state, fields)), [state, fields, onChange]);
  const faults = formFaults(state, fields);
  const field = fields[state.focus];
  const isChoice = field?.kind === 'choice';
  const isArea = field?.kind === 'text' && field.multiline;
  const shown = fieldsInSight(fields, state.focus, height);
  const submit = (): void => {
    if (faults.size > 0) dispatch({ kind: 'focus-fault' });
    else onSubmit(formValues(state, fields));
  };
  const move = (by: number) => () => dispatch({ kind: 'focus', by });
  return (
    <KeyScope
      bindings={[
        ...bindings,
        { command: formCommands.next, run: move(1), enabled: !busy },
        { command: formCommands.previous, run: move(-1), enabled: !busy },
        { command: formCommands.down, run: move(1), enabled: !busy && !isArea },
        { command: formCommands.up, run: move(-1), enabled: !busy && !isArea },
        {
          command: formCommands.optionNext,
          run: () => dispatch({ kind: 'choose', by: 1 }),
          enabled: !busy && isChoice,
        },
        {
          command: formCommands.optionPrevious,
          run: () => dispatch({ kind: 'choose', by: -1 }),
          enabled: !busy && isChoice,
        },
        { command: formCommands.submit, run: submit, enabled: !busy },
        { command: formCommands.cancel, run: onCancel },
      ]}
      field={
        busy || field?.kind !== 'text'
          ? undefined
          : fieldHandlers({ multiline: field.multiline ?? false }, press => dispatch({ kind: 'press', press }))
      }
      onPaste={text => {
        if (!busy) dispatch({ kind: 'paste', text });
        return true;
      }}
    >
      <Box flexDirection="column" width={width}>
        {shown.map(({ spec, index }) => (
          <Field
            key={spec.name}
            spec={spec}
            state={state}
            width={width}
            focused={index === state.focus && !busy}
            fault={state.touched.has(spec.name) ? faults.get(spec.name) : undefined}
          />
        ))}
      </Box>
    </KeyScope>
  );
}

/** Lines of a field at most: its label, what it holds, a note of two lines, and the line below. */
export function fieldLinesOf(spec: FieldSpec, focused: boolean): number {
  const held = spec.kind === 'text' && spec.multiline ? areaHeight : 1;
  return 1 + held + (focused ? 2 : 0) + 1;
}

/** The fields that fit into so many lines, with the focused one among them. */
function fieldsInSight(fields: readonly FieldSpec[], focus: number, height: number) {
  const numbered = fields.map((spec, index) => ({ spec, index }));
  const linesOf = (from: number, to: number): number =>
    numbered.slice(from, to + 1).reduce((sum, { spec, index }) => sum + fieldLinesOf(spec, index === focus), 0);
  let first = 0;
  while (first < focus && linesOf(first, focus) > height) first += 1;
  let last = Math.max(first, focus);
  while (last + 1 < fields.length && linesOf(first, last + 1) <= height) last += 1;
  return numbered.slice(first, last + 1);
}

interface FieldProps {
  readonly spec: FieldSpec;
  readonly state: FormState;
  readonly width: number;
  readonly focused: boolean;
  readonly fault: string | undefined;
}

function Field({ spec, state, width, focused, fault }: FieldProps) {
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const marker = focused ? styles.selected(glyphs.marker) : ' ';
  const label = focused ? styles.selected(spec.label) : spec.label;
  const lines = fieldLines(spec, state, width - 4, focused, theme);
  const note = fault ?? (focused ? spec.help : undefined);
  const notes = note === undefined ? [] : wrap(note, width - 4);
  return (
    <Box flexDirection="column" marginBottom={1}>
      <Text wrap="truncate">{`${marker} ${label}`}</Text>
      {lines.map((line, index) => (
        <Text key={index} wrap="truncate">{`  ${line}`}</Text>
      ))}
      {notes.map((line, index) => (
        <Text key={`note ${index}`} wrap="truncate">
          {`  ${fault === undefined ? styles.muted(line) : styles.danger(`${glyphs.cross} ${line}`)}`}
        </Text>
      ))}
    </Box>
  );
}

function fieldLines(spec: FieldSpec, state: FormState, width: number, focused: boolean, theme: Theme): string[] {
  const { styles, glyphs } = theme;
  if (spec.kind === 'choice') {
    const index = choiceOf(state, spec);
    const option = spec.options[index];
    const label = option ? option.label : 'nothing to choose from';
    const position = spec.options.length > 1 ? `${index + 1}/${spec.options.length}` : '';
    const room = width - displayWidth(position) - 5;
    const shown = truncate(sanitiseLine(option?.note ? `${label}  ${option.note}` : label), room);
    const arrows = focused ? [styles.key('←'), styles.key('→')] : [' ', ' '];
    return [`${arrows[0]} ${fitCells(shown, room)} ${arrows[1]} ${styles.muted(position)}`];
  }
  const typed = editOf(state, spec);
  if (typed.characters.length === 0 && spec.placeholder && !focused)
    return [styles.muted(truncate(spec.placeholder, width))];
  const view = spec.multiline ? areaView(typed, width - 2, areaHeight) : lineView(typed, width - 2, spec.mask);
  return view.lines.map((line, index) => {
    const text = focused ? withCaret(view, index, styles.caret) : line;
    return `${styles.border(glyphs.vertical)} ${text}`;
  });
}
