/** The options of a run that a service describes, and their fields. */
import { describe, expect, it } from 'vitest';
import {
  describedModels,
  describedOptions,
  optionProblem,
  optionValues,
} from '../../../../src/present/described-options.ts';
import { optionFields, optionTexts } from '../../../../src/ui/views/benchmarks/option-fields.ts';

const [steps, rate] = [{ num_steps: { default: 4 } }, { rate: { default: 1 } }];

it.each<[answer: object, model: string | undefined, names: string[]]>([
  [{}, undefined, []],
  [{ options: { ...steps, note: 'text' } }, undefined, ['num_steps']],
  [{ ...steps, version: 2 }, 'm', ['num_steps']],
  [
    {
      models: [
        { base_model_slug: 'm', options: steps },
        { base_model_slug: 'n', options: rate },
      ],
    },
    'm',
    ['num_steps'],
  ],
  [
    {
      models: [
        { model_slug: 'm', options: steps },
        { model_slug: 'n', options: rate },
      ],
    },
    'n',
    ['rate'],
  ],
  // A model that is not listed may have any of them, each named once.
  [{ models: [{ model_slug: 'm', options: steps }, { options: { ...rate, ...steps } }] }, 'x', ['num_steps', 'rate']],
  // Other fields of a model are not options.
  [{ models: [{ model_slug: 'm', pricing: { input: 1 } }, 'x', null] }, 'm', []],
])('%j for %s', (answer, model, names) => {
  expect([...describedOptions(answer, model).keys()]).toEqual(names);
});

