/** A form's state: its values, focus and errors. Pure. */
import { own } from '../../../base/own-property.ts';
import { clean } from '../../../text/sanitise.ts';
import type { KeyPress } from '../../keys/key.ts';
import { type EditState, edit, editStateOf, enteredText } from '../text-field/editing.ts';

/** The typed and chosen values, by field. */
export type FormValues = Readonly<Record<string, string>>;

interface FieldBase {
  readonly name: string;
  readonly label: string;
  /** Shown beside the label, e.g. the default and the bounds; truncated if there is no room. */
  readonly facts?: string;
  /** A hint about the field, shown while it is focused; may be empty. */
  readonly help?: string | ((values: FormValues) => string);
  /** Returns why a value is invalid, which may depend on other fields; undefined if it is valid. */
  readonly check?: (value: string, values?: FormValues) => string | undefined;
  /** Whether the field is shown and checked, which may depend on other fields; by default, it always is. */
  readonly when?: (values: FormValues) => boolean;
}

interface TextFieldSpec extends FieldBase {
  readonly kind: 'text';
  /** If a function, it follows other fields' values until the user types. */
  readonly initial?: string | ((values: FormValues) => string);
  readonly placeholder?: string;
  /** Whether to show dots in place of the typed text. */
  readonly mask?: boolean;
  readonly multiline?: boolean;
  /** Whether the text confirms the request; it must be typed again after a failure. */
  readonly isConfirmation?: boolean;
}

export interface ChoiceOption {
  readonly value: string;
  readonly label: string;
  readonly note?: string;
  /** Aligned after the label in a list; the last ones are left out if there is no room, but none is truncated. */
  readonly facts?: readonly string[];
  /** Other names that choose the option if typed in full. */
  readonly aliases?: readonly string[];
}

export interface ChoiceFieldSpec extends FieldBase {
  readonly kind: 'choice';
  /** May change while the form is open: the choice is kept by value. */
  readonly options: readonly ChoiceOption[];
  /** If a function, it follows other fields' values until the user chooses. */
  readonly initial?: string | ((values: FormValues) => string);
  /**
   * Whether to show the options as a list while focused: up and down move in it, and it accepts text that is not an
   * option.
   */
  readonly isList?: boolean;
  /** Whether the form was opened on its initial value. */
  readonly isSubject?: boolean;
  /** Whether space marks several options; the value under `marksOf(name)` lists them. */
  readonly many?: boolean;
  /** Whether typed text has a meaning of its own; it then does not choose an option that merely contains it. */
  readonly isName?: (text: string) => boolean;
}

export type FieldSpec = TextFieldSpec | ChoiceFieldSpec;

type FieldValue =
  /** If `edit` or `value` is missing, it follows other fields. */
  | { readonly kind: 'text'; readonly edit?: EditState }
  | { readonly kind: 'choice'; readonly value?: string; readonly marked?: readonly string[] };

/** The name of the value that lists a choice's marked options, one per line. */
export const marksOf = (name: string): string => `${name}.marked`;

export interface FormState {
  readonly values: Readonly<Record<string, FieldValue>>;
  /** Index of the focused field. */
  readonly focus: number;
  /** The text typed to find an option in the focused choice. */
  readonly sought?: string;
  /** Fields that have been changed or submitted: their errors are shown. */
  readonly touched: ReadonlySet<string>;
}

export type FormAction =
  | { readonly kind: 'press'; readonly press: KeyPress }
  | { readonly kind: 'focus'; readonly by: number }
  | { readonly kind: 'focus-error' }
  | { readonly kind: 'confirm-again' }
  | { readonly kind: 'choose'; readonly by: number };

/** @param kept an earlier state, whose changed values are kept, except confirmations and what the form is opened on */
export function initialFormState(fields: readonly FieldSpec[], kept?: FormState): FormState {
  const isAgain = (field: FieldSpec) => (field.kind === 'text' ? field.isConfirmation : field.isSubject);
  const again = new Set(fields.flatMap(field => (isAgain(field) ? field.name : [])));
  const touched = new Set([...(kept?.touched ?? [])].filter(name => !again.has(name)));
  const values = Object.fromEntries(
    fields.map((field): [string, FieldValue] => {
      const { kind, initial = '' } = field;
      const before = kept && touched.has(field.name) ? own(kept.values, field.name) : undefined;
      if (before?.kind === kind) return [field.name, before];
      if (typeof initial === 'function') return [field.name, { kind }];
      if (kind === 'choice') return [field.name, { kind, value: initialChoice(field, initial) }];
      return [field.name, { kind, edit: editStateOf(initial, { multiline: field.multiline ?? false }) }];
    }),
  );
  return { values, focus: 0, touched };
}

