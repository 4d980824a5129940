import { render } from 'ink-testing-library';
import { describe, expect, it, vi } from 'vitest';
import { KeyRouter } from '../../../src/ui/keys/router.tsx';
import { Form, type FormProps, useForm } from '../../../src/ui/widgets/form/form.tsx';
import {
  type FieldSpec,
  type FormAction,
  formErrors,
  formReducer,
  formValues,
  initialFormState,
} from '../../../src/ui/widgets/form/form-state.ts';
import { eventually } from '../../eventually.ts';

const fields: readonly FieldSpec[] = [
  {
    kind: 'choice',
    name: 'model',
    label: 'Model',
    options: [
      { value: 'a/one', label: 'One' },
      { value: 'b/two', label: 'Two' },
    ],
  },
  {
    kind: 'text',
    name: 'display_name',
    label: 'Name',
    check: value => (value === '' ? 'Give it a name' : value.length > 5 ? 'At most 5 characters' : undefined),
  },
];
const play = (...actions: FormAction[]) =>
  actions.reduce((state, action) => formReducer(state, action, fields), initialFormState(fields));

describe('formReducer', () => {
  it('picks, types and wraps around', () => {
    const state = play(
      { kind: 'choose', by: -1 },
      { kind: 'focus', by: 1 },
      { kind: 'press', press: { name: 'x', text: 'x' } },
      { kind: 'press', press: { name: 'paste', text: 'y\nz' } },
      { kind: 'focus', by: 1 },
    );
    expect(formValues(state, fields)).toEqual({ model: 'b/two', display_name: 'xy z' });
    expect(state.focus).toBe(0);
  });

  it('finds an option by typing its start or a part', () => {
    const type = (...texts: string[]) =>
      formValues(play(...texts.map(text => ({ kind: 'press', press: { name: text, text } }) as const)), fields)[
        'model'
      ];
    expect(type('t')).toBe('b/two');
    expect(type('w', 'o')).toBe('b/two');
    expect(type('t', 'n')).toBe('a/one');
    expect(type('t', 'z')).toBe('b/two');
  });

  it('does not use an earlier choice for a text that no option has', () => {
    const press = (text: string) => ({ kind: 'press', press: { name: text, text } }) as const;
    const state = play(...[...'tzq'].map(press));
    expect(formErrors(state, fields).get('model')).toBe('There is no “tzq” here');
    const mended = ['backspace', 'backspace'].reduce(
      (before, name) => formReducer(before, { kind: 'press', press: { name, text: '' } }, fields),
      state,
    );
    expect(formErrors(mended, fields).get('model')).toBeUndefined();
  });

  it('stays among the options that match the typed text when space marks several', () => {
    const options = ['tea green', 'coffee', 'tea black'].map(label => ({ value: label, label }));
    const some: readonly FieldSpec[] = [{ kind: 'choice', name: 'drink', label: 'Drink', many: true, options }];
    const press = (text: string): FormAction => ({ kind: 'press', press: { name: text, text } });
    const chosenBy = (...actions: readonly FormAction[]) =>
      formValues(
        actions.reduce((state, action) => formReducer(state, action, some), initialFormState(some)),
        some,
      );
    const next = { kind: 'choose', by: 1 } as const;
    expect(chosenBy(press('tea'), next)).toMatchObject({ drink: 'tea black' });
    expect(chosenBy(press('tea'), next, next)).toMatchObject({ drink: 'tea green' });
    expect(chosenBy(press('tea'), next, press(' '), press('c'), press(' '))).toMatchObject({
      'drink.marked': 'tea black\ncoffee',
    });
    // The neighbours of the only match are within reach.
    expect(chosenBy(press('coffee'), next)).toMatchObject({ drink: 'tea black' });
  });

  it('names the error and moves there', () => {
    const state = play({ kind: 'focus-error' });
    expect(state.focus).toBe(1);
    expect([...formErrors(state, fields)]).toEqual([['display_name', 'Give it a name']]);
  });
});

