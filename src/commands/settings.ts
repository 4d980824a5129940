/** `benchtop profile …` and `benchtop config …`: edit the settings file from the command line. */
import { resolve } from 'node:path';
import { errorMessage } from '../base/errors.ts';
import { jsonOrText } from '../base/json-depth.ts';
import { isRecord, own } from '../base/own-property.ts';
import { shellWords } from '../base/shell-words.ts';
import { addressProblem } from '../config/address.ts';
import type { CredentialName } from '../config/credentials.ts';
import { environmentLayer } from '../config/layers.ts';
import { type Config, loadConfig } from '../config/load.ts';
import { findPaths } from '../config/paths.ts';
import { settingDefaults } from '../config/preferences.ts';
import { profileReference, settingsReference } from '../config/reference.ts';
import {
  settings as knownSettings,
  type ProfileSettings,
  profileNameProblem,
  type Settings,
} from '../config/schema.ts';
import { changeSettings, explain, readSettings, settingsPath } from '../config/settings-file.ts';
import { switchAssumptions } from '../contract/assumptions.ts';
import { assumptionProblem } from '../service/assumptions.ts';
import { saysSomething } from '../store/notes.ts';
import { counted } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import type { Environment } from '../text/terminal.ts';
import { defaultAuthor } from '../workbench/notes.ts';
import { confirm } from './act.ts';
import { openRemembered, testService } from './connect.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { applyJq, recordText, tableText } from './output.ts';
import { didYouMean } from './suggest.ts';
import type { CommandInput } from './table/commands.ts';

const pathIn = ({ environment }: CommandIo): string => settingsPath(findPaths(environment));

function describeKeySource({ apiKey, apiKeyEnv, apiKeyFile, apiKeyCommand }: ProfileSettings): string {
  if (apiKeyEnv !== undefined) return `variable ${apiKeyEnv}`;
  if (apiKeyFile !== undefined) return `file ${apiKeyFile}`;
  if (apiKeyCommand !== undefined) return `command ${apiKeyCommand[0]}`;
  return apiKey === undefined ? '' : 'in the settings file';
}

export async function listProfiles({ flags }: CommandInput<'profile list'>, io: CommandIo): Promise<number> {
  const { settings } = readSettings(pathIn(io));
  const profiles = { ...settings.profiles, local: settings.profiles?.['local'] ?? {} };
  const rows = Object.entries(profiles).map(([name, profile]) => ({
    name,
    address: profile.baseUrl ?? 'the local service',
    key: describeKeySource(profile),
    default: name === (settings.defaultProfile ?? 'local'),
  }));
  const text = tableText(
    rows,
    [
      { id: 'name', title: 'PROFILE', width: { min: 8, max: 30, grow: 1 }, value: row => row.name },
      { id: 'address', title: 'ADDRESS', width: { min: 12, max: 60, grow: 2 }, value: row => row.address },
      { id: 'key', title: 'KEY', width: { min: 8, max: 40, grow: 1 }, value: row => row.key },
      { id: 'default', title: 'DEFAULT', width: 7, value: row => (row.default ? 'yes' : '') },
    ],
    io,
  );
  if (flags.jq !== undefined) await io.print(await applyJq(rows, flags.jq, io));
  else if (flags.field === undefined) await io.print(flags.json ? recordText(rows) : text);
  else for (const row of rows) await io.print(recordText(row, flags.field));
  return exitCodes.done;
}

/** @throws CommandError if there is no such profile */
function requireProfile({ profiles = {} }: Settings, name: string): void {
  const names = [...new Set(['local', ...Object.keys(profiles)])];
  if (names.includes(name)) return;
  const hint = didYouMean(name, names) || `The profiles are ${names.join(', ')}.`;
  throw new CommandError(`There is no profile ${name}. ${hint}`, exitCodes.notFound);
}

/** Reports a changed setting: as a note, or as JSON on standard output. */
async function printChange(
  words: string,
  record: object,
  { json }: { readonly json?: boolean | undefined },
  io: CommandIo,
): Promise<void> {
  if (json) await io.print(recordText(record));
  else io.note(words);
}

