/** The JSON Schema of `config.json` for editors, generated from the schema that the file is parsed with. */
import * as z from 'zod/mini';
import { own } from '../text/own.ts';
import { profileReference, settingsReference } from './reference.ts';
import { settings } from './schema.ts';

type Node = z.core.JSONSchema.BaseSchema;

/** The properties of an object with their descriptions. */
function described(node: Node, words: Readonly<Record<string, unknown>>): Node {
  const entries = Object.entries(node.properties ?? {}).map(([name, property]) => {
    const about = own(words, name);
    if (typeof property !== 'object' || about === undefined) return [name, property];
    if (typeof about === 'string') return [name, { description: about, ...property }];
    return [name, described(property, about as Readonly<Record<string, unknown>>)];
  });
  return { ...node, properties: Object.fromEntries(entries) };
}

/** JSON Schema, draft 2020-12. */
export function settingsSchema(): Node {
  const whole = described(z.toJSONSchema(settings, { io: 'input' }), settingsReference);
  const profiles = whole.properties?.['profiles'];
  const profile = typeof profiles === 'object' ? profiles.additionalProperties : undefined;
  if (typeof profiles !== 'object' || typeof profile !== 'object') throw new Error('the settings have no profiles');
  return {
    ...whole,
    title: 'Settings of benchtop',
    properties: {
      ...whole.properties,
      profiles: { ...profiles, additionalProperties: described(profile, profileReference) },
    },
  };
}
