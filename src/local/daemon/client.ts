/** Finds the local service of a data folder, starts it if it does not run, and stops it. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { Upstream } from '../engine/upstream.ts';
import {
  announceSuccessor,
  isFolderLocked,
  isSuccessorAnnounced,
  makeDataFolder,
  readAddress,
  type ServiceAddress,
} from './files.ts';
import { decide, fingerprintOf, type Moment } from './settings.ts';

// An `import` of it would load Node's fetch as well, which takes 20 ms.
const { request } = process.getBuiltinModule('node:http');

export interface EnsureOptions {
  readonly dataFolder: string;
  /** How this program is started; `serve` and its flags are added. */
  readonly entry: { readonly command: string; readonly args: readonly string[] };
  /** Version of this program; a service of another one is replaced. */
  readonly version: string;
  /** A server that is to answer if no local model does. */
  readonly upstream?: Upstream | undefined;
  /** Whether a service that runs with other settings is replaced, used, or waited for. */
  readonly moment?: Moment;
  /** Ends the waiting; a service that has been started by then comes up all the same. */
  readonly signal?: AbortSignal | undefined;
}

/** What a service says of itself. Those of older versions say less. */
const health = z.object({
  instance_id: z.string(),
  upstream: z.optional(z.nullable(z.string())),
  version: z.optional(z.string()),
  fingerprint: z.optional(z.string()),
  background: z.optional(z.boolean()),
  leases: z.optional(z.number()),
});

export interface LocalAddress {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pid: number;
  readonly instanceId: string;
  /** Base URL of the server behind it, or null. */
  readonly upstream: string | null;
  readonly version: string;
  readonly fingerprint: string;
  /** Started for a screen, and not by hand. */
  readonly background: boolean;
  /** Screens that hold it awake. */
  readonly leases: number;
}

export interface EnsuredAddress extends LocalAddress {
  /** How it differs from what was asked for, in a sentence. */
  readonly note: string | undefined;
}

const askMs = 2_000;
const silentMs = 800;
const startMs = 15_000;
/** What runs may take so long to be saved. */
const stopMs = 60_000;
const lookEveryMs = 10;
const logFile = 'service.log';
const largestLog = 1024 * 1024;
/** Carries the key of the upstream server to the process that is started. */
const upstreamKeyVariable = 'BENCHTOP_UPSTREAM_KEY';

class NoAnswer extends Error {}

function ask(
  method: 'GET' | 'POST',
  { base_url, api_key }: Pick<ServiceAddress, 'base_url' | 'api_key'>,
  path: string,
  timeout = askMs,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request(`${base_url}${path}`, { method, headers: { 'X-API-Key': api_key }, timeout }, answer => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', part => {
        text += part;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error);
        }
      });
    });
    call.on('timeout', () => call.destroy(new NoAnswer()));
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
    const said = health.parse(await ask('GET', address, '/local/health'));
    if (said.instance_id !== address.instance_id) return undefined;
    const { base_url: baseUrl, api_key: apiKey, pid, instance_id: instanceId } = address;
    const { upstream = null, version = '', fingerprint = '', background = true, leases = 0 } = said;
    return { baseUrl, apiKey, pid, instanceId, upstream, version, fingerprint, background, leases };
  } catch {
    return undefined;
  }
}

/** Whether a service is there and does not answer in time: it is stopped, or has too much to do. */
export async function isSilent({ baseUrl, apiKey }: Pick<LocalAddress, 'baseUrl' | 'apiKey'>): Promise<boolean> {
  try {
    await ask('GET', { base_url: baseUrl, api_key: apiKey }, '/local/health', silentMs);
    return false;
  } catch (error) {
    return error instanceof NoAnswer;
  }
}

/** Follows what a process that is started writes into the log of the folder. */
class Log {
  readonly #path: string;
  readonly #from: number;
  readonly fd: number;

