/** The options of a new run, as a service describes them: for all models at once, or for each. Pure. */
import { changesNumber, jsonOrText } from '../base/json-depth.ts';
import { perObject } from '../base/memo.ts';
import { isRecord, own } from '../base/own-property.ts';
import { clean } from '../text/sanitise.ts';

type OptionValue = string | number | boolean;

interface DescribedOption {
  /** `any` if the type is unknown. */
  readonly type: 'integer' | 'number' | 'boolean' | 'string' | 'any';
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly choices: readonly OptionValue[];
  /** The value that the service uses if the option is left out. */
  readonly defaultValue: unknown;
  /** Whether null is valid, because it is some model's default. */
  readonly takesNull: boolean;
  /** Whether the service computes that value when the run starts. */
  readonly isComputed: boolean;
  readonly words: string;
  /** If models differ in the type: each type with its bounds and choices, which alone decide what is valid. */
  readonly variants?: readonly DescribedOption[];
}

type DescribedOptions = ReadonlyMap<string, DescribedOption>;

export function isOptionValue(value: unknown): value is OptionValue {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

function describeOption(option: Readonly<Record<string, unknown>>): DescribedOption {
  const numberAt = (...names: readonly string[]): number | undefined => {
    const values = names.map(name => own(option, name));
    return values.find(value => typeof value === 'number' && Number.isFinite(value)) as number | undefined;
  };
  const defaultValue = own(option, 'default');
  const choices = own(option, 'choices') ?? own(option, 'enum');
  const known = Array.isArray(choices) ? choices.filter(isOptionValue) : [];
  const text = own(option, 'description');
  return {
    type: typeOf(own(option, 'type'), isOptionValue(defaultValue) ? defaultValue : known[0]),
    minimum: numberAt('min', 'minimum'),
    maximum: numberAt('max', 'maximum'),
    choices: known,
    defaultValue,
    takesNull: defaultValue === null,
    isComputed: own(option, 'default_kind') === 'computed',
    words: typeof text === 'string' ? text : '',
  };
}

/** The types by name, including Python's names. */
const types: Readonly<Record<string, DescribedOption['type']>> = {
  ...{ integer: 'integer', number: 'number', boolean: 'boolean', string: 'string', any: 'any' },
  ...{ int: 'integer', float: 'number', bool: 'boolean', str: 'string' },
};

/** @param example a value, for an option whose type has no known name */
function typeOf(type: unknown, example: OptionValue | undefined): DescribedOption['type'] {
  return own(types, typeof type === 'string' ? type : '') ?? own(types, typeof example) ?? 'any';
}

function optionsIn(value: unknown): DescribedOptions {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return new Map(entries.flatMap(([name, option]) => (isRecord(option) ? [[name, describeOption(option)]] : [])));
}

const parsed = perObject((offered: Readonly<Record<string, unknown>>) => {
  const models = Array.isArray(offered['models']) ? offered['models'].filter(isRecord) : [];
  const { options } = offered;
  if (models.length === 0) return { all: optionsIn(isRecord(options) ? options : offered), ofModel: new Map() };
  const each = models.map(
    model => [own(model, 'base_model_slug') ?? own(model, 'model_slug'), optionsIn(model['options'])] as const,
  );
  const ofModel = new Map(each.flatMap(([slug, own]) => (typeof slug === 'string' ? [[slug, own] as const] : [])));
  return { all: joinOptions(each.map(([, own]) => own)), ofModel };
});

const noOptions = {};
const parsedOf = (offered: unknown) => parsed(isRecord(offered) ? offered : noOptions);

/** A model's options; if the service does not describe them for this model, those of all models combined. */
export function describedOptions(offered: unknown, model?: string | undefined): DescribedOptions {
  const { all, ofModel } = parsedOf(offered);
  return ofModel.get(model) ?? all;
}

/** The models that have their own options. */
export const describedModels = (offered: unknown): readonly string[] => [...parsedOf(offered).ofModel.keys()];

/** All models' options combined: every type, with its widest bounds and all choices. */
function joinOptions(all: readonly DescribedOptions[]): DescribedOptions {
  const named = Map.groupBy(
    all.flatMap(each => [...each]),
    ([name]) => name,
  );
  return new Map([...named].map(([name, same]) => [name, ofAnyType(same.map(([, option]) => option))]));
}

/** The order in which types are tried on typed text. `string` comes late, because it accepts any text. */
const typeOrder: readonly DescribedOption['type'][] = ['integer', 'number', 'boolean', 'string', 'any'];

function ofAnyType(options: readonly DescribedOption[]): DescribedOption {
  const all = options.reduce(widestOption);
  const byType = Map.groupBy(options, ({ type }) => type);
  if (byType.size === 1) return all;
  const variants = typeOrder.flatMap(type => byType.get(type)?.reduce(widestOption) ?? []);
  return { ...all, type: 'any', minimum: undefined, maximum: undefined, variants };
}

/** Removes values with the same text, such as 1 and "1", which a form cannot distinguish. */
const distinct = (values: readonly OptionValue[]): OptionValue[] => [
  ...new Map(values.map(value => [String(value), value])).values(),
];

function widestOption(one: DescribedOption, other: DescribedOption): DescribedOption {
  const bound = (pick: (...values: number[]) => number, left: number | undefined, right: number | undefined) =>
    left === undefined || right === undefined ? undefined : pick(left, right);
  return {
    ...one,
    minimum: bound(Math.min, one.minimum, other.minimum),
    maximum: bound(Math.max, one.maximum, other.maximum),
    choices: one.choices.length && other.choices.length ? distinct([...one.choices, ...other.choices]) : [],
    takesNull: one.takesNull || other.takesNull,
    defaultValue: one.defaultValue === other.defaultValue ? one.defaultValue : undefined,
  };
}

const typeLabels = { integer: 'whole number', number: 'number', boolean: 'true or false', string: 'text', any: 'JSON' };

/** The bounds; or each type with its bounds or choices, if models differ in the type. */
export function describeBounds({ minimum, maximum, variants }: DescribedOption): string {
  const ofVariant = (variant: DescribedOption): string =>
    variant.choices.length > 0
      ? clean`one of ${variant.choices}`
      : `${typeLabels[variant.type]} ${describeBounds(variant)}`.trim();
  if (variants) return `${variants.map(ofVariant).join('; or ')}, depending on the model`;
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined) return `from ${minimum}`;
  return minimum === undefined ? `up to ${maximum}` : `${minimum} to ${maximum}`;
}

