/** Converts the sources of a profile's settings to a common form. */
import { own } from '../base/own-property.ts';
import { type Environment, isOn } from '../text/terminal.ts';
import type { CredentialPlace } from './credentials.ts';
import { ConfigError, type Origin } from './origin.ts';
import type { ProfileSettings } from './schema.ts';

/**
 * The service settings accepted on the command line. Secrets come from a variable or a file, since other users can read
 * a process's arguments.
 */
export interface ProfileFlags
  extends Readonly<
    Pick<
      ProfileSettings,
      | `${'apiKey' | 'inferenceToken' | 'upstreamKey'}${'Env' | 'File'}`
      | ('baseUrl' | 'inferenceUrl' | 'caFile' | 'allowInsecureHttp' | 'readOnly' | 'agent' | 'upstream')
    >
  > {
  readonly profile?: string | undefined;
}

const texts = {
  BENCHTOP_BASE_URL: 'baseUrl',
  BENCHTOP_INFERENCE_URL: 'inferenceUrl',
  BENCHTOP_API_KEY: 'apiKey',
  BENCHTOP_API_KEY_FILE: 'apiKeyFile',
  BENCHTOP_INFERENCE_TOKEN: 'inferenceToken',
  BENCHTOP_INFERENCE_TOKEN_FILE: 'inferenceTokenFile',
  BENCHTOP_CA_FILE: 'caFile',
  BENCHTOP_AGENT: 'agent',
  BENCHTOP_UPSTREAM: 'upstream',
  BENCHTOP_UPSTREAM_KEY: 'upstreamKey',
  BENCHTOP_UPSTREAM_KEY_FILE: 'upstreamKeyFile',
} as const;
const switches = { BENCHTOP_ALLOW_INSECURE_HTTP: 'allowInsecureHttp', BENCHTOP_READ_ONLY: 'readOnly' } as const;

export function flagLayer(flags: ProfileFlags): CredentialPlace {
  const { profile: _, ...settings } = flags;
  return { settings, originOf: key => ({ kind: 'flag', name: flagName(key) }), base: process.cwd() };
}

/** The flag for a setting: `--base-url` for `baseUrl`. */
function flagName(key: string): string {
  return `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** @throws ConfigError for a switch that is neither on nor off */
export function environmentLayer(environment: Environment): CredentialPlace {
  const settings: ProfileSettings = {};
  const names = new Map<string, string>();
  for (const [name, key] of Object.entries(texts)) {
    const value = own(environment, name)?.trim();
    if (!value) continue;
    settings[key] = value;
    names.set(key, name);
  }
  for (const [name, key] of Object.entries(switches)) {
    const value = readSwitch(name, own(environment, name));
    if (value === undefined) continue;
    settings[key] = value;
    names.set(key, name);
  }
  const originOf = (key: string): Origin => ({ kind: 'environment', name: names.get(key) ?? key });
  return { settings, originOf, base: process.cwd() };
}

export function fileLayer(path: string, base: string, profile: string, settings: ProfileSettings): CredentialPlace {
  return { settings, originOf: key => ({ kind: 'file', path, place: `profiles.${profile}.${key}` }), base };
}

/** Reads a switch from an environment variable; undefined if it is not set. */
export function readSwitch(name: string, value: string | undefined): boolean | undefined {
  const word = value?.trim().toLowerCase();
  if (!word) return undefined;
  if (isOn(word)) return true;
  if (['0', 'false', 'no', 'off'].includes(word)) return false;
  throw new ConfigError(`${name} is neither on nor off. Set it to 1 or 0, or unset it.`);
}