  constructor(dataFolder: string) {
    this.#path = join(dataFolder, logFile);
    this.fd = openSync(this.#path, 'a', 0o600);
    if (statSync(this.#path).size > largestLog) truncateSync(this.#path);
    this.#from = statSync(this.#path).size;
  }

  /** The last lines of this start. */
  lastLines(): string {
    try {
      const text = readFileSync(this.#path).subarray(this.#from).toString('utf8');
      return text.trim().split('\n').slice(-3).join('\n');
    } catch {
      return '';
    }
  }
}

/**
 * The running service of this folder, started as a process of its own if none runs. Several callers at once get the
 * same one: of the processes they start only one can take the folder.
 *
 * @throws Error if it does not come up, with the last lines of its log
 */
export async function ensureLocalService(options: EnsureOptions): Promise<EnsuredAddress> {
  const { dataFolder, moment = 'start', signal } = options;
  const running = await (moment === 'lost' ? findSuccessor(dataFolder, signal) : findService(dataFolder));
  if (running) {
    const decision = judge(running, options);
    if (decision.use) return { ...running, note: decision.note };
    // What it was doing continues in the one that is started now.
    await stopService(dataFolder, { successor: true });
  }
  const started = await startService(options);
  // Another program may have been faster; its service is used as it is.
  const decision = judge(started, { ...options, moment: 'lost' });
  return { ...started, note: decision.use ? decision.note : undefined };
}

function judge(running: LocalAddress, { dataFolder, version, upstream, moment = 'start' }: EnsureOptions) {
  const fingerprint = fingerprintOf(dataFolder, { upstream });
  return decide(running, { version, fingerprint, upstream: upstream?.url }, moment);
}

/** The service that runs, or that another program has announced; undefined if none does, or none comes. */
async function findSuccessor(dataFolder: string, signal?: AbortSignal): Promise<LocalAddress | undefined> {
  for (;;) {
    const announced = isSuccessorAnnounced(dataFolder);
    const found = await findService(dataFolder);
    if (found || !announced) return found;
    await wait(lookEveryMs, undefined, { ...(signal && { signal }) });
  }
}

async function startService({ dataFolder, entry, upstream, signal }: EnsureOptions): Promise<LocalAddress> {
  makeDataFolder(dataFolder);
  const log = new Log(dataFolder);
  const upstreamFlags = upstream ? ['--upstream', upstream.url, '--upstream-key-env', upstreamKeyVariable] : [];
  const flags = ['serve', '--data', dataFolder, '--background', ...upstreamFlags];
  const child = spawn(entry.command, [...entry.args, ...flags], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    // Arguments can be read by every user of the machine, the environment only by this one.
    env: { ...process.env, ...(upstream ? { [upstreamKeyVariable]: upstream.key ?? '' } : {}) },
  });
  closeSync(log.fd);
  let failed: string | undefined;
  child.on('error', error => {
    failed = error.message;
  });
  child.on('exit', (code, killedBy) => {
    // 0: another process was first; its address appears by itself.
    if (code !== 0) failed = killedBy ? `it was ended by ${killedBy}` : `it ended with code ${code}`;
  });
  child.unref();
  const deadline = performance.now() + startMs;
  while (performance.now() < deadline && failed === undefined) {
    if (readAddress(dataFolder)) {
      const found = await findService(dataFolder);
      if (found) return found;
    }
    await wait(lookEveryMs, undefined, { ...(signal && { signal }) });
  }
  const why = failed ?? `no answer in ${startMs / 1000} s${holderWords(dataFolder)}`;
  const lines = log.lastLines();
  throw new Error(
    `The local service did not start: ${why}.${lines === '' ? '' : `\n${lines}`}\nNothing was lost. \`benchtop serve\` shows what is wrong.`,
  );
}

/** Says which process has a folder whose service does not answer. */
function holderWords(dataFolder: string): string {
  if (!isFolderLocked(dataFolder)) return '';
  const pid = readAddress(dataFolder)?.pid;
  return pid === undefined
    ? ', because another process still has the data folder'
    : `, because process ${pid} has the data folder and does not answer`;
}

/** Whether another service than this one has written its address. */
function isReplaced(dataFolder: string, stopped: LocalAddress | undefined): boolean {
  const address = readAddress(dataFolder);
  return stopped !== undefined && address !== undefined && address.instance_id !== stopped.instanceId;
}

export interface StopOptions {
  /** Makes open screens wait for the service that is started next, instead of starting their own. */
  readonly successor?: boolean;
}

/**
 * Stops the service of this folder, and waits until another can be started, or has been: an open screen starts one the
 * moment it can. Returns what ran, or undefined.
 *
 * @throws Error if a process has the folder that does not answer, or does not end
 */
export async function stopService(
  dataFolder: string,
  { successor = false }: StopOptions = {},
): Promise<LocalAddress | undefined> {
  const running = await findService(dataFolder);
  const address = readAddress(dataFolder);
  if (successor) announceSuccessor(dataFolder);
  if (running && address) await ask('POST', address, `/local/stop${successor ? '?successor=1' : ''}`);
  // The address goes first, the lock last, when all that ran has been saved.
  const deadline = performance.now() + (running ? stopMs : askMs);
  while (isFolderLocked(dataFolder) && !isReplaced(dataFolder, running)) {
    if (performance.now() > deadline) {
      const pid = running?.pid ?? address?.pid;
      const which = pid === undefined ? 'A process' : `Process ${pid}`;
      throw new Error(`${which} has the data folder ${dataFolder} and does not end. End it by hand, then try again.`);
    }
    await wait(lookEveryMs);
  }
  return running;
}
