/** Finds the local service of a data folder, starts it where it does not run, and stops it. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Upstream } from '../engine/upstream.ts';
import { makeDataFolder, readAddress, type ServiceAddress } from './files.ts';

export interface EnsureOptions {
  readonly dataFolder: string;
  /** How this program is started; `serve` and its flags are added. */
  readonly entry: { readonly command: string; readonly args: readonly string[] };
  /** A server that is to answer where no local model does. A service that runs without it is started anew. */
  readonly upstream?: Upstream | undefined;
}

export interface LocalAddress {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pid: number;
  readonly upstream: string | null;
}

const askMs = 2_000;
const startMs = 15_000;
const lookEveryMs = 10;
const logFile = 'service.log';
/** Carries the key of the upstream server to the process that is started. */
const upstreamKeyVariable = 'BENCHTOP_UPSTREAM_KEY';

function ask(method: 'GET' | 'POST', { base_url, api_key }: ServiceAddress, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request(
      `${base_url}${path}`,
      { method, headers: { 'X-API-Key': api_key }, timeout: askMs },
      answer => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', part => {
          text += part;
        });
        answer.on('end', () => {
          try {
            resolve(JSON.parse(text));
          } catch (error) {
            reject(error);
          }
        });
      },
    );
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    call.end();
  });
}

/**
 * The service that runs for this folder, if one does. A file that a killed process left behind leads nowhere, or to a
 * program that is not the one that wrote it: only the answer with the file's own instance id counts.
 */
export async function findService(dataFolder: string): Promise<LocalAddress | undefined> {
  const address = readAddress(dataFolder);
  if (!address) return undefined;
  try {
    const health = (await ask('GET', address, '/local/health')) as { instance_id?: string; upstream?: string | null };
    if (health.instance_id !== address.instance_id) return undefined;
    const { base_url: baseUrl, api_key: apiKey, pid } = address;
    return { baseUrl, apiKey, pid, upstream: health.upstream ?? null };
  } catch {
    return undefined;
  }
}

function lastWords(dataFolder: string): string {
  try {
    return readFileSync(join(dataFolder, logFile), 'utf8').trim().split('\n').slice(-3).join('\n');
  } catch {
    return '';
  }
}

/**
 * The running service of this folder, started as a process of its own where none runs. Several callers at once get the
 * same one: of the processes they start only one can take the folder.
 *
 * @throws Error where it does not come up, with the last lines of its log
 */
export async function ensureLocalService({ dataFolder, entry, upstream }: EnsureOptions): Promise<LocalAddress> {
  const running = await findService(dataFolder);
  if (running && (!upstream || running.upstream === upstream.url)) return running;
  // What it was at goes on in the one that is started now.
  if (running) await stopService(dataFolder);
  makeDataFolder(dataFolder);
  const log = openSync(join(dataFolder, logFile), 'a', 0o600);
  const upstreamFlags = upstream ? ['--upstream', upstream.url, '--upstream-key-env', upstreamKeyVariable] : [];
  const flags = ['serve', '--data', dataFolder, '--background', ...upstreamFlags];
  const child = spawn(entry.command, [...entry.args, ...flags], {
    detached: true,
    stdio: ['ignore', log, log],
    // Arguments are everybody's to read; the environment is the user's own.
    env: { ...process.env, ...(upstream ? { [upstreamKeyVariable]: upstream.key ?? '' } : {}) },
  });
  closeSync(log);
  let failed: string | undefined;
  child.on('error', error => {
    failed = error.message;
  });
  child.on('exit', code => {
    // 0: another process was first; its address appears by itself.
    if (code !== 0) failed = `it ended with code ${code}`;
  });
  child.unref();
  const deadline = Date.now() + startMs;
  while (Date.now() < deadline && failed === undefined) {
    if (readAddress(dataFolder)) {
      const found = await findService(dataFolder);
      if (found) return found;
    }
    await wait(lookEveryMs);
  }
  const words = lastWords(dataFolder);
  throw new Error(
    `The local service did not start: ${failed ?? `no answer in ${startMs / 1000} s`}.${words === '' ? '' : `\n${words}`}\nNothing was lost. \`benchtop serve\` shows what is wrong.`,
  );
}

/** Stops the service of this folder. Gives whether one ran. */
export async function stopService(dataFolder: string): Promise<boolean> {
  const address = readAddress(dataFolder);
  if (!address || !(await findService(dataFolder))) return false;
  await ask('POST', address, '/local/stop');
  while (await findService(dataFolder)) await wait(lookEveryMs);
  return true;
}
