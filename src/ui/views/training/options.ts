/**
 * The options of a training run as fields of a form. A service that lists its options gets a form of exactly those; for
 * others there are the options that were seen to be taken. Pure.
 */
import { own } from '../../../text/own.ts';
import type { FieldSpec } from '../../widgets/form/form-state.ts';

export interface OptionSpec {
  readonly name: string;
  readonly field: FieldSpec;
}

interface Bounds {
  readonly whole: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

/** Options seen of services that do not say which they take. */
const seen = ['num_steps', 'train_batch_size', 'samples_per_instance', 'max_output_tokens_per_step'];

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function boundsWords({ minimum, maximum }: Bounds): string {
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined) return `from ${minimum}`;
  return minimum === undefined ? `up to ${maximum}` : `${minimum} to ${maximum}`;
}

function fault(text: string, bounds: Bounds): string | undefined {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || (bounds.whole && !Number.isInteger(value))) {
    return bounds.whole ? 'Type a whole number' : 'Type a number';
  }
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = bounds;
  return value < minimum || value > maximum ? `From ${boundsWords(bounds)}`.replace('From from', 'From') : undefined;
}

function specOf(name: string, described: Readonly<Record<string, unknown>>): OptionSpec {
  const bounds: Bounds = {
    whole: described['type'] !== 'number',
    minimum: numberOf(described['minimum']),
    maximum: numberOf(described['maximum']),
  };
  const usual = numberOf(described['default']);
  const words = typeof described['description'] === 'string' ? `${described['description']} ` : '';
  return {
    name,
    field: {
      kind: 'text',
      name: `options.${name}`,
      label: name.replaceAll('_', ' '),
      placeholder: usual === undefined ? 'left to the service' : `${usual}`,
      help: `${words}${boundsWords(bounds)}`.trim(),
      check: value => fault(value, bounds),
    },
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The options that a service says it takes, or those seen elsewhere. */
export function optionSpecs(offered: Readonly<Record<string, unknown>> | undefined): OptionSpec[] {
  const described = isRecord(offered?.['options']) ? offered['options'] : offered;
  const entries = Object.entries(described ?? {}).flatMap(([name, each]) =>
    isRecord(each) ? [specOf(name, each)] : [],
  );
  return entries.length > 0 ? entries : seen.map(name => specOf(name, { type: 'integer', minimum: 1 }));
}

/** What was typed; what was left empty is left to the service. */
export function optionsOf(
  specs: readonly OptionSpec[],
  values: Readonly<Record<string, string>>,
): Record<string, number> {
  return Object.fromEntries(
    specs.flatMap(({ name, field }) => {
      const text = own(values, field.name)?.trim() ?? '';
      return text === '' ? [] : [[name, Number(text)]];
    }),
  );
}
