/** Finds a data folder's local service, starts it if it is not running, and stops it. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod/mini';
import { errorCode } from '../../base/errors.ts';
import { Agents } from '../../net/agents.ts';
import { readBody } from '../../net/body.ts';
import { WireFailure } from '../../net/failure.ts';
import { exchange } from '../../net/wire.ts';
import type { Upstream } from '../engine/upstream.ts';
import {
  announceSuccessor,
  holderOf,
  isFolderLocked,
  isSuccessorAnnounced,
  makeDataFolder,
  readAddress,
  type ServiceAddress,
  startError,
} from './files.ts';
import { decide, fingerprintOf, type LocateReason } from './settings.ts';

interface EnsureOptions {
  readonly dataFolder: string;
  /** How this program is started; `serve` and its flags are added. */
  readonly entry: { readonly command: string; readonly args: readonly string[] };
  /** This program's version; a service of another version is replaced. */
  readonly version: string;
  /** A server for models that are not local. */
  readonly upstream?: Upstream | undefined;
  /** Why the service is needed, which determines whether a service with other settings is replaced. */
  readonly reason?: LocateReason;
  /** Stops waiting, but not a service that is already starting. */
  readonly signal?: AbortSignal | undefined;
}

/** A service's response to a health check. Older versions send fewer fields. */
const health = z.object({
  instance_id: z.string(),
  /** The upstream server's base URL. */
  upstream: z._default(z.nullable(z.string()), null),
  version: z._default(z.string(), ''),
  fingerprint: z._default(z.string(), ''),
  /** Whether it was started for a screen rather than by hand. */
  background: z._default(z.boolean(), true),
  /** How many screens are keeping it awake. */
  leases: z._default(z.number(), 0),
  /** Jobs that were set aside because the service crashed while they were running. */
  set_aside: z._default(z.array(z.object({ id: z.string(), kind: z.string(), at: z.string() })), []),
  /** Jobs that are waiting until an external problem, such as a full disk, is solved. */
  waiting: z._default(z.array(z.object({ id: z.string(), kind: z.string(), message: z.string() })), []),
});

export interface LocalAddress extends Readonly<Omit<z.output<typeof health>, 'instance_id'>> {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pid: number;
  readonly instanceId: string;
}

interface EnsuredAddress extends LocalAddress {
  /** How it differs from the requested settings, as a sentence. */
  readonly note: string | undefined;
}

const requestTimeoutMs = 2_000;
const probeTimeoutMs = 800;
/** Timeout for starting, once no other process holds the folder. */
const startMs = 15_000;
/** How long saving running work may take. */
const stopMs = 60_000;
/** How long a process may take to exit after a signal. */
const endMs = 2_000;
const pollIntervalMs = 10;
const logFile = 'service.log';
const largestLog = 1024 * 1024;
/** Passes the upstream server's key to the new process. */
const upstreamKeyVariable = 'BENCHTOP_UPSTREAM_KEY';

/** The largest response accepted. */
const maxBytes = 1024 * 1024;
const agents = new Agents(undefined);

/** @throws WireFailure if there is no response in time, Error if it is not JSON */
async function requestJson(
  method: 'GET' | 'POST',
  { base_url, api_key }: Pick<ServiceAddress, 'base_url' | 'api_key'>,
  path: string,
  timeoutMs = requestTimeoutMs,
): Promise<unknown> {
  const url = new URL(`${base_url}${path}`);
  const [agent, { signal }] = [await agents.get(url, 'read'), new AbortController()];
  const headers = { 'x-api-key': api_key };
  const answer = await exchange({ method, url, headers, agent, connectMs: timeoutMs, silenceMs: timeoutMs, signal });
  return JSON.parse(await readBody(answer, maxBytes));
}

/**
 * A folder's running service, if there is one. A killed process leaves its address file behind, and its port may now
 * belong to another program: only a response with the file's instance id counts.
 */
