/** The JSON Schema of `config.json` for editors, generated from the schema that the file is parsed with. */
import * as z from 'zod/mini';
import { own } from '../base/own-property.ts';
import { defaultAssumptions, switchAssumptions } from '../contract/assumptions.ts';
import { endpoints } from '../contract/endpoints.ts';
import { assumptionReference, profileReference, settingsReference } from './reference.ts';
import { settings } from './schema.ts';

type Node = z.core.JSONSchema.BaseSchema;

/** Adds descriptions to an object's properties, and to those of the entries in a map such as `benchmarks`. */
function withDescriptions(node: Node, words: Readonly<Record<string, unknown>>): Node {
  const entries = Object.entries(node.properties ?? {}).map(([name, property]) => {
    const about = own(words, name);
    if (typeof property !== 'object' || about === undefined) return [name, property];
    const { additionalProperties: part } = property;
    const parts = typeof part === 'object' ? { additionalProperties: withDescriptions(part, words) } : {};
    if (typeof about === 'string') return [name, { description: about, ...property, ...parts }];
    return [name, withDescriptions(property, about as Readonly<Record<string, unknown>>)];
  });
  return entries.length === 0 ? node : { ...node, properties: Object.fromEntries(entries) };
}

/** Lists the assumption names for editors. The service layer checks names and values itself. */
function withAssumptions(profile: Node): Node {
  const assumptions = profile.properties?.['assumptions'];
  if (typeof assumptions !== 'object') throw new Error('a profile has no assumptions');
  const switches: readonly string[] = switchAssumptions;
  const properties = Object.entries(defaultAssumptions).map(([name, value]): [string, Node] => [
    name,
    {
      type: 'string',
      description: own(assumptionReference, name) ?? '',
      default: value,
      ...(switches.includes(name) ? { enum: ['yes', 'no'] } : {}),
    },
  ]);
  const names = [...Object.keys(defaultAssumptions), ...Object.keys(endpoints).map(operation => `path.${operation}`)];
  const listed = {
    ...assumptions,
    properties: Object.fromEntries(properties),
    propertyNames: { type: 'string' as const, enum: names },
  };
  return { ...profile, properties: { ...profile.properties, assumptions: listed } };
}

/** JSON Schema, draft 2020-12. */
export function settingsSchema(): Node {
  const whole = withDescriptions(z.toJSONSchema(settings(), { io: 'input' }), settingsReference);
  const profiles = whole.properties?.['profiles'];
  const profile = typeof profiles === 'object' ? profiles.additionalProperties : undefined;
  if (typeof profiles !== 'object' || typeof profile !== 'object') throw new Error('the settings have no profiles');
  return {
    ...whole,
    title: 'benchtop settings',
    properties: {
      ...whole.properties,
      profiles: { ...profiles, additionalProperties: withAssumptions(withDescriptions(profile, profileReference)) },
    },
  };
}
