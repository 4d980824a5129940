import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { errorCode, errorMessage } from '../base/errors.ts';
import { own } from '../base/own-property.ts';
import { runProgram } from '../base/run-program.ts';
import type { Environment } from '../text/terminal.ts';
import { ConfigError, describeOrigin, type Origin } from './origin.ts';
import { settingPath } from './paths.ts';
import { refuseShared } from './permissions.ts';
import type { ProfileSettings } from './schema.ts';

/**
 * Reads the secret from its source on each call, since a file or a command may return a new one. Rejects with a
 * ConfigError that names the setting but never the secret. The signal kills a running command.
 */
type Credential = (signal?: AbortSignal) => Promise<string>;

export interface CredentialSource {
  readonly origin: Origin;
  readonly get: Credential;
  /** The program that prints the secret, and its arguments. */
  readonly command: readonly string[] | undefined;
  /** Absolute paths of files that the secret may come from: a change to one may change the secret. */
  readonly files: readonly string[];
}

/** A profile's three secrets, each in four forms: `apiKey`, `apiKeyEnv`, `apiKeyFile`, `apiKeyCommand`. */
export type CredentialName = 'apiKey' | 'inferenceToken' | 'upstreamKey';

/** One source of a profile's settings, such as the environment. */
export interface CredentialPlace {
  readonly settings: ProfileSettings;
  readonly originOf: (key: keyof ProfileSettings) => Origin;
  /** Relative paths are resolved against this folder. */
  readonly base: string;
}

export interface CredentialContext {
  readonly environment: Environment;
  /** Every secret is added as soon as it is read, so that redaction covers it. */
  readonly secrets: Set<string>;
}

/** How long a command, or a shell's pipe, may take, in milliseconds. */
const timeoutMs = 15_000;
const pollIntervalMs = 20;
const maxSecretBytes = 64 * 1_024;

/** The credential that a source sets, if any. @throws ConfigError if it sets more than one form */
export function credentialAt(
  place: CredentialPlace,
  name: CredentialName,
  context: CredentialContext,
): CredentialSource | undefined {
  const { settings, originOf } = place;
  const forms = ([name, `${name}Env`, `${name}File`, `${name}Command`] as const).filter(key => settings[key]);
  const [form, second] = forms;
  if (form === undefined) return undefined;
  const origin = originOf(form);
  if (second !== undefined) {
    const both = `${describeOrigin(origin)} and ${describeOrigin(originOf(second))}`;
    throw new ConfigError(`Two settings set the same secret: ${both}. Remove one.`);
  }
  const literal = settings[name];
  const variable = settings[`${name}Env`];
  const path = settings[`${name}File`];
  const command = settings[`${name}Command`];
  const settingValue = () => literal ?? (variable === undefined ? undefined : own(context.environment, variable));
  // Added before the first read, so that redaction covers it.
  const secret = settingValue();
  if (secret) context.secrets.add(secret.trim());
  const fetch = async (signal: AbortSignal | undefined): Promise<string> => {
    if (command !== undefined) return runCommand(command, describeOrigin(origin), signal);
    if (path !== undefined) return readSecret(settingPath(path, place.base), describeOrigin(origin), signal);
    const value = settingValue();
    if (value) return value;
    throw new ConfigError(
      `${describeOrigin(origin)} names the environment variable ${variable}, which is not set. Set it, or name another variable.`,
    );
  };
  const get: Credential = async signal => {
    const read = checkSecret(await fetch(signal), describeOrigin(origin));
    context.secrets.add(read);
    return read;
  };
  const files = path === undefined ? (command ?? []).slice(1).filter(isAbsolute) : [settingPath(path, place.base)];
  return { origin, get, command, files };
}

/** A header can carry only visible ASCII on one line. */
function checkSecret(text: string, setting: string): string {
  const secret = text.trim();
  if (secret === '') throw new ConfigError(`${setting} returned an empty secret.`);
  if (!/^[!-~]+$/.test(secret))
    throw new ConfigError(`The secret from ${setting} cannot be sent: it must be one line of ASCII without spaces.`);
  return secret;
}

async function readSecret(path: string, setting: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    // Without O_NONBLOCK, opening a named pipe without a writer blocks until there is one.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      const refusal = refusedAs(path, stats);
      if (refusal) throw new ConfigError(`${path} ${refusal}; ${setting} reads a secret from it.`);
      refuseShared(path, stats, 'read', `${setting} reads a secret from it`);
      const secret = await readUpTo(file, maxSecretBytes, signal);
      if (secret !== undefined) return secret;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = errorCode(error);
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError(`${path} ${what}; ${setting} reads a secret from it.`);
  }
  const seconds = timeoutMs / 1_000;
  throw new ConfigError(`${path} returned no secret within ${seconds} seconds; ${setting} reads one from it.`);
}

/**
 * Why a secret cannot be read from this path; undefined if it can. A named pipe may never get a writer, and each read
 * would need a new one. The shell opens both ends of its own pipes (`<(pass show benchtop)`).
 */
function refusedAs(path: string, stats: Stats): string | undefined {
  const isOfShell = stats.isFIFO() && /^\/(dev\/(fd\/|stdin$)|proc\/)/.test(path);
  if (stats.isFIFO() && !isOfShell) return 'is a named pipe, not a file: use a file or a command';
  if (!stats.isFile() && !isOfShell) return 'is not a file';
  if (stats.size > maxSecretBytes) return `is larger than ${maxSecretBytes / 1_024} KiB, the limit for a secret`;
  return undefined;
}

/** Reads a file or a pipe, up to a size limit; undefined if it took too long or the signal aborted. */
async function readUpTo(file: FileHandle, size: number, signal: AbortSignal | undefined): Promise<string | undefined> {
  const buffer = Buffer.alloc(size);
  let length = 0;
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline && !signal?.aborted) {
    // EAGAIN: the pipe's writer has nothing ready yet.
    const bytesRead = await file.read(buffer, length, buffer.length - length, null).then(
      read => read.bytesRead,
      (error: unknown) => (errorCode(error) === 'EAGAIN' ? undefined : Promise.reject(error)),
    );
    length += bytesRead ?? 0;
    if (bytesRead === 0 || length === size) return buffer.toString('utf8', 0, length);
    if (!bytesRead) await wait(pollIntervalMs);
  }
  return undefined;
}

/**
 * Runs a program without a terminal, since a prompt would overwrite the screen. Only the secret is taken from its
 * output, which is never shown.
 *
 * @throws ConfigError
 */
async function runCommand(
  command: readonly string[],
  setting: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    return await runProgram(command, { limitMs: timeoutMs, signal });
  } catch (error) {
    const advice = 'Run it by hand to see its message; it must work without a prompt.';
    throw new ConfigError(`The command from ${setting} (${command[0]}) ${errorMessage(error)}. ${advice}`);
  }
}