export async function findService(dataFolder: string): Promise<LocalAddress | undefined> {
  const address = readAddress(dataFolder);
  if (!address) return undefined;
  try {
    const { base_url: baseUrl, api_key: apiKey, pid, instance_id: instanceId } = address;
    const { instance_id, ...answer } = health.parse(await requestJson('GET', address, '/local/health'));
    return instance_id === instanceId ? { baseUrl, apiKey, pid, instanceId, ...answer } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a service exists but does not respond in time, e.g. because it is suspended or overloaded. */
export async function isSilent({ baseUrl, apiKey }: Pick<LocalAddress, 'baseUrl' | 'apiKey'>): Promise<boolean> {
  try {
    await requestJson('GET', { base_url: baseUrl, api_key: apiKey }, '/local/health', probeTimeoutMs);
    return false;
  } catch (error) {
    return error instanceof WireFailure && error.reason !== 'network';
  }
}

/** Follows the log that a starting process writes. */
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

  /** The last lines that this startup logged. */
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
 * A folder's running service, started as a separate process if none is running. Concurrent callers get the same one:
 * only one of the processes they start can lock the folder.
 *
 * @throws Error if it does not start, with the last lines of its log
 */
export async function ensureLocalService(options: EnsureOptions): Promise<EnsuredAddress> {
  const { dataFolder, reason = 'start', signal } = options;
  const running = await (reason === 'lost' ? findSuccessor(dataFolder, signal) : findService(dataFolder));
  if (running) {
    const decision = compareSettings(running, options);
    if (decision.use) return { ...running, note: decision.note };
    // The new service resumes its work.
    await stopService(dataFolder, { successor: true });
  }
  const started = await startService(options);
  // Another program may have started one first; use that.
  const decision = compareSettings(started, { ...options, reason: 'lost' });
  return { ...started, note: decision.use ? decision.note : undefined };
}

function compareSettings(running: LocalAddress, { dataFolder, version, upstream, reason = 'start' }: EnsureOptions) {
  const fingerprint = fingerprintOf(dataFolder, { upstream });
  return decide(running, { version, fingerprint, upstream: upstream?.url }, reason);
}

/** The running service, or a successor that another program has announced; undefined if there is none. */
async function findSuccessor(dataFolder: string, signal?: AbortSignal): Promise<LocalAddress | undefined> {
  for (;;) {
    const announced = isSuccessorAnnounced(dataFolder);
    const found = await findService(dataFolder);
    if (found || !announced) return found;
    await wait(pollIntervalMs, undefined, { ...(signal && { signal }) });
  }
}

async function startService({ dataFolder, entry, upstream, signal }: EnsureOptions): Promise<LocalAddress> {
  makeDataFolder(dataFolder);
  let log: Log;
  try {
    log = new Log(dataFolder);
  } catch (error) {
    throw startError(dataFolder, error);
  }
  const upstreamFlags = upstream ? ['--upstream', upstream.url, '--upstream-key-env', upstreamKeyVariable] : [];
  const flags = ['serve', '--data', dataFolder, '--background', ...upstreamFlags];
  // The upstream server is configured only by flags, not by environment variables.
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('BENCHTOP_UPSTREAM'));
  const child = spawn(entry.command, [...entry.args, ...flags], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    // Other users can read arguments, but not the environment.
    env: { ...Object.fromEntries(others), ...(upstream && { [upstreamKeyVariable]: upstream.key ?? '' }) },
  });
  closeSync(log.fd);
  let failed: string | undefined;
  child.on('error', error => {
    failed = error.message;
  });
  child.on('exit', (code, killedBy) => {
    // 0 means that another process was first; its address will appear.
    if (code !== 0) failed = killedBy ? `it was killed by ${killedBy}` : `it exited with code ${code}`;
  });
  child.unref();
  const begun = performance.now();
  let deadline = begun + startMs;
  while (failed === undefined) {
    if (readAddress(dataFolder)) {
      const found = await findService(dataFolder);
      if (found) {
        // Another process was first. Kill this one, which might otherwise serve the folder later without a client.
        if (found.pid !== child.pid) child.kill();
        return found;
      }
    }
    if (performance.now() >= deadline) {
      // A service that is starting, or is saving its work before exiting, holds the folder but has no address.
      const isBusy = readAddress(dataFolder) === undefined && isFolderLocked(dataFolder);
      if (!isBusy || deadline >= begun + stopMs + startMs) break;
      deadline += startMs;
    }
    await wait(pollIntervalMs, undefined, { ...(signal && { signal }) });
  }
  const waited = Math.round((performance.now() - begun) / 1000);
  const why = failed ?? `no answer in ${waited} s${holderNote(dataFolder)}`;
  const lines = log.lastLines();
  throw new Error(
    `The local service did not start: ${why}.${lines === '' ? '' : `\n${lines}`}\nNothing was lost. \`benchtop serve\` shows the cause.`,
  );
}