const unknownOption = describeOption({});

/** The value of a typed text; undefined if it is neither a choice nor of this type. */
function valueIn(
  { type, choices, takesNull, variants }: Pick<DescribedOption, 'type' | 'choices' | 'takesNull' | 'variants'>,
  text: string,
): unknown {
  const valid = variants?.find(variant => problemOf(text, variant) === undefined);
  if (valid) return valueIn(valid, text);
  const typed = text.trim();
  const choice = choices.find(each => String(each) === typed);
  if (choice !== undefined) return choice;
  if (takesNull && typed === 'null') return null;
  if (type === 'integer' || type === 'number') {
    const value = typed === '' ? Number.NaN : Number(typed);
    return Number.isFinite(value) && (type === 'number' || Number.isInteger(value)) ? value : undefined;
  }
  const value = jsonOrText(typed);
  if (type === 'string') return typeof value === 'string' ? value : typed;
  return type === 'any' || typeof value === 'boolean' ? value : undefined;
}

const typePrompts = { integer: 'Type a whole number', number: 'Type a number', boolean: 'Type true or false' } as const;

function problemOf(text: string, option: DescribedOption): string | undefined {
  const { type, choices, defaultValue, takesNull, variants } = option;
  const problems = variants?.map(variant => problemOf(text, variant));
  if (problems?.includes(undefined)) return undefined;
  if (problems) {
    const [first = '', ...others] = new Set(problems.map(String));
    return [first, ...others.map(each => each.charAt(0).toLowerCase() + each.slice(1))].join('; or ');
  }
  const value = valueIn(option, text);
  const isChosen = choices.includes(value as OptionValue);
  if (typeof value !== 'string' && !isChosen && changesNumber(text.trim()))
    return 'A JSON number cannot hold this exactly';
  if (value === undefined) return type in typePrompts ? typePrompts[type as keyof typeof typePrompts] : undefined;
  if (choices.length > 0 && value !== defaultValue && !(takesNull && value === null) && !isChosen)
    return clean`One of ${choices}`;
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = option;
  if (typeof value !== 'number' || (value >= minimum && value <= maximum)) return undefined;
  if (option.minimum === undefined) return `At most ${option.maximum}`;
  return option.maximum === undefined ? `At least ${option.minimum}` : `From ${describeBounds(option)}`;
}

/** Why an option's text is invalid for a model; undefined if it is valid. */
export function optionProblem(
  offered: unknown,
  model: string | undefined,
  name: string,
  text: string,
): string | undefined {
  const isUndescribed = describedOptions(offered).size === 0;
  const option = isUndescribed ? unknownOption : describedOptions(offered, model).get(name);
  const words = option ? problemOf(text, option) : 'Not accepted';
  return words && parsedOf(offered).ofModel.has(model) ? clean`${words} for ${model}` : words;
}

/** The values of typed options, each in the type that the service describes. */
export function optionValues(
  texts: Readonly<Record<string, string>>,
  offered: unknown,
  model: string | undefined,
): Readonly<Record<string, unknown>> {
  const options = describedOptions(offered, model);
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const value = valueIn(options.get(name) ?? unknownOption, text);
      return [name, value === undefined ? text : value];
    }),
  );
}
