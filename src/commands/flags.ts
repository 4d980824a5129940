/** Flags of the command line that every command takes: which service, with which credentials. */

import type { ParseArgsConfig } from 'node:util';
import type { ConfigFlags } from '../config/load.ts';
import { own } from '../text/own.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

const text = { type: 'string' } as const;
const on = { type: 'boolean' } as const;

export const configOptions = {
  profile: text,
  'base-url': text,
  'inference-url': text,
  'api-key-env': text,
  'api-key-file': text,
  'inference-token-env': text,
  'inference-token-file': text,
  'ca-file': text,
  'allow-insecure-http': on,
  'read-only': on,
  upstream: text,
  'upstream-key-env': text,
  'upstream-key-file': text,
  theme: text,
  mouse: on,
  notices: text,
} as const satisfies Options;

/** What was parsed by `configOptions`, by the names of the configuration. */
export function configFlags(values: Readonly<Record<string, unknown>>): ConfigFlags {
  const entries = Object.keys(configOptions)
    .filter(name => own(values, name) !== undefined)
    .map(name => [name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), own(values, name)]);
  return Object.fromEntries(entries) as ConfigFlags;
}