describe('a list', () => {
  const list = (labels: readonly string[]): readonly FieldSpec[] => [
    {
      kind: 'choice',
      isList: true,
      name: 'step',
      label: 'Step',
      options: labels.map(label => ({ value: `id ${label}`, label, aliases: [`run@${label}`] })),
    },
  ];
  const three = list(['30', '20', '10']);
  const type = (text: string): FormAction => ({ kind: 'press', press: { name: text, text } });
  const playOn = (...actions: FormAction[]) =>
    actions.reduce((state, action) => formReducer(state, action, three), initialFormState(three));

  it('keeps its choice by value while options change', () => {
    const state = playOn({ kind: 'choose', by: 1 });
    expect(formValues(state, list(['40', '30', '20']))).toEqual({ step: 'id 20' });
    expect(formValues(playOn(type('2'), type('0')), three)).toEqual({ step: 'id 20' });
  });

  it('shows only the options that match the typed text', async () => {
    const { stdin, lastFrame, unmount } = render(
      <KeyRouter>
        <Teas onSubmit={() => {}} shown={list(['31', '20', '10', '30'])} />
      </KeyRouter>,
    );
    await eventually(() => expect(lastFrame()).toContain('1/4'));
    stdin.write('3');
    await eventually(() => expect(lastFrame()).toContain('1/2'));
    expect(lastFrame()).not.toContain('20');
    stdin.write('\u001b[B');
    await eventually(() => expect(lastFrame()).toContain('2/2'));
    unmount();
  });

  it('leaves what the form was opened on out of a draft', () => {
    const draft = playOn({ kind: 'choose', by: 1 });
    const opened = three.map((field): FieldSpec => ({ ...field, isSubject: true }) as FieldSpec);
    expect(formValues(initialFormState(three, draft), three)).toEqual({ step: 'id 20' });
    expect(formValues(initialFormState(opened, draft), opened)).toEqual({ step: 'id 30' });
  });

  it('accepts a full name, even of an option that comes later, and refuses an unknown text', () => {
    expect(formValues(playOn(type('run@10')), three)).toEqual({ step: 'id 10' });
    const later = playOn(type('run'), type('@40'));
    expect(formValues(later, three)).toEqual({ step: 'run@40' });
    expect(formValues(later, list(['40', '30']))).toEqual({ step: 'id 40' });
    expect(formValues(playOn(type('my'), type(' '), type('run')), three)).toEqual({ step: 'my run' });
  });
});

function Teas({ onSubmit, shown = fields }: Pick<FormProps, 'onSubmit'> & { shown?: readonly FieldSpec[] }) {
  return (
    <Form
      form={useForm(shown)}
      width={40}
      height={10}
      busy={false}
      onSubmit={onSubmit}
      onCancel={() => {}}
      onHelp={() => {}}
    />
  );
}

describe('Form', () => {
  it.each([
    [2, false],
    [426, true],
  ])('says that typing finds one of many options: %d (out33 C2)', async (count, says) => {
    const options = Array.from({ length: count }, (_, index) => ({ value: `m${index}`, label: `model ${index}` }));
    const { lastFrame, unmount } = render(
      <KeyRouter>
        <Teas onSubmit={() => {}} shown={[{ kind: 'choice', name: 'model', label: 'Model', options }]} />
      </KeyRouter>,
    );
    await eventually(() => expect(lastFrame()).toContain(`1/${count}`));
    expect(lastFrame()?.includes('type to find one')).toBe(says);
    unmount();
  });

  it('checks while typing, refuses to send errors, and sends valid values', async () => {
    const sent = vi.fn();
    const { stdin, lastFrame, unmount } = render(
      <KeyRouter>
        <Teas onSubmit={sent} />
      </KeyRouter>,
    );
    const shown = () => (lastFrame() ?? '').replace(/\u001b\[[\d;]*m/g, '');
    stdin.write('\r');
    await eventually(() => expect(shown()).toContain('Give it a name'));
    expect(sent).not.toHaveBeenCalled();
    stdin.write('baseline');
    await eventually(() => expect(shown()).toContain('At most 5 characters'));
    for (let index = 0; index < 4; index += 1) stdin.write('\u007f');
    stdin.write('\r');
    await eventually(() => expect(sent).toHaveBeenCalledWith({ model: 'a/one', display_name: 'base' }));
    unmount();
  });
});