export async function useProfile(
  { args: [name = ''], flags }: CommandInput<'profile use'>,
  io: CommandIo,
): Promise<number> {
  const path = pathIn(io);
  requireProfile(readSettings(path).settings, name);
  await changeSettings(path, settings => {
    settings.defaultProfile = name;
  });
  await printChange(`${name} is the default profile now.`, { name, default: true }, flags, io);
  return exitCodes.done;
}

/** @throws CommandError for an unclosed quote */
function commandWords(line: string): string[] {
  try {
    return shellWords(line);
  } catch (error) {
    throw new CommandError(`--api-key-command: ${errorMessage(error)}`);
  }
}

/**
 * Makes a path absolute for the settings file, which resolves relative paths against its own folder. Keeps a
 * leading `~`.
 */
const absolute = (path: string): string => (path.startsWith('~') ? path : resolve(path));

export async function addProfile(
  { args: [name = ''], flags }: CommandInput<'profile add'>,
  io: CommandIo,
): Promise<number> {
  const path = pathIn(io);
  const { baseUrl: url, apiKeyEnv, apiKeyFile, apiKeyCommand } = flags;
  if (url === undefined) throw new CommandError("Specify the service's address: --base-url URL.");
  const wrong = addressProblem(url, true);
  if (wrong) throw new CommandError(`--base-url cannot be used: ${wrong.reason}`);
  const problem = profileNameProblem(name, url);
  if (problem !== undefined) throw new CommandError(problem);
  const profile: ProfileSettings = {
    baseUrl: url,
    ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
    ...(apiKeyFile === undefined ? {} : { apiKeyFile: absolute(apiKeyFile) }),
    ...(apiKeyCommand === undefined ? {} : { apiKeyCommand: commandWords(apiKeyCommand) }),
  };
  const add = (settings: Settings): Settings => {
    if (own(settings.profiles, name)) {
      throw new CommandError(`There is already a profile ${name}. benchtop profile remove ${name} removes it.`);
    }
    const profiles = { ...settings.profiles, [name]: profile };
    return { ...settings, profiles, ...(flags.use ? { defaultProfile: name } : {}) };
  };
  const config = loadConfig({ profile: name }, io.environment, add);
  if (!flags.unchecked) await testService(config, io.signal);
  await changeSettings(path, settings => void Object.assign(settings, add(settings)));
  await printChange(`${name} is in ${path}.`, { name, path, default: flags.use ?? false }, flags, io);
  return exitCodes.done;
}

/** The notes, conversations and pins on a profile's service, which stay; undefined if there are none. */
function keptOf(name: string, { environment }: CommandIo) {
  let config: Config;
  try {
    config = loadConfig({ profile: name }, environment);
  } catch {
    // A profile that cannot be used can still be removed.
    return undefined;
  }
  const { service } = config.profile;
  if (service.kind === 'local') return undefined;
  const memory = openRemembered(config);
  try {
    const [notes, conversations] = [(memory.notes.all() ?? []).filter(saysSomething).length, memory.chats().length];
    const pins = memory.pinned()?.length ?? 0;
    if (notes + conversations + pins === 0) return undefined;
    const address = service.baseUrl.value;
    const counts = [
      notes > 0 && counted(notes, 'note'),
      conversations > 0 && counted(conversations, 'conversation'),
      pins > 0 && counted(pins, 'pin'),
    ];
    const what = counts.filter(Boolean).join(', ');
    return {
      record: { address, notes, conversations, pins },
      words: ` Kept on this machine: ${what}. Any profile with the address ${address} has them.`,
    };
  } finally {
    memory.close();
  }
}

export async function removeProfile(
  { args: [name = ''], flags }: CommandInput<'profile remove'>,
  io: CommandIo,
): Promise<number> {
  const path = pathIn(io);
  const { settings } = readSettings(path);
  requireProfile(settings, name);
  if (!own(settings.profiles, name))
    throw new CommandError(`${name} cannot be removed: it is the service on this machine.`);
  await confirm(`Remove profile ${name} from ${path}?`, flags, io);
  const wasDefault = settings.defaultProfile === name;
  const kept = keptOf(name, io);
  await changeSettings(path, all => {
    const left = Object.entries(all.profiles ?? {}).filter(([each]) => each !== name);
    all.profiles = Object.fromEntries(left);
    if (all.defaultProfile === name) delete all.defaultProfile;
  });
  const words = `Removed ${name} from ${path}.${wasDefault ? ' The default profile is local now.' : ''}`;
  await printChange(`${words}${kept?.words ?? ''}`, { name, path, removed: true, kept: kept?.record }, flags, io);
  return exitCodes.done;
}