function initialChoice({ options }: ChoiceFieldSpec, initial: string | undefined): string {
  return (options.find(({ value }) => value === initial) ?? options[0])?.value ?? '';
}

/** The option with this value or name; -1 if there is none. */
function indexOf({ options }: ChoiceFieldSpec, value: string): number {
  const index = options.findIndex(option => option.value === value);
  return index >= 0 ? index : options.findIndex(({ aliases }) => aliases?.includes(value));
}

function fieldValue(state: FormState, field: FieldSpec): string {
  const value = own(state.values, field.name);
  if (!value) return '';
  if (value.kind === 'text') return value.edit ? enteredText(value.edit) : '';
  if (field.kind !== 'choice') return '';
  const { value: chosen = '' } = value;
  const { initial } = field;
  const known = field.options[indexOf(field, chosen)]?.value;
  return known ?? (field.isList ? chosen : initialChoice(field, typeof initial === 'string' ? initial : undefined));
}

export function formValues(state: FormState, fields: readonly FieldSpec[]): Record<string, string> {
  const values = Object.fromEntries(fields.map(field => [field.name, fieldValue(state, field)]));
  const followed = fields.flatMap(field => {
    const value = own(state.values, field.name);
    const isOwn = value?.kind === 'text' ? value.edit !== undefined : value?.value !== undefined;
    if (isOwn || typeof field.initial !== 'function') return [];
    const followed = field.initial(values);
    return [[field.name, field.kind === 'choice' ? initialChoice(field, followed) : followed] as const];
  });
  const marks = fields.flatMap(({ name }) => {
    const value = own(state.values, name);
    return value?.kind === 'choice' && value.marked?.length ? [[marksOf(name), value.marked.join('\n')] as const] : [];
  });
  return { ...values, ...Object.fromEntries([...marks, ...followed]) };
}

export function shownFields(state: FormState, fields: readonly FieldSpec[]): readonly FieldSpec[] {
  const values = formValues(state, fields);
  return fields.filter(({ when }) => when?.(values) ?? true);
}

export function formErrors(state: FormState, fields: readonly FieldSpec[]): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  const values = formValues(state, fields);
  for (const field of shownFields(state, fields)) {
    const error = field.check?.(own(values, field.name) ?? '', values);
    if (error !== undefined) errors.set(field.name, error);
  }
  const focused = shownFields(state, fields)[state.focus];
  const { sought = '' } = state;
  // A previously chosen option does not count as typed.
  if (focused?.kind === 'choice' && !focused.isList && sought !== '' && !soughtOption(focused, sought))
    errors.set(focused.name, clean`There is no “${sought}” here`);
  return errors;
}

const withoutSought = ({ sought: _, ...state }: FormState): FormState => state;

const textOf = ({ label, note = '', facts = [] }: ChoiceOption): string =>
  [label, note, ...facts].join(' ').toLowerCase();

/** The option with this name; otherwise all whose label, note or facts contain the text. */
function soughtOptions(field: ChoiceFieldSpec, sought: string): readonly ChoiceOption[] {
  const { options } = field;
  const named = options[indexOf(field, sought)];
  if (named) return [named];
  return field.isName?.(sought) ? [] : options.filter(option => textOf(option).includes(sought.toLowerCase()));
}

/** The first of them that begins with the text, or has it in its label. */
function soughtOption(field: ChoiceFieldSpec, sought: string): ChoiceOption | undefined {
  const found = soughtOptions(field, sought);
  const wanted = sought.toLowerCase();
  return (
    found.find(option => textOf(option).startsWith(wanted)) ??
    found.find(({ label }) => label.toLowerCase().includes(wanted)) ??
    found[0]
  );
}

/** The options to choose among: those that match the typed text if it leaves a choice, otherwise all. */
export function optionsToChoose({ sought = '' }: FormState, field: ChoiceFieldSpec): readonly ChoiceOption[] {
  const found = sought.trim() === '' ? [] : soughtOptions(field, field.isList ? sought.trim() : sought);
  return found.length > 1 ? found : field.options;
}