/** Explains that another process holds the folder, as the end of a sentence. */
function holderNote(dataFolder: string): string {
  if (!isFolderLocked(dataFolder)) return '';
  const pid = holderOf(dataFolder);
  const who = pid === undefined ? 'another process' : `process ${pid}`;
  return `, because ${who} holds the data folder and does not answer; stop it with \`benchtop serve --stop\``;
}

/** Whether another service has written its address since. */
function isReplaced(dataFolder: string, stopped: LocalAddress | undefined): boolean {
  const address = readAddress(dataFolder);
  return stopped !== undefined && address !== undefined && address.instance_id !== stopped.instanceId;
}

interface StopOptions {
  /** Has open screens wait for the next service instead of starting their own. */
  readonly successor?: boolean;
}

/** A process holds the data folder, and does not respond or does not exit. */
export class FolderHeldError extends Error {
  override readonly name = 'FolderHeldError';
  readonly pid: number | undefined;

  constructor(dataFolder: string, pid: number | undefined) {
    const who = pid === undefined ? 'A process' : `Process ${pid}`;
    super(
      `${who} still holds the data folder ${dataFolder}. ${pid === undefined ? 'End it' : `Stop it with \`kill ${pid}\``}, then try again.`,
    );
    this.pid = pid;
  }
}

/**
 * Ends the process that holds a folder with SIGTERM, and with SIGKILL if it does not exit. Everything it has
 * acknowledged is stored, and its work resumes at the next start.
 *
 * @throws FolderHeldError if it still holds the folder, e.g. because it is another user's
 */
export async function endHolder(dataFolder: string, pid: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    // The process may have exited, and its pid may now belong to another program.
    if (holderOf(dataFolder) !== pid) return;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (errorCode(error) === 'EPERM') break;
    }
    const deadline = performance.now() + endMs;
    while (isFolderLocked(dataFolder) && performance.now() < deadline) await wait(pollIntervalMs);
  }
  if (isFolderLocked(dataFolder)) throw new FolderHeldError(dataFolder, pid);
}

/**
 * Stops a folder's service, and waits until another can start or has started: an open screen starts one at once.
 * Returns the stopped service, or undefined.
 *
 * @throws FolderHeldError if the process that holds the folder does not respond or does not exit
 */
export async function stopService(
  dataFolder: string,
  { successor = false }: StopOptions = {},
): Promise<LocalAddress | undefined> {
  const running = await findService(dataFolder);
  const address = readAddress(dataFolder);
  if (successor) announceSuccessor(dataFolder);
  if (running && address) {
    // The response is lost if the process exits first, e.g. when killed; the lock shows whether it has exited.
    await requestJson('POST', address, `/local/stop${successor ? '?successor=1' : ''}`).catch(() => {});
  }
  // The address is removed first and the lock last, once running work has been saved.
  const deadline = performance.now() + (running ? stopMs : requestTimeoutMs);
  while (isFolderLocked(dataFolder) && !isReplaced(dataFolder, running)) {
    if (performance.now() > deadline) {
      throw new FolderHeldError(dataFolder, holderOf(dataFolder));
    }
    await wait(pollIntervalMs);
  }
  return running;
}
