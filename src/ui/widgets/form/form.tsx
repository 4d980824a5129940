/** A form on screen: its fields, their errors, and its keys. Keeps typed values until it is submitted. */
import { Box, Text } from 'ink';
import { type Dispatch, useReducer } from 'react';
import { largestOf } from '../../../base/many.ts';
import { own } from '../../../base/own-property.ts';
import { cutApart } from '../../../text/apart.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, padEnd, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { formCommands } from '../../keys/general.ts';
import type { KeyPress } from '../../keys/key.ts';
import { type Binding, KeyScope } from '../../keys/router.tsx';
import { describeReplaced, fieldHandlers } from '../text-field/editing.ts';
import { areaView, lineView, withCaret } from '../text-field/field-view.ts';
import { type Theme, useTheme } from '../theme/theme.tsx';
import {
  type ChoiceFieldSpec,
  type ChoiceOption,
  choiceOf,
  editOf,
  type FieldSpec,
  type FormAction,
  type FormState,
  type FormValues,
  formErrors,
  formReducer,
  formValues,
  initialFormState,
  isMark,
  isSought,
  marksOf,
  optionsToChoose,
  shownFields,
} from './form-state.ts';

/** A form's state, for the components around it. */
export interface FormModel {
  /** All fields, including hidden ones. */
  readonly fields: readonly FieldSpec[];
  readonly state: FormState;
  readonly values: FormValues;
  readonly dispatch: Dispatch<FormAction>;
}

/**
 * @param focus index of the field that is focused at first
 * @param kept an earlier state, whose changed values are kept
 */
export function useForm(fields: readonly FieldSpec[], focus = 0, kept?: FormState): FormModel {
  const [state, dispatch] = useReducer(
    (old: FormState, action: FormAction) => formReducer(old, action, fields),
    fields,
    all => ({ ...initialFormState(all, kept), focus }),
  );
  return { fields, state, values: formValues(state, fields), dispatch };
}

export interface FormProps {
  readonly form: FormModel;
  readonly width: number;
  /** Disables the keys while a request is in progress. */
  readonly busy: boolean;
  readonly onSubmit: (values: FormValues) => void;
  /** The hint's verb for submitting; `send` by default. */
  readonly verb?: string | undefined;
  readonly onCancel: () => void;
  readonly onHelp: () => void;
  readonly bindings?: readonly Binding[];
  /** Lines available to the form; the focused field is always visible. */
  readonly height: number;
}

const areaHeight = 4;

const isList = (field: FieldSpec | undefined): boolean => field?.kind === 'choice' && field.isList === true;

/** Maximum options shown in a focused list. */
const maxListed = 5;

export function Form({ form, width, busy, onSubmit, verb, onCancel, onHelp, bindings = [], height }: FormProps) {
  const { state, values, dispatch } = form;
  const fields = shownFields(state, form.fields);
  const errors = formErrors(state, form.fields);
  const field = fields[state.focus];
  const isChoice = field?.kind === 'choice';
  const isArea = field?.kind === 'text' && field.multiline;
  const blocks = useBlocks(form, { fields, errors, focused: busy ? -1 : state.focus }, width, height);
  const submit = (): void => {
    if (errors.size > 0) dispatch({ kind: 'focus-error' });
    else onSubmit(values);
  };
  const move = (by: number) => () => dispatch({ kind: 'focus', by });
  const choose = (by: number) => () => dispatch({ kind: 'choose', by });
  // Letters find an option; the form's own keys keep their meaning.
  const seeks = ({ name, text }: KeyPress): boolean =>
    name === 'backspace' || (isChoice && text !== '?' && (isSought(state, field, text) || isMark(field, text)));
  const handlers = fieldHandlers({ multiline: isArea ?? false }, press => {
    if (!busy) dispatch({ kind: 'press', press });
  });
  return (
    <KeyScope
      bindings={[
        ...bindings,
        { command: formCommands.next, run: move(1), enabled: !busy },
        { command: formCommands.previous, run: move(-1), enabled: !busy },
        { command: formCommands.down, run: isList(field) ? choose(1) : move(1), enabled: !busy && !isArea },
        { command: formCommands.up, run: isList(field) ? choose(-1) : move(-1), enabled: !busy && !isArea },
        { command: formCommands.optionNext, run: choose(1), enabled: !busy && isChoice },
        { command: formCommands.optionPrevious, run: choose(-1), enabled: !busy && isChoice },
        { command: { ...formCommands.submit, ...(verb && { hint: verb }) }, run: submit, enabled: !busy },
        { command: formCommands.help, run: onHelp },
        { command: formCommands.cancel, run: onCancel },
      ]}
      {...handlers}
      field={busy ? undefined : isChoice ? { ...handlers.field, takes: seeks } : handlers.field}
    >
      <Box flexDirection="column" width={width} height={height} flexShrink={0} overflow="hidden">
        {blocks.map(({ name, lines }, index) => (
          <Text key={name} wrap="truncate">
            {[...(index > 0 ? [' '] : []), ...lines].join('\n')}
          </Text>
        ))}
      </Box>
    </KeyScope>
  );
}

