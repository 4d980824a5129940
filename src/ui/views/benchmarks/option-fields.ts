/**
 * Options for an evaluation or a training run as form fields. If the service lists its options, once for all models or
 * per model, the form has exactly those.
 */
import { isRecord, own } from '../../../base/own-property.ts';
import { clean } from '../../../text/sanitise.ts';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';

type OptionValue = string | number | boolean;

export interface OptionSpec {
  readonly name: string;
  readonly field: FieldSpec;
  /** Parses the typed or chosen text. */
  readonly parse: (text: string) => OptionValue;
}

/** A service's description of an option. */
interface OptionDescription {
  readonly type: 'integer' | 'number' | 'boolean' | 'string';
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly choices: readonly OptionValue[];
  readonly defaultValue: OptionValue | undefined;
  /** Whether the service computes the default when the run starts. */
  readonly isComputed: boolean;
  readonly words: string;
}

type Fields = Readonly<Record<string, unknown>>;
type Options = ReadonlyMap<string, OptionDescription>;

const leftToService = 'service default';

function isValue(value: unknown): value is OptionValue {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

function described(option: Fields): OptionDescription {
  const numberAt = (...names: readonly string[]): number | undefined => {
    const values = names.map(name => own(option, name));
    return values.find(value => typeof value === 'number' && Number.isFinite(value)) as number | undefined;
  };
  const defaultValue = own(option, 'default');
  const choices = own(option, 'choices') ?? own(option, 'enum');
  const known = Array.isArray(choices) ? choices.filter(isValue) : [];
  const text = own(option, 'description');
  return {
    type: typeOf(own(option, 'type'), isValue(defaultValue) ? defaultValue : known[0]),
    minimum: numberAt('min', 'minimum'),
    maximum: numberAt('max', 'maximum'),
    choices: known,
    defaultValue: isValue(defaultValue) ? defaultValue : undefined,
    isComputed: own(option, 'default_kind') === 'computed',
    words: typeof text === 'string' ? text : '',
  };
}

function typeOf(type: unknown, example: OptionValue | undefined): OptionDescription['type'] {
  if (type === 'integer' || type === 'number' || type === 'boolean' || type === 'string') return type;
  if (typeof example === 'boolean' || typeof example === 'string') return typeof example as 'boolean' | 'string';
  return typeof example === 'number' && !Number.isInteger(example) ? 'number' : 'integer';
}

function optionsIn(value: unknown): Options {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return new Map(entries.flatMap(([name, option]) => (isRecord(option) ? [[name, described(option)]] : [])));
}

type OptionsByModel = ReadonlyMap<string | undefined, Options>;

/** The options by model if the service lists them per model; otherwise all under undefined. */
function optionsByModel(offered: Fields | undefined): OptionsByModel {
  const models = offered?.['models'];
  if (!Array.isArray(models)) return new Map([[undefined, optionsIn(offered?.['options'] ?? offered)]]);
  return new Map(
    models.filter(isRecord).map(model => {
      const slug = own(model, 'base_model_slug') ?? own(model, 'model_slug');
      return [typeof slug === 'string' ? slug : undefined, optionsIn(model['options'])] as const;
    }),
  );
}

function boundsWords({ minimum, maximum }: OptionDescription): string {
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined) return `from ${minimum}`;
  return minimum === undefined ? `up to ${maximum}` : `${minimum} to ${maximum}`;
}

/** Why a value is invalid; undefined if it is valid or empty. */
function problem(text: string, option: OptionDescription): string | undefined {
  const { type, choices } = option;
  if (text.trim() === '') return undefined;
  const value = valueIn(type, text);
  if (value === undefined) return type === 'integer' ? 'Type a whole number' : 'Type a number';
  if (choices.length > 0 && !choices.includes(value)) return clean`One of ${choices}`;
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = option;
  if (typeof value !== 'number' || (value >= minimum && value <= maximum)) return undefined;
  if (option.minimum === undefined) return `At most ${option.maximum}`;
  return option.maximum === undefined ? `At least ${option.minimum}` : `From ${boundsWords(option)}`;
}

