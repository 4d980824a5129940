import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type * as z from 'zod/mini';
import { errorCode, errorMessage } from '../base/errors.ts';
import { own } from '../base/own-property.ts';
import { type Danger, makePrivateFolder } from '../base/ownership.ts';
import { requirementOf } from '../contract/issues.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { writeAtomically } from './atomic-file.ts';
import { ConfigError } from './origin.ts';
import type { Paths } from './paths.ts';
import { refuseShared, refuseSharedFolder } from './permissions.ts';
import { profileNameProblem, type Settings, settings } from './schema.ts';

interface SettingsFile {
  readonly path: string;
  readonly settings: Settings;
  /** Whole sentences, e.g. about unknown keys. */
  readonly warnings: readonly string[];
}

/** Settings that hold a secret: a file with one must not be readable by others. */
const secret = /^(?:apiKey|inferenceToken|upstreamKey)$/;
/** Settings that are executed: a file with one may be readable by others, but not writable. */
const command = /Command$/;
/**
 * Settings that name the source of a secret. The secret is sent to the address in the same profile, so others must not
 * be able to change the file.
 */
const credential = /^(?:apiKey|inferenceToken|upstreamKey)(?:Env|File)$/;

export function settingsPath(paths: Paths): string {
  return join(paths.config, 'config.json');
}

/**
 * Reads `config.json`; a missing file counts as empty. Synchronous, because it is small and nothing can start without
 * it.
 *
 * @throws ConfigError that lists every error with its place, if the file is invalid, or if others may read it while it
 * holds secrets
 */
export function readSettings(path: string): SettingsFile {
  const file = readText(path);
  if (file === undefined) return { path, settings: {}, warnings: [] };
  const { settings: read, warnings } = check(path, parse(path, file.text));
  refuseUnsafe(path, file.stats, read);
  return { path, settings: read, warnings };
}

/** @throws ConfigError if others may read secrets in the file, or change a command or an address */
function refuseUnsafe(path: string, stats: Stats, read: Settings): void {
  const find = (wanted: RegExp): string | undefined => {
    for (const [name, profile] of Object.entries(read.profiles ?? {})) {
      const key = Object.keys(profile).find(each => wanted.test(each));
      if (key !== undefined) return `profiles.${name}.${key}`;
    }
    return undefined;
  };
  const [hidden, run] = [find(secret), find(command)];
  const refuse = (danger: Danger, what: string, why: string): void => {
    refuseShared(path, stats, danger, `${what} in it ${why}`);
    // The file may be a link, for example into a dotfiles repository.
    const folders = new Set([dirname(path), dirname(realpathSync(path))]);
    for (const folder of folders) refuseSharedFolder(folder, `${what} in its ${basename(path)} ${why}`);
  };
  if (hidden !== undefined) refuse('read', hidden, 'is secret');
  if (run !== undefined) refuse('change', run, 'is run');
  // Anyone who can change an address here can receive even a key from the environment.
  const named = find(credential);
  const owner = named === undefined ? 'your key' : `the key of ${named}`;
  if (read.profiles !== undefined) refuse('change', 'another address', `would get ${owner}`);
}

/**
 * Changes `config.json`: re-reads it, applies `change`, validates the result and replaces the file (0600). Unknown
 * keys are kept. Concurrent changes wait for one another.
 *
 * @throws ConfigError if the file is unsafe as for {@link readSettings}, if the result is invalid, or if another
 * program holds the lock for too long; FileError if the file cannot be written; any error from `change`. The file is
 * then unchanged
 */
export async function changeSettings(path: string, change: (settings: Settings) => void): Promise<void> {
  const unlock = await lockSettings(path);
  try {
    const file = readText(path);
    const json = file === undefined ? {} : parse(path, file.text);
    const { settings: safe } = check(path, structuredClone(json));
    // The new file is private, so content that others wrote into this one would look like the user's own.
    if (file) refuseUnsafe(path, file.stats, safe);
    // The content was just validated; only its unknown keys, which are kept, could fail a strict check.
    const before = nameProblems(json as Settings);
    change(json as Settings);
    check(path, structuredClone(json));
    // A bad profile name that was written by hand must not block other changes.
    const problem = nameProblems(json as Settings).find(each => !before.includes(each));
    if (problem !== undefined) throw new ConfigError(problem);
    await writeAtomically(path, `${JSON.stringify(json, undefined, 2)}\n`);
  } finally {
    unlock();
  }
}