export async function printPath({ flags }: CommandInput<'config path'>, io: CommandIo): Promise<number> {
  const path = pathIn(io);
  await io.print(flags.json ? recordText({ path }) : `${io.columns === undefined ? path : sanitiseLine(path)}\n`);
  return exitCodes.done;
}

export async function getSetting({ args: [key], flags }: CommandInput<'config get'>, io: CommandIo): Promise<number> {
  const { settings, warnings } = readSettings(pathIn(io));
  for (const warning of warnings) io.note(warning);
  const names = key === undefined ? [] : settingNamed(key, settings);
  const value = fieldOf(withoutSecrets(settings), names) ?? (await defaultOf(names));
  if (value === undefined) throw new CommandError(describeUnset(key ?? '', names), exitCodes.failed);
  if (fieldOf(settings, names) === undefined) io.note(`${key} is not set: this is the default.`);
  await io.print(typeof value === 'string' && !flags.json ? recordText({ value }, 'value') : recordText(value));
  return exitCodes.done;
}

/** Says what a setting without a value and a default is for. */
function describeUnset(key: string, [area = '', ...names]: readonly string[]): string {
  const words =
    area === 'profiles' ? own(profileReference, names[1] ?? '') : fieldOf(settingsReference, [area, ...names]);
  return `${key} is not set.${typeof words === 'string' ? ` ${words.replaceAll('`', '')}` : ''}`;
}

/** A setting's default; undefined if it has none. */
async function defaultOf([area = '', ...names]: readonly string[]): Promise<unknown> {
  const [command] = names;
  if (area === 'triage' && command === 'author') return defaultAuthor();
  if (area !== 'keys' || command === undefined) return fieldOf(settingDefaults, [area, ...names]);
  const { defaultKeys } = await import('./start-checks.ts');
  return defaultKeys(command);
}

/** Shown in place of a key, since others may watch the terminal. The file holds the key. */
const hiddenKey = '********';

function withoutSecrets(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, inner]) => {
    return [name, secretNames.some(secret => secret === name) ? hiddenKey : withoutSecrets(inner)];
  });
  return Object.fromEntries(fields);
}

function fieldOf(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  return isRecord(value) ? fieldOf(own(value, name), rest) : undefined;
}

/** Sets a nested value, creating objects along the way. */
function put(target: object, names: readonly string[], value: unknown): void {
  const [name = '', ...rest] = names;
  if (rest.length === 0) {
    Object.defineProperty(target, name, { value, ...plainProperty });
    return;
  }
  const inner = own(target as Record<string, unknown>, name);
  const next = typeof inner === 'object' && inner !== null ? inner : {};
  Object.defineProperty(target, name, { value: next, ...plainProperty });
  put(next, rest, value);
}

/** Removes a nested value, and the groups of settings, but not the profile, that are empty without it. */
function remove(target: object, names: readonly string[]): void {
  const group = names.slice(0, -1);
  const inner = fieldOf(target, group);
  if (!isRecord(inner)) return;
  Reflect.deleteProperty(inner, names.at(-1) ?? '');
  const isKept = group.length === 0 || (group[0] === 'profiles' && group.length <= 2);
  if (!isKept && Object.keys(inner).length === 0) remove(target, group);
}

/** Why a setting cannot have a value, regardless of other settings. */
function issuesOf(names: readonly string[], value: unknown) {
  const alone = {};
  put(alone, names, value);
  return knownSettings().safeParse(alone).error?.issues ?? [];
}

/** The allowed values of a setting; empty if it takes any. */
export function settingChoices(key: string): readonly string[] {
  const [area, , field, name] = keyParts(key);
  if (area === 'profiles' && field === 'assumptions' && switchAssumptions.some(each => each === name))
    return ['yes', 'no'];
  // No setting takes a value of this type, so the error names the right type.
  const [issue] = issuesOf(keyParts(key), Symbol('none'));
  if (issue?.code === 'invalid_value') return issue.values.map(String);
  return issue?.code === 'invalid_type' && issue.expected === 'boolean' ? ['true', 'false'] : [];
}