interface ShownFields {
  readonly fields: readonly FieldSpec[];
  readonly errors: ReadonlyMap<string, string>;
  /** Index of the focused field; -1 for none. */
  readonly focused: number;
}

/** The fields that fit; if some do not, with the position of the focused one. */
function useBlocks(
  { state, values }: FormModel,
  { fields, errors, focused: at }: ShownFields,
  width: number,
  height: number,
): readonly FieldBlock[] {
  const theme = useTheme();
  const blocksWith = (positions: boolean): readonly FieldBlock[] =>
    fields.map((spec, index) => {
      const focused = index === at;
      const error = state.touched.has(spec.name) ? errors.get(spec.name) : undefined;
      const position = positions && focused ? `${index + 1}/${fields.length}` : '';
      const isReplaced = spec.kind === 'text' && editOf(state, spec, values).isReplaced;
      const given = isReplaced ? describeReplaced : typeof spec.help === 'function' ? spec.help(values) : spec.help;
      const help = [describeFinding(spec), given].filter(Boolean).join('; ');
      return fieldBlock(spec, { focused, error, position, help, values, height }, state, width, theme);
    });
  const inSight = blocksInSight(blocksWith(false), state.focus, height);
  return inSight.length === fields.length ? inSight : blocksInSight(blocksWith(true), state.focus, height);
}

/** Lines needed to show all fields: a label, a value and a blank line for each, plus a note of two lines. */
export function formHeight(fields: readonly FieldSpec[]): number {
  return fields.reduce((sum, field) => sum + heldLines(field) + 2, 2);
}

/** Minimum lines: the focused field must fit. */
export const minFormLines = 3;

function heldLines(field: FieldSpec): number {
  if (field.kind === 'choice') return field.isList ? Math.min(maxListed, Math.max(1, field.options.length)) : 1;
  return field.multiline ? areaHeight : 1;
}

interface FieldBlock {
  readonly name: string;
  readonly lines: readonly string[];
}

/** The blocks that fit into this many lines, including the focused one, with blank lines between them. */
function blocksInSight(blocks: readonly FieldBlock[], focus: number, height: number): readonly FieldBlock[] {
  const linesOf = (from: number, to: number): number =>
    blocks.slice(from, to + 1).reduce((sum, { lines }) => sum + lines.length + 1, -1);
  let first = 0;
  while (first < focus && linesOf(first, focus) > height) first += 1;
  let last = Math.max(first, focus);
  while (last + 1 < blocks.length && linesOf(first, last + 1) <= height) last += 1;
  return blocks.slice(first, last + 1);
}

/** With more options, the arrow keys alone take long. */
const fewOptions = 20;

const describeFinding = (spec: FieldSpec): string =>
  spec.kind === 'choice' && !spec.isList && spec.options.length > fewOptions ? 'type to find one' : '';

/** A field as lines: its label, its value, and its error or hint. */
function fieldBlock(spec: FieldSpec, place: FieldPlace, state: FormState, width: number, theme: Theme): FieldBlock {
  const { styles, glyphs } = theme;
  const { focused, error, position, help } = place;
  const marker = focused ? styles.selected(glyphs.marker) : ' ';
  const room = width - 3 - displayWidth(position);
  const name = truncate(sanitiseLine(spec.label), room);
  const sought = focused && isList(spec) && state.sought ? `“${state.sought}”` : spec.facts;
  const facts = sought ? truncate(`  ${sanitiseLine(sought)}`, Math.max(0, room - displayWidth(name))) : '';
  const shown = focused ? styles.selected(name) : name;
  const after = styles.muted(padEnd(facts, room - displayWidth(name)));
  const wrong = error === undefined ? [] : wrap(sanitiseLine(error), width - 6);
  const hints = focused && help ? wrap(sanitiseLine(help), width - 4) : [];
  const notes = [
    ...wrong.map((line, index) => styles.danger(`${index === 0 ? `${glyphs.cross} ` : '  '}${line}`)),
    ...hints.map(styles.muted),
  ];
  const most = place.height - 1 - notes.length;
  return {
    name: spec.name,
    lines: [
      `${marker} ${shown}${after} ${styles.muted(position)}`,
      ...fieldLines(spec, { ...place, height: most }, state, width - 4, theme).map(line => `  ${line}`),
      ...notes.map(line => `  ${line}`),
    ],
  };
}