describe('options', () => {
  const offered = {
    options: {
      num_steps: { type: 'integer', minimum: 1, maximum: 10, description: 'Steps.' },
      learning_rate: { type: 'number', minimum: 0.1, maximum: 1, default: 0.5 },
    },
  };
  it('are those that the service describes, checked while typing', () => {
    const [steps, rate] = optionFields(offered);
    expect([steps?.label, rate?.kind === 'text' && rate.placeholder]).toEqual(['num_steps', '0.5']);
    const problem = (name: string, text: string) => optionProblem(offered, 'm', name, text);
    expect(problem('num_steps', '10')).toBeUndefined();
    expect(['1.5', '', 'x'].map(text => problem('num_steps', text))).toEqual(Array(3).fill('Type a whole number'));
    expect(problem('num_steps', '11')).toBe('From 1 to 10');
    expect(problem('learning_rate', '0.05')).toBe('From 0.1 to 1');
    expect(problem('other', '1')).toBe('Not accepted');
  });

  it('name a single bound (U36)', () => {
    const described = { most: { type: 'integer', max: 10 }, least: { type: 'number', min: 0.5 } };
    const problem = (name: string, text: string) => optionProblem(described, undefined, name, text);
    expect([problem('most', '11'), problem('least', '0')]).toEqual(['At most 10', 'At least 0.5']);
  });

  it('of an unknown type are JSON or text, and unchecked', () => {
    const described = { stop: { type: 'array', default: [] }, rate: { default: 1 }, name: { type: 'string' } };
    const texts = { stop: '["x"]', rate: '0.5', name: '7', other: '[1]' };
    expect(optionValues(texts, described, 'm')).toEqual({ stop: ['x'], rate: 0.5, name: '7', other: [1] });
    expect(optionProblem(described, 'm', 'stop', 'x')).toBeUndefined();
    expect(optionProblem({}, 'm', 'stop', 'x')).toBeUndefined();
    expect(optionProblem({ is: { type: 'boolean' } }, 'm', 'is', 'yes')).toBe('Type true or false');
  });

  it.each<[option: object, text: string, value: unknown, problem?: string]>([
    [{ choices: [1, 2, 'auto'] }, 'auto', 'auto'],
    [{ choices: [1, 2, 'auto'] }, '2', 2],
    [{ choices: [1, 2, 'auto'] }, '3', 3, 'One of 1, 2, auto'],
    [{ type: 'enum', choices: ['16', '32'] }, '16', '16'],
    [{ type: 'integer', choices: ['16', '32'] }, '16', '16'],
    [{ choices: ['true', 'null'] }, 'null', 'null'],
    [{ type: 'number', default: null }, 'null', null],
    [{ type: 'string', default: null, choices: ['a'] }, 'null', null],
    [{ type: 'number', default: 1 }, 'null', 'null', 'Type a number'],
    [{ type: 'int', default: 5 }, '2.5', '2.5', 'Type a whole number'],
    [{ type: 'float', min: 0, max: 1 }, 'abc', 'abc', 'Type a number'],
    [{ type: 'float', default: 1 }, '0.5', 0.5],
    [{ type: 'bool', default: true }, 'yes', 'yes', 'Type true or false'],
    [{ type: 'str', default: 'x' }, '123', '123'],
    [{ type: 'decimal', default: 0.5 }, 'abc', 'abc', 'Type a number'],
    [{ type: 'any', default: 5 }, '[1]', [1]],
  ])('%j of the text %j is %j (attack 25, B2 and B3)', (option, text, value, problem) => {
    expect(optionValues({ x: text }, { x: option }, undefined)).toEqual({ x: value });
    expect(optionProblem({ x: option }, undefined, 'x', text)).toBe(problem);
  });

  it.each([
    ['9007199254740993', undefined],
    ['-9007199254740993', undefined],
    ['1e400', undefined],
    ['[1, {"seed": 9007199254740993}]', undefined],
    ['9007199254740993', { type: 'integer' }],
    ['+9007199254740993', { type: 'number' }],
    ['0x20000000000001', { type: 'integer' }],
    ['-1e400', { type: 'number' }],
    ['1e400', { type: 'any' }],
    ['9007199254740993.0', undefined],
    ['9007199254740993.0', { type: 'integer' }],
    ['9.007199254740993e15', { type: 'integer' }],
    ['9007199254740991.4', undefined],
    ['{"a": 900719925474099300e-2}', undefined],
    ['18446744073709551616', undefined],
    ['1e-400', undefined],
    ['-1e-400', { type: 'number' }],
  ])('refuse %s for %o, which would be sent as another number (attack26 B5, attack29 B1)', (text, option) => {
    const offered = option && { x: option };
    expect(optionProblem(offered, undefined, 'x', text)).toBe('A JSON number cannot hold this exactly');
  });

  it.each([
    ['9007199254740993', { type: 'string' }],
    ['9007199254740993', { choices: ['9007199254740993'] }],
    ['9007199254740991', undefined],
    ['10000000000000000', undefined],
    ['1e300', { type: 'number' }],
    ['1E+23', undefined],
    ['[100000000000000000000000.00, -0.0, 0e5, 0012e1, 1e-7]', undefined],
    ['0012.50e1', { type: 'number' }],
    ['.0e-400', { type: 'number' }],
    ['0x1F', { type: 'integer' }],
    ['0.1', undefined],
    ['0.12345678901234567890', undefined],
    ['"9007199254740993"', undefined],
    ['v9007199254740993', undefined],
    ['Infinity', undefined],
    ['', undefined],
  ])('accept %s for %o, which is sent as typed', (text, option) => {
    expect(optionProblem(option && { x: option }, undefined, 'x', text)).toBeUndefined();
  });

  it('of the type bool are picked from a list', () => {
    expect(optionFields({ x: { type: 'bool' } })).toMatchObject([{ kind: 'choice' }]);
  });

  it('are refused for a model without them, if others have some (attack 25, C5)', () => {
    const models = [
      { model_slug: 'm', options: {} },
      { model_slug: 'n', options: rate },
    ];
    expect(optionProblem({ models }, 'm', 'rate', '1')).toBe('Not accepted for m');
    expect(optionProblem({ models: models.slice(0, 1) }, 'm', 'rate', '1')).toBeUndefined();
  });

  const byModel = {
    bench_id: 'b',
    models: [
      {
        base_model_slug: 'acme/small',
        options: {
          num_steps: { type: 'integer', min: 1, max: 10, default: 4, default_kind: 'fixed', description: 'Steps.' },
          disable_thinking: { type: 'boolean', default: false },
          algorithm: { type: 'string', choices: ['gspo', 'grpo'], default: 'gspo' },
        },
      },
      {
        base_model_slug: 'acme/large',
        options: {
          num_steps: { type: 'integer', min: 1, max: 40, default: 8 },
          learning_rate: { type: 'number', min: 0, default: 0.001, default_kind: 'computed' },
          algorithm: { type: 'string', choices: ['gspo', 'reinforce_plus_plus'], default: 'gspo' },
        },
      },
    ],
  };

  it('are those of all models if the service describes them for each', () => {
    expect(describedModels(byModel)).toEqual(['acme/small', 'acme/large']);
    const fields = optionFields(byModel);
    const [steps, thinking, algorithm, rate] = fields;
    expect(fields.map(({ label }) => label)).toEqual(['num_steps', 'disable_thinking', 'algorithm', 'learning_rate']);
    expect(steps).toMatchObject({ kind: 'text', placeholder: 'service default', help: 'Steps. 1 to 40' });
    const problem = (text: string) => optionProblem(byModel, undefined, 'num_steps', text);
    expect([problem('40'), problem('41')]).toEqual([undefined, 'From 1 to 40']);
    const values = (field: typeof steps) => (field?.kind === 'choice' ? field.options.map(each => each.value) : []);
    expect(values(thinking)).toEqual(['', 'true', 'false']);
    expect(values(algorithm)).toEqual(['', 'gspo', 'grpo', 'reinforce_plus_plus']);
    expect(rate).toMatchObject({ placeholder: '0.001 (service default)', help: 'from 0' });
  });

  it('accept every type that some model accepts, if models differ', () => {
    const options = [
      { type: 'boolean', default: true },
      { type: 'integer', min: 1, max: 10 },
      { type: 'string', choices: ['auto', 'off'] },
      { type: 'integer', min: 4, max: 40 },
    ];
    const models = options.map((x, index) => ({ model_slug: `m${index}`, options: { x } }));
    const bounds = 'whole number 1 to 40; or true or false; or one of auto, off, depending on the model';
    expect(optionFields({ models })).toMatchObject([
      { kind: 'text', help: bounds, facts: `service default, ${bounds}`, placeholder: 'service default' },
    ]);
    const sent = (text: string, model?: string) => [
      optionValues({ x: text }, { models }, model)['x'],
      optionProblem({ models }, model, 'x', text),
    ];
    for (const [text, value] of [
      ['40', 40],
      ['true', true],
      ['auto', 'auto'],
    ] as const)
      expect(sent(text)).toEqual([value, undefined]);
    expect(sent('41')[1]).toBe('From 1 to 40; or type true or false; or one of auto, off');
    // A model that is known decides alone.
    expect(sent('true', 'm0')).toEqual([true, undefined]);
    expect(sent('40', 'm0')[1]).toBe('Type true or false for m0');
    expect(sent('40', 'm1')[1]).toBe('From 1 to 10 for m1');
    // Without choices of its own, a type takes any text.
    expect(optionProblem({ models: [...models, { options: { x: { type: 'string' } } }] }, 'other', 'x', 'on')).toBe(
      undefined,
    );
  });

  it.each([
    ['integer', []],
    ['string', ['a', 'b']],
  ])('accept null for any %s that is null by default for some model (attack27 C1)', (type, choices) => {
    const models = [null, 'a'].map(x => ({ model_slug: String(x), options: { x: { type, choices, default: x } } }));
    expect(optionProblem({ models }, 'other', 'x', 'null')).toBe(undefined);
    expect(optionValues({ x: 'null' }, { models }, 'other')).toEqual({ x: null });
    if (type === 'integer') expect(optionProblem({ models }, 'a', 'x', 'null')).toBe('Type a whole number for a');
  });

  it('offer each choice once, even if models differ in its type (attack27 C1)', () => {
    const choices = [
      [1, 2],
      ['1', 'a'],
    ];
    const models = choices.map((of, index) => ({ model_slug: `m${index}`, options: { x: { choices: of } } }));
    expect(describedOptions({ models }).get('x')?.choices.map(String)).toEqual(['1', '2', 'a']);
  });

  it('are sent in their own type, except those left empty', () => {
    const values = { num_steps: ' 5 ', disable_thinking: 'true', algorithm: 'grpo', learning_rate: '' };
    const typed = Object.fromEntries(Object.entries(values).map(([name, value]) => [`options.${name}`, value]));
    expect(optionValues(optionTexts(byModel, typed), byModel, 'acme/small')).toEqual({
      ...{ num_steps: 5, disable_thinking: true, algorithm: 'grpo' },
    });
  });

  it('are refused if the chosen model does not accept them', () => {
    const problem = (model: string, name: string, text: string) => optionProblem(byModel, model, name, text);
    expect(problem('acme/small', 'num_steps', '11')).toBe('From 1 to 10 for acme/small');
    expect(problem('acme/large', 'num_steps', '11')).toBeUndefined();
    expect(problem('acme/small', 'learning_rate', '1')).toBe('Not accepted for acme/small');
    expect(problem('acme/small', 'algorithm', 'reinforce_plus_plus')).toBe('One of gspo, grpo for acme/small');
    expect(problem('other', 'num_steps', '40')).toBeUndefined();
  });

  it('have no fields if the service does not describe them', () => {
    for (const nothing of [undefined, {}, { options: [] }, { hints: 'none' }])
      expect(optionFields(nothing)).toEqual([]);
  });
});