function valueIn(type: OptionDescription['type'], text: string): OptionValue | undefined {
  if (type === 'string') return text.trim();
  if (type === 'boolean') return text.trim() === 'true';
  const value = Number(text);
  return Number.isFinite(value) && (type === 'number' || Number.isInteger(value)) ? value : undefined;
}

function defaultWords({ defaultValue, isComputed }: OptionDescription): string {
  if (isComputed) return defaultValue === undefined ? leftToService : clean`${defaultValue} (${leftToService})`;
  return defaultValue === undefined ? leftToService : String(defaultValue);
}

type Check = NonNullable<FieldSpec['check']>;

function specOf(name: string, option: OptionDescription, check: Check): OptionSpec {
  const shared = {
    name: `options.${name}`,
    label: name,
    facts: [option.defaultValue === undefined ? leftToService : `default ${option.defaultValue}`, boundsWords(option)]
      .filter(Boolean)
      .join(', '),
    help: `${option.words} ${boundsWords(option)}`.trim(),
    check,
  };
  const choices = option.type === 'boolean' && option.choices.length === 0 ? [true, false] : option.choices;
  return {
    name,
    parse: text => valueIn(option.type, text) ?? text,
    field:
      choices.length === 0
        ? { ...shared, kind: 'text', placeholder: defaultWords(option) }
        : {
            ...shared,
            kind: 'choice',
            options: [
              {
                value: '',
                label: defaultWords(option),
                ...(option.defaultValue === undefined ? {} : { note: leftToService }),
              },
              ...choices.map(choice => ({ value: String(choice), label: String(choice) })),
            ],
          },
  };
}

/** All models' options combined: the widest bounds and all choices. */
function joined(all: readonly Options[]): Options {
  const options = new Map<string, OptionDescription>();
  for (const [name, option] of all.flatMap(each => [...each])) {
    const known = options.get(name);
    options.set(name, known ? widest(known, option) : option);
  }
  return options;
}

function widest(one: OptionDescription, other: OptionDescription): OptionDescription {
  const bound = (pick: (...values: number[]) => number, left: number | undefined, right: number | undefined) =>
    left === undefined || right === undefined ? undefined : pick(left, right);
  return {
    ...one,
    minimum: bound(Math.min, one.minimum, other.minimum),
    maximum: bound(Math.max, one.maximum, other.maximum),
    choices: one.choices.length && other.choices.length ? [...new Set([...one.choices, ...other.choices])] : [],
    defaultValue: one.defaultValue === other.defaultValue ? one.defaultValue : undefined,
  };
}

/**
 * The fields for the options that a service accepts. A value is also checked against the options of the chosen model.
 *
 * @param modelOf finds the model among the form's values
 * @param others whole-number options to offer if the service lists none
 */
export function optionSpecs(
  offered: Fields | undefined,
  modelOf: (values: FormValues) => string | undefined = () => undefined,
  others: readonly string[] = [],
): OptionSpec[] {
  const byModel = optionsByModel(offered);
  const options = joined([...byModel.values()]);
  const entries =
    options.size > 0 ? [...options] : others.map(name => [name, described({ type: 'integer', min: 1 })] as const);
  return entries.map(([name, option]) => {
    const check: Check = (text, values = {}) => {
      const model = modelOf(values);
      return problem(text, option) ?? (model && problemFor(model, text, name, byModel));
    };
    return specOf(name, option, check);
  });
}

/** Why a value is invalid for a model that has its own options; undefined if it is valid. */
function problemFor(model: string, text: string, name: string, byModel: OptionsByModel): string | undefined {
  const options = byModel.get(model);
  if (!options || text.trim() === '') return undefined;
  const option = options.get(name);
  const words = option ? problem(text, option) : 'Not accepted';
  return words && clean`${words} for ${model}`;
}

/** The models that have their own options. */
export function modelsOf(offered: Fields | undefined): string[] {
  return [...optionsByModel(offered).keys()].filter(model => model !== undefined);
}

/** The chosen options; empty ones are left for the service to set. */
export function optionsOf(specs: readonly OptionSpec[], values: FormValues): Record<string, OptionValue> {
  return Object.fromEntries(
    specs.flatMap(({ name, field, parse }) => {
      const text = own(values, field.name)?.trim() ?? '';
      return text === '' ? [] : [[name, parse(text)]];
    }),
  );
}