/**
 * A setting's path, split into names. Names of commands, assumptions, profiles and benchmarks may contain dots; of several
 * readings, the one with the longest profile or benchmark counts.
 */
function keyParts(key: string, settings: Settings = {}): string[] {
  const parts = key.split('.');
  const [area, inner] = parts;
  if (area === 'keys') return afterFirst(parts);
  const at = area === 'profiles' ? 1 : area === 'alarms' && inner === 'benchmarks' ? 2 : parts.length;
  const named = fieldOf(settings, parts.slice(0, at));
  for (let end = parts.length; end > at; end -= 1) {
    const name = parts.slice(at, end).join('.');
    const rest = parts.slice(end);
    const names = [...parts.slice(0, at), name, ...(rest[0] === 'assumptions' ? afterFirst(rest) : rest)];
    if (rest.length === 0 ? isRecord(named) && own(named, name) !== undefined : isSetting(names)) return names;
  }
  return parts;
}

/** The path with everything after its first name as one name. */
const afterFirst = ([first = '', ...rest]: readonly string[]): string[] =>
  rest.length > 0 ? [first, rest.join('.')] : [first];

/**
 * @throws CommandError for settings that would break every later command: a key for an unknown command, a default
 * profile that does not exist, two forms of a secret, an unknown assumption, or an address that its key must not be sent
 * to
 */
async function checkSettings(
  [area, profile, ...names]: readonly string[],
  settings: Settings,
  environment: Environment,
): Promise<void> {
  if (area === 'keys' || area === 'home') {
    const { checkKeys, homePlace } = await import('./start-checks.ts');
    const settingsPath = 'the new settings';
    checkKeys({ preferences: { keys: settings.keys ?? {} }, settingsPath });
    homePlace({ preferences: { home: settings.home }, settingsPath });
  }
  if (settings.defaultProfile !== undefined && (area === 'profiles' || area === 'defaultProfile'))
    requireProfile(settings, settings.defaultProfile);
  if (area !== 'profiles') return;
  for (const [name, settled] of Object.entries(settings.profiles ?? {}))
    if (profile === undefined || profile === name) checkProfile(name, settled, names, environment);
}

/** @param names the changed setting; without it, all of the profile's settings are checked */
function checkProfile(
  profile: string,
  settled: ProfileSettings,
  [field, assumption]: readonly string[],
  environment: Environment,
): void {
  for (const secret of secretNames) {
    const forms = ['', 'Env', 'File', 'Command'].map(form => `${secret}${form}`);
    const [first, second] = forms.filter(form => own<unknown>(settled, form) !== undefined);
    if (first !== undefined && secret !== 'upstreamKey' && field === 'baseUrl' && settled.baseUrl === undefined)
      throw new CommandError(
        `Without an address, profiles.${profile} names the local service, which does not take ${first}. First: benchtop config unset profiles.${profile}.${first}`,
      );
    if (second === undefined || (field !== undefined && !forms.includes(field))) continue;
    if (field === undefined) throw new CommandError(`profiles.${profile} takes ${first} or ${second}, not both.`);
    const other = first === field ? second : first;
    throw new CommandError(
      `profiles.${profile} already has ${other}. First: benchtop config unset profiles.${profile}.${other}`,
    );
  }
  for (const [name, text] of Object.entries(settled.assumptions ?? {})) {
    if ((field ?? 'assumptions') !== 'assumptions' || (assumption ?? name) !== name) continue;
    const wrong = assumptionProblem(name, String(text));
    if (wrong) throw new CommandError(`profiles.${profile}.assumptions.${name} ${wrong}.`);
  }
  // The variable overrides the file, as it does when the profile is used.
  const isAllowed = environmentLayer(environment).settings.allowInsecureHttp ?? settled.allowInsecureHttp === true;
  for (const name of addressFields) {
    const address = settled[name];
    if (address === undefined || ![undefined, name, 'allowInsecureHttp'].includes(field)) continue;
    const problem = addressProblem(address, isAllowed);
    if (problem) throw new CommandError(`The address in profiles.${profile}.${name} cannot be used: ${problem.reason}`);
  }
}

