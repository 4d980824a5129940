import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { errorCode } from '../text/errors.ts';
import { own } from '../text/own.ts';
import type { Environment } from '../text/terminal.ts';
import { ConfigError, describeOrigin, type Origin } from './origin.ts';
import { settingPath } from './paths.ts';
import { refuseShared } from './permissions.ts';
import type { ProfileSettings } from './schema.ts';

/**
 * Reads the secret from its source each time, since a file or a command may return a new one. Rejects with a
 * ConfigError that names the setting and never the secret. Once the signal aborts, a command is killed.
 */
export type Credential = (signal?: AbortSignal) => Promise<string>;

export interface CredentialSource {
  readonly origin: Origin;
  readonly get: Credential;
  /** Absolute paths of the files it may come from: once one of them changes, so may the secret. */
  readonly files: readonly string[];
}

/** The three secrets of a profile, each in four forms: `apiKey`, `apiKeyEnv`, `apiKeyFile`, `apiKeyCommand`. */
export type CredentialName = 'apiKey' | 'inferenceToken' | 'upstreamKey';

/** Where the settings of a profile are written. */
export interface CredentialPlace {
  readonly settings: ProfileSettings;
  readonly originOf: (key: keyof ProfileSettings) => Origin;
  /** Relative paths are resolved against this folder. */
  readonly base: string;
}

export interface CredentialContext {
  readonly environment: Environment;
  /** Every secret is added as soon as it is known, so that redaction covers it. */
  readonly secrets: Set<string>;
}

/** How long a command, or a pipe, may take. */
const patienceMs = 15_000;
const lookAgainMs = 20;
const maximumSecretBytes = 64 * 1_024;

/** The credential that one place sets, or undefined. @throws ConfigError if more than one form is set */
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
    throw new ConfigError(`Two settings give the same secret: ${both}. Remove one of them.`, origin);
  }
  const literal = settings[name];
  const variable = settings[`${name}Env`];
  const path = settings[`${name}File`];
  const command = settings[`${name}Command`];
  const known = () => literal ?? (variable === undefined ? undefined : own(context.environment, variable));
  // Added before it is first read, so that redaction covers it.
  const secret = known();
  if (secret) context.secrets.add(secret.trim());
  const fetch = async (signal: AbortSignal | undefined): Promise<string> => {
    if (command !== undefined) return runCommand(command, origin, signal);
    if (path !== undefined) return readSecret(settingPath(path, place.base), origin, signal);
    const value = known();
    if (value) return value;
    throw new ConfigError(
      `${describeOrigin(origin)} names the environment variable ${variable}, which is not set. Set it, or name another.`,
      origin,
    );
  };
  const get: Credential = async signal => {
    const read = checkSecret(await fetch(signal), origin);
    context.secrets.add(read);
    return read;
  };
  const files = path === undefined ? (command ?? []).slice(1).filter(isAbsolute) : [settingPath(path, place.base)];
  return { origin, get, files };
}

/** What a header can carry: visible ASCII on one line. */
function checkSecret(text: string, origin: Origin): string {
  const secret = text.trim();
  if (secret === '')
    throw new ConfigError(`${describeOrigin(origin)} gave nothing where a secret was expected.`, origin);
  if (!/^[!-~]+$/.test(secret)) {
    throw new ConfigError(
      `What ${describeOrigin(origin)} gave cannot be sent as a secret: it must be one line of ASCII without spaces.`,
      origin,
    );
  }
  return secret;
}

async function readSecret(path: string, origin: Origin, signal: AbortSignal | undefined): Promise<string> {
  const setting = describeOrigin(origin);
  try {
    // A named pipe without a writer would not let itself be opened, nor the process be ended.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      refuseShared(path, stats, 'read', `${setting} takes a secret from it`, origin);
      // Nothing to read means that no writer has come yet, except in the pipe of a shell (<(pass show benchtop)).
      const awaitsWriter = stats.isFIFO() && !/^\/(dev\/fd|proc)\//.test(path);
      const secret = await readUpTo(file, maximumSecretBytes, awaitsWriter, signal);
      if (secret !== undefined) return secret;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = errorCode(error);
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError(`${path} ${what}; ${setting} takes a secret from it.`, origin);
  }
  const seconds = patienceMs / 1_000;
  throw new ConfigError(`${path} gave no secret within ${seconds} seconds; ${setting} takes one from it.`, origin);
}

/** The text of a file or a pipe up to its end or a size; undefined if it took too long, or the signal aborted. */
async function readUpTo(
  file: FileHandle,
  size: number,
  awaitsWriter: boolean,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const buffer = Buffer.alloc(size);
  let length = 0;
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline && !signal?.aborted) {
    // EAGAIN: a pipe whose writer is still busy.
    const bytesRead = await file.read(buffer, length, buffer.length - length, null).then(
      read => read.bytesRead,
      (error: unknown) => (errorCode(error) === 'EAGAIN' ? undefined : Promise.reject(error)),
    );
    length += bytesRead ?? 0;
    const isEnd = bytesRead === 0 && !(awaitsWriter && length === 0);
    if (isEnd || length === size) return buffer.toString('utf8', 0, length);
    if (!bytesRead) await wait(lookAgainMs);
  }
  return undefined;
}

/**
 * Runs a program without a shell, so no word is expanded or split. It has no input and no terminal (a prompt would
 * overwrite the screen), and is killed with all its children after 15 seconds, once the signal aborts, and when this
 * process exits. Only the secret is taken from its output; neither output stream is ever shown.
 */
function runCommand(command: readonly string[], origin: Origin, signal?: AbortSignal): Promise<string> {
  const [program = '', ...parameters] = command;
  const setting = describeOrigin(origin);
  return new Promise((resolve, reject) => {
    const refuse = (what: string): void => {
      const advice = 'Run it by hand to see what it says; it must work without asking anything.';
      reject(new ConfigError(`The command of ${setting} (${program}) ${what}. ${advice}`, origin));
    };
    const inOwnGroup = process.platform !== 'win32';
    const child = spawn(program, parameters, {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: inOwnGroup,
      shell: false,
    });
    const end = (): void => {
      child.stdout.destroy();
      try {
        if (inOwnGroup && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
        else child.kill('SIGKILL');
      } catch {
        // It exited by itself.
      }
    };
    const timer = setTimeout(() => {
      refuse(`did not end within ${patienceMs / 1_000} seconds`);
      end();
    }, patienceMs);
    const stop = (): void => {
      refuse('was stopped before it ended');
      end();
    };
    signal?.addEventListener('abort', stop);
    process.on('exit', end);
    const release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      process.off('exit', end);
    };
    if (signal?.aborted) stop();
    const chunks: Buffer[] = [];
    let length = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= maximumSecretBytes) return;
      refuse('printed more than a secret can be');
      end();
    });
    child.on('error', error => {
      release();
      refuse(errorCode(error) === 'ENOENT' ? 'was not found' : `could not be started (${errorCode(error)})`);
    });
    child.on('close', (code, signal) => {
      release();
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else refuse(signal ? `was ended by ${signal}` : `failed with exit code ${code}`);
    });
  });
}