/** In milliseconds. Generous: a change takes only a few. */
const lockMs = 10_000;
const lockAgainMs = 20;

/** Returns the function that releases the lock. @throws ConfigError if another program holds it for too long */
async function lockSettings(path: string): Promise<() => void> {
  const { takeLock } = await import('../base/file-lock.ts');
  for (const deadline = Date.now() + lockMs; Date.now() < deadline; await wait(lockAgainMs)) {
    try {
      makePrivateFolder(dirname(path));
      const unlock = takeLock(`${path}.lock`);
      if (unlock) return unlock;
    } catch {
      // If no lock can be created, the file cannot be written either, and that error is more specific.
      return () => {};
    }
  }
  throw new ConfigError(`Another benchtop is changing ${path}. Nothing was changed: try again.`);
}

function nameProblems({ profiles = {} }: Settings): string[] {
  return Object.keys(profiles).flatMap(name => profileNameProblem(name, own(profiles, name)?.baseUrl) ?? []);
}

/** In bytes. Generous: settings take up a few hundred. */
const largestFile = 4 * 1024 * 1024;

function readText(path: string): { text: string; stats: Stats } | undefined {
  let stats: Stats;
  try {
    // Without O_NONBLOCK, opening a named pipe without a writer blocks.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      stats = fstatSync(descriptor);
      if (stats.isFile() && stats.size <= largestFile) return { stats, text: readFileSync(descriptor, 'utf8') };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new ConfigError(`${path} cannot be read (${code}). Check its mode and owner.`);
  }
  const what = stats.isFile() ? `is larger than ${largestFile / 1024 / 1024} MB` : 'is not a plain file';
  throw new ConfigError(`${path} ${what}. It was not read: put a settings file in its place.`);
}

/** Takes only the position from the parser's message, which quotes text that may hold a secret. */
function parse(path: string, text: string): unknown {
  // An empty file has no settings.
  const json = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(json.trim() === '' ? '{}' : json);
  } catch (error) {
    const words = errorMessage(error);
    const place = /line (\d+) column (\d+)/.exec(words);
    const end = words.includes('end of JSON') ? ': it ends too early' : '';
    const where = place ? ` at line ${place[1]}, column ${place[2]}` : end;
    throw new ConfigError(`${path} is not valid JSON${where}. Correct it, or move it away to start without settings.`);
  }
}

/** Removes unknown keys from `json` and warns about each, so that they do not hide other errors. */
function check(path: string, json: unknown): { settings: Settings; warnings: string[] } {
  const warnings: string[] = [];
  for (;;) {
    const result = settings().safeParse(json);
    if (result.success) return { settings: result.data, warnings };
    const unknown = result.error.issues.filter(issue => issue.code === 'unrecognized_keys');
    if (unknown.length === 0) {
      const problems = result.error.issues.map(issue => `  ${placeOf(issue.path)} ${explain(issue)}`);
      throw new ConfigError(`${path} cannot be used:\n${problems.join('\n')}`);
    }
    for (const issue of unknown) {
      for (const key of issue.keys) {
        warnings.push(`${path}: ${placeOf([...issue.path, key])} is not a setting; it was ignored.`);
        removeKey(json, issue.path, key);
      }
    }
  }
}

function removeKey(json: unknown, path: readonly PropertyKey[], key: string): void {
  let at: unknown = json;
  for (const part of path) at = typeof at === 'object' && at !== null ? Reflect.get(at, part) : undefined;
  if (typeof at === 'object' && at !== null) Reflect.deleteProperty(at, key);
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the whole file' : sanitiseLine(path.map(String).join('.'), 'show');
}

const alarmRanges: readonly string[] = ['heldOut', 'trainer', 'evaluation'];

/** Describes one problem without the value, which may be a misplaced secret. */
export function explain(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return 'cannot be used as a name';
  if (issue.code === 'invalid_type' && issue.path.at(-1)?.toString().endsWith('Command')) {
    return 'must be a list of a program and its arguments, such as ["pass", "show", "benchtop"]';
  }
  if (issue.path[0] === 'alarms' && alarmRanges.includes(String(issue.path.at(-1))))
    return 'must be a range of means as a string, such as "0.2..1", or "off"';
  if (issue.path.at(-1) === 'priceUnit')
    return 'must be a currency and a number of tokens, such as "USD per 1M tokens"';
  if (issue.path.at(-1) === 'rewardRange') return 'must be a range of rewards as a string, such as "0..1"';
  return requirementOf(issue);
}