const secretNames: readonly CredentialName[] = ['apiKey', 'inferenceToken', 'upstreamKey'];

/** The profile settings that hold an address. */
const addressFields = ['baseUrl', 'inferenceUrl', 'upstream'] as const;

const isSetting = (names: readonly string[]): boolean =>
  !issuesOf(names, undefined).some(({ code }) => code === 'unrecognized_keys') &&
  !names.includes('') &&
  !names.includes('__proto__');

/** A setting's path, split into names. @throws CommandError for an unknown setting */
function settingNamed(key: string, settings: Settings): readonly string[] {
  const names = keyParts(key, settings);
  if (!isSetting(names)) throw new CommandError(`There is no setting ${key || 'with an empty name'}.`);
  return names;
}

/** A setting's value: JSON, or else plain text if the setting takes it. @throws CommandError for any other value */
function settingValue(key: string, names: readonly string[], text: string): unknown {
  const value = jsonOrText(text);
  const [issue] = issuesOf(names, value);
  if (!issue) return value;
  // A setting that takes text may have a value that looks like a number.
  if (issuesOf(names, text).length === 0) return text;
  if (issue.code === 'unrecognized_keys') throw new CommandError(`${key} has no ${issue.keys.join(', ')}.`);
  const place = issue.path.map(String).join('.');
  throw new CommandError(`${place} ${explain(issue).replace(/^must be (?=one of |an? |true )/, 'takes ')}.`);
}

/** The names of all fields of a value, at any depth. */
const fieldNames = (value: unknown): readonly string[] =>
  isRecord(value) ? Object.entries(value).flatMap(([name, inner]) => [name, ...fieldNames(inner)]) : [];

/** Other users can read arguments, and shells save them. @throws CommandError for a secret in them */
function checkNoSecret(names: readonly string[], value: unknown, path: string): void {
  const [area, profile = 'NAME'] = names;
  const given = area === 'profiles' ? [...names.slice(2), ...fieldNames(value)] : [];
  const secret = secretNames.find(name => given.includes(name));
  if (secret === undefined) return;
  throw new CommandError(
    `A secret does not belong in the arguments, which other users and the shell's history can see. Nothing was saved. Set profiles.${profile}.${secret}Env, ${secret}File or ${secret}Command to where it is, or write ${secret} into ${path} with an editor.`,
  );
}

export async function setSetting(
  { args: [key = '', text = ''], flags }: CommandInput<'config set'>,
  io: CommandIo,
): Promise<number> {
  const path = pathIn(io);
  const { settings } = readSettings(path);
  const names = settingNamed(key, settings);
  const value = settingValue(key, names, text);
  checkNoSecret(names, value, path);
  await changeChecked(path, names, all => put(all, names, value), io);
  if (flags.json) await io.print(recordText({ key, value }));
  return exitCodes.done;
}

export async function unsetSetting(
  { args: [key = ''], flags }: CommandInput<'config unset'>,
  io: CommandIo,
): Promise<number> {
  const path = pathIn(io);
  const { settings } = readSettings(path);
  const names = settingNamed(key, settings);
  const [area, profile, field] = names;
  if (area === 'profiles' && field === undefined)
    throw new CommandError(`To remove a profile: benchtop profile remove ${profile ?? 'NAME'}`);
  if (fieldOf(settings, names) === undefined) throw new CommandError(`${key} is not set.`, exitCodes.failed);
  await changeChecked(path, names, all => remove(all, names), io);
  if (flags.json) await io.print(recordText({ key, value: null }));
  return exitCodes.done;
}

/** Changes the settings file, unless it could not be used then. @throws CommandError */
async function changeChecked(
  path: string,
  names: readonly string[],
  change: (settings: Settings) => void,
  { environment }: CommandIo,
): Promise<void> {
  const changed = structuredClone(readSettings(path).settings);
  change(changed);
  await checkSettings(names, changed, environment);
  await changeSettings(path, change);
}

const plainProperty = { enumerable: true, writable: true, configurable: true } as const;