/** Chooses the option that matches the typed text; a list keeps text that matches no option. */
function seek(state: FormState, field: ChoiceFieldSpec, { name, text }: KeyPress): FormState {
  const { sought: before = '' } = state;
  if (name !== 'backspace' && !isSought(state, field, text)) return state;
  const sought = name === 'backspace' ? before.slice(0, -1) : before + text;
  const { isList = false } = field;
  const typed = sought.trim();
  const found = soughtOption(field, isList ? typed : sought)?.value ?? (isList ? typed : undefined);
  if (found === undefined) {
    // A letter that breaks the match starts a new search, unless it matches nothing on its own either.
    const isNew = before !== '' && soughtOption(field, before) !== undefined && soughtOption(field, text) !== undefined;
    if (isNew) return seek(withoutSought(state), field, { name, text });
    return { ...state, sought, touched: new Set([...state.touched, field.name]) };
  }
  const values = {
    ...state.values,
    [field.name]: { ...own(state.values, field.name), kind: 'choice', value: found } as const,
  };
  return { ...state, values, sought, touched: new Set([...state.touched, field.name]) };
}

/** Whether this text marks or unmarks the chosen option. */
export const isMark = ({ many = false }: ChoiceFieldSpec, text: string): boolean => many && text === ' ';

/** Whether a choice takes this text; in a list, spaces can be part of a name. */
export function isSought(state: FormState, field: ChoiceFieldSpec, text: string): boolean {
  return text.trim() !== '' || (text !== '' && field.isList === true && (state.sought ?? '') !== '');
}

/** @param all the fields, including hidden ones; the focus is always on a visible one */
export function formReducer(state: FormState, action: FormAction, all: readonly FieldSpec[]): FormState {
  const fields = shownFields(state, all);
  const field = fields[state.focus];
  const value = field && own(state.values, field.name);
  const change = (next: FieldValue): FormState =>
    field
      ? {
          ...withoutSought(state),
          values: { ...state.values, [field.name]: next },
          touched: new Set([...state.touched, field.name]),
        }
      : state;
  switch (action.kind) {
    case 'press': {
      if (field?.kind === 'choice' && value?.kind === 'choice' && isMark(field, action.press.text)) {
        const [marked, at] = [value.marked ?? [], fieldValue(state, field)];
        return change({ ...value, marked: marked.includes(at) ? marked.filter(each => each !== at) : [...marked, at] });
      }
      if (field?.kind === 'choice') return seek(state, field, action.press);
      if (field?.kind !== 'text' || value?.kind !== 'text') return state;
      const before = editOf(state, field, formValues(state, all));
      const next = edit(before, action.press, { multiline: field.multiline ?? false });
      return next ? change({ kind: 'text', edit: next }) : state;
    }
    case 'choose': {
      if (field?.kind !== 'choice' || value?.kind !== 'choice' || field.options.length === 0) return state;
      const options = optionsToChoose(state, field);
      const count = options.length;
      const next = (((choiceOf({ ...field, options }, formValues(state, all)) + action.by) % count) + count) % count;
      const chosen = change({ ...value, value: options[next]?.value ?? '' });
      return options === field.options ? chosen : { ...chosen, sought: state.sought ?? '' };
    }
    case 'focus':
      return {
        ...withoutSought(state),
        focus: (((state.focus + action.by) % fields.length) + fields.length) % fields.length,
      };
    case 'confirm-again': {
      const focus = fields.findIndex(each => each.kind === 'text' && each.isConfirmation === true);
      const name = fields[focus]?.name;
      if (name === undefined) return state;
      const values = { ...state.values, [name]: { kind: 'text', edit: editStateOf('') } as const };
      const touched = new Set([...state.touched].filter(each => each !== name));
      return { ...withoutSought(state), values, focus, touched };
    }
    case 'focus-error': {
      const errors = formErrors(state, all);
      const first = fields.findIndex(candidate => errors.has(candidate.name));
      return { ...state, focus: Math.max(0, first), touched: new Set(fields.map(({ name }) => name)) };
    }
  }
}

export function editOf(state: FormState, field: FieldSpec, values: FormValues): EditState {
  const value = own(state.values, field.name);
  if (value?.kind !== 'text') return editStateOf('');
  return value.edit ?? editStateOf(own(values, field.name) ?? '');
}

/** The index of the chosen option; -1 for text that is not an option. */
export function choiceOf(field: ChoiceFieldSpec, values: FormValues): number {
  return indexOf(field, own(values, field.name) ?? '');
}