interface FieldPlace {
  readonly focused: boolean;
  readonly error: string | undefined;
  readonly help: string | undefined;
  /** The focused field's position if not all fields are visible; otherwise empty. */
  readonly position: string;
  readonly values: FormValues;
  /** Lines available to the field. */
  readonly height: number;
}

/** A list's options, with as many aligned facts as fit. */
function optionRows(options: readonly ChoiceOption[], width: number, theme: Theme): readonly string[] {
  const labels = options.map(({ label }) => sanitiseLine(label));
  const facts = options.map(option => (option.facts ?? []).map(fact => sanitiseLine(fact)));
  const columns = largestOf(facts, ({ length }) => length);
  let room = width;
  const widths: number[] = [];
  for (let column = 0; column < columns; column += 1) {
    const widest = largestOf(facts, each => displayWidth(each[column] ?? ''));
    const left = room - widest - 2;
    if (left < Math.min(minLabelWidth, largestOf(labels, displayWidth))) break;
    widths.push(widest);
    room = left;
  }
  const cuts = cutApart(labels, room, { ellipsis: theme.glyphs.ellipsis });
  const longest = largestOf(cuts.values(), displayWidth);
  return labels.map((label, index) => {
    const shown = widths.map((widest, column) => padEnd(facts[index]?.[column] ?? '', widest));
    return [padEnd(cuts.get(label) ?? label, longest), ...shown].join('  ').trimEnd();
  });
}

/** With fewer cells, a label would be unrecognisable, so facts are left out. */
const minLabelWidth = 20;

/** A choice as a list of the options around the chosen one, which has the arrows and the position. */
function listLines(
  spec: ChoiceFieldSpec,
  place: FieldPlace,
  options: readonly ChoiceOption[],
  width: number,
  theme: Theme,
): string[] {
  const { styles } = theme;
  const { focused, values, height } = place;
  const index = choiceOf({ ...spec, options }, values);
  const typed = own(values, spec.name) ?? '';
  const position = index < 0 ? '' : `${index + 1}/${options.length}`;
  const room = width - displayWidth(position) - 5;
  const rows = optionRows(options, room, theme);
  const chosen = fitCells(
    truncate(index < 0 ? sanitiseLine(typed) || 'nothing chosen yet' : (rows[index] ?? ''), room),
    room,
  );
  if (!focused) return [`  ${chosen}`];
  const line = `${styles.key('←')} ${styles.selected(chosen)} ${styles.key('→')} ${styles.muted(position)}`;
  const count = Math.max(1, Math.min(maxListed, height, options.length + (index < 0 ? 1 : 0)));
  if (index < 0) return [line, ...rows.slice(0, count - 1).map(row => `  ${truncate(row, room)}`)];
  const first = Math.max(0, Math.min(index - Math.floor(count / 2), options.length - count));
  return rows.slice(first, first + count).map((row, at) => (first + at === index ? line : `  ${truncate(row, room)}`));
}

function fieldLines(spec: FieldSpec, place: FieldPlace, state: FormState, width: number, theme: Theme): string[] {
  const { focused, values } = place;
  const { styles, glyphs } = theme;
  if (spec.kind === 'choice') {
    // The typed text belongs to the focused field.
    const options = focused ? optionsToChoose(state, spec) : spec.options;
    if (spec.isList) return listLines(spec, place, options, width, theme);
    const index = choiceOf({ ...spec, options }, values);
    const option = options[index];
    const label = option ? option.label : 'nothing to choose from';
    const sought = focused && state.sought ? `“${state.sought}” ` : '';
    const marked = own(values, marksOf(spec.name))?.split('\n') ?? [];
    const count = marked.length > 0 ? `${marked.length} marked  ` : '';
    const position = options.length > 1 ? `${sanitiseLine(sought)}${count}${index + 1}/${options.length}` : '';
    const room = width - displayWidth(position) - 5;
    const mark = option && marked.includes(option.value) ? `${glyphs.mark} ` : '';
    const shown = truncate(`${mark}${sanitiseLine(option?.note ? `${label}  ${option.note}` : label)}`, room);
    const arrows = focused ? [styles.key('←'), styles.key('→')] : [' ', ' '];
    return [`${arrows[0]} ${fitCells(shown, room)} ${arrows[1]} ${styles.muted(position)}`];
  }
  const typed = editOf(state, spec, values);
  if (typed.characters.length === 0 && spec.placeholder && !focused)
    return [styles.muted(truncate(sanitiseLine(spec.placeholder), width))];
  const view = spec.multiline ? areaView(typed, width - 2, areaHeight) : lineView(typed, width - 2, spec.mask);
  return view.lines.map((line, index) => {
    const text = focused ? withCaret(view, index, styles.caret) : line;
    return `${styles.border(glyphs.vertical)} ${text}`;
  });
}
