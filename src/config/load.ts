import { dirname } from 'node:path';
import type { Environment } from '../text/terminal.ts';
import type { ProfileFlags } from './layers.ts';
import { findPaths, type Paths, tightenDefaultFolders } from './paths.ts';
import { type PreferenceFlags, type Preferences, resolvePreferences } from './preferences.ts';
import { type Profile, resolveProfile } from './profile.ts';
import { redactor } from './redaction.ts';
import type { Settings } from './schema.ts';
import { readSettings, settingsPath } from './settings-file.ts';

export interface ConfigFlags extends ProfileFlags, PreferenceFlags {}

export interface Config {
  readonly profile: Profile;
  readonly preferences: Preferences;
  readonly paths: Paths;
  readonly settingsPath: string;
  /** Whole sentences: unknown keys in the settings file, settings that were not used. */
  readonly warnings: readonly string[];
  /** Redacts this configuration's secrets, and anything that looks like one, from text that leaves the program. */
  readonly redact: (text: string) => string;
}

/**
 * @param alter changes the settings before they are resolved, to try them before saving
 * @throws ConfigError that names the invalid setting and how to fix it
 */
export function loadConfig(
  flags: ConfigFlags,
  environment: Environment,
  alter: (settings: Settings) => Settings = settings => settings,
): Config {
  const paths = findPaths(environment);
  tightenDefaultFolders(environment);
  const file = readSettings(settingsPath(paths));
  const settings = alter(file.settings);
  const secrets = new Set<string>();
  const profile = resolveProfile({
    flags,
    environment,
    secrets,
    settings,
    settingsPath: file.path,
    settingsFolder: dirname(file.path),
  });
  return {
    profile,
    preferences: resolvePreferences(flags, environment, settings),
    paths,
    settingsPath: file.path,
    warnings: [...file.warnings, ...profile.warnings],
    redact: redactor(secrets),
  };
}
