/**
 * Options for an evaluation or a training run as form fields. If the service lists its options, once for all models or
 * per model, the form has exactly those.
 */
import { own } from '../../../base/own-property.ts';
import { describeBounds, describedOptions, isOptionValue } from '../../../present/described-options.ts';
import { clean } from '../../../text/sanitise.ts';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';

const leftToService = 'service default';

const optionField = (name: string): string => `options.${name}`;

/** The fields for the options that a service describes. */
export function optionFields(offered: unknown): readonly FieldSpec[] {
  return [...describedOptions(offered)].map(([name, option]): FieldSpec => {
    const usual = isOptionValue(option.defaultValue) ? clean`${option.defaultValue}` : undefined;
    const bounds = describeBounds(option);
    const shared = {
      name: optionField(name),
      label: name,
      facts: [usual === undefined ? leftToService : `default ${usual}`, bounds].filter(Boolean).join(', '),
      help: `${option.words} ${bounds}`.trim(),
    };
    const unset = option.isComputed && usual !== undefined ? `${usual} (${leftToService})` : (usual ?? leftToService);
    const choices = option.type === 'boolean' && option.choices.length === 0 ? [true, false] : option.choices;
    if (choices.length === 0) return { ...shared, kind: 'text', placeholder: unset };
    const first = { value: '', label: unset, ...(usual !== undefined && { note: leftToService }) };
    const options = [first, ...choices.map(choice => ({ value: String(choice), label: String(choice) }))];
    return { ...shared, kind: 'choice', options };
  });
}

/** The typed and chosen options; empty ones are left for the service to set. */
export function optionTexts(offered: unknown, values: FormValues): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...describedOptions(offered).keys()].flatMap(name => {
      const text = own(values, optionField(name))?.trim() ?? '';
      return text === '' ? [] : [[name, text]];
    }),
  );
}
