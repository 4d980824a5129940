/** `benchtop serve`: runs the local service in the foreground, shows its status, or stops it. */

import { resolve } from 'node:path';
import { errorMessage } from '../base/errors.ts';
import { own } from '../base/own-property.ts';
import { shellWord } from '../base/shell-word.ts';
import { version } from '../base/version.ts';
import { credentialAt } from '../config/credentials.ts';
import { loadConfig } from '../config/load.ts';
import { findPaths } from '../config/paths.ts';
import type { LocalAddress } from '../local/daemon/client.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { keepHeapSmall } from './heap.ts';
import type { CommandIo } from './io.ts';
import { otherServedFolders, recordServedFolder, type ServedFolder } from './served-folders.ts';
import type { CommandInput } from './table/commands.ts';

/** The program that started the service sends its first requests within this time, in milliseconds. */
const startMs = 1_000;
/** A service that was started for a screen ends this long after its last request, in milliseconds. */
const idleMs = 5 * 60_000;

type Flags = CommandInput<'serve'>['flags'];

const keyFlags = { apiKeyEnv: '--api-key-env', apiKeyFile: '--api-key-file' };

/** The API key to use and where it is, if one is given; otherwise the service has its own. @throws ConfigError */
function givenKey({ apiKeyEnv, apiKeyFile }: Flags, environment: NodeJS.ProcessEnv) {
  const place = {
    settings: { apiKeyEnv, apiKeyFile },
    originOf: (key: string) => ({ kind: 'flag', name: own(keyFlags, key) ?? key }) as const,
    base: process.cwd(),
  };
  const source = credentialAt(place, 'apiKey', { environment, secrets: new Set() });
  if (!source) return undefined;
  /** @throws CommandError */
  const read = (): Promise<string> =>
    source.get().catch((error: unknown) => {
      throw new CommandError(errorMessage(error), exitCodes.forbidden);
    });
  return { read, place: source.files[0] ?? `the environment variable ${apiKeyEnv}` };
}

/** The server for models that are not local, from the flags, the variables and the local profile. */
async function upstreamOf(
  { background, upstream, upstreamKeyEnv, upstreamKeyFile }: Flags,
  environment: NodeJS.ProcessEnv,
) {
  // A screen passes its upstream in flags; a different one from the settings would replace the service each time.
  if (background && upstream === undefined) return undefined;
  const keyEnv = upstreamKeyEnv !== undefined && own(environment, upstreamKeyEnv) === '' ? undefined : upstreamKeyEnv;
  // Naming the profile with a flag would ignore addresses from variables.
  const ofLocal = { ...environment, BENCHTOP_PROFILE: 'local', BENCHTOP_BASE_URL: undefined };
  const { profile } = loadConfig({ upstream, upstreamKeyEnv: keyEnv, upstreamKeyFile }, ofLocal);
  if (profile.service.kind !== 'local' || !profile.service.upstream) return undefined;
  const { url, key } = profile.service.upstream;
  return { url: url.value, key: await key?.get() };
}

function afterStop(screens: number): string {
  if (screens === 0) return 'running work continues when it next starts';
  const open = screens === 1 ? 'an open screen starts' : `${screens} open screens start`;
  return `${open} it again with the next request`;
}

/** Lists services on other data folders, and how to reach them. */
function noteOthers(others: readonly ServedFolder[], flag: 'status' | 'stop', { note }: CommandIo): void {
  for (const { dataFolder, address } of others) {
    const does = flag === 'stop' ? 'stops it' : 'shows it';
    note(
      `Another service runs on ${dataFolder} at ${address.baseUrl}: benchtop serve --${flag} --data ${shellWord(dataFolder)} ${does}.`,
    );
  }
}

const addressRecord = ({ baseUrl, pid }: LocalAddress) => ({ base_url: baseUrl, pid });

/** Sentences about jobs that need attention. */
export function jobNotes({ set_aside, waiting }: Pick<LocalAddress, 'set_aside' | 'waiting'>): string[] {
  return [
    ...set_aside.map(
      ({ id, kind }) => `The ${kind} ${id} was set aside: the service ended abnormally during it. benchtop get ${id}`,
    ),
    ...waiting.map(({ id, kind, message }) => `The ${kind} ${id} is waiting for a retry: ${message}`),
  ];
}

async function printStatus(dataFolder: string, state: string, { json }: Flags, io: CommandIo): Promise<ExitCode> {
  const { findService } = await import('../local/daemon/client.ts');
  const { holderOf, isFolderLocked } = await import('../local/daemon/files.ts');
  const running = await findService(dataFolder);
  const isHeld = !running && isFolderLocked(dataFolder);
  const others = running || isHeld ? [] : await otherServedFolders(state, dataFolder);
  const pid = isHeld ? (holderOf(dataFolder) ?? null) : null;
  if (json) {
    const elsewhere = others.map(other => ({ data: other.dataFolder, ...addressRecord(other.address) }));
    const known = running
      ? { ...addressRecord(running), set_aside: running.set_aside, waiting: running.waiting }
      : { others: elsewhere, ...(isHeld && { silent: true, pid }) };
    await io.print(`${safeJson({ running: running !== undefined, data: dataFolder, ...known })}\n`);
  } else if (running) {
    await io.print(clean`running at ${running.baseUrl}, process ${running.pid}, on ${dataFolder}\n`);
    for (const note of jobNotes(running)) io.note(note);
  } else if (isHeld) {
    await io.print(clean`${pid === null ? 'a process' : `process ${pid}`} holds ${dataFolder} but does not respond\n`);
    io.note(`Unless it is still starting, benchtop serve --stop --data ${shellWord(dataFolder)} ends it.`);
  } else {
    await io.print(clean`not running on ${dataFolder}\n`);
    noteOthers(others, 'status', io);
  }
  return running ? exitCodes.done : exitCodes.failed;
}

/** Ends a process that holds the folder but does not respond, once the user has agreed. */
async function end(dataFolder: string, pid: number, flags: Flags, io: CommandIo): Promise<ExitCode> {
  const [{ confirm }, { endHolder }] = await Promise.all([import('./act.ts'), import('../local/daemon/client.ts')]);
  const question = `Process ${pid} holds ${dataFolder} but does not respond. End it? Its stored data is kept.`;
  await confirm(question, flags, io);
  await endHolder(dataFolder, pid);
  if (flags.json) await io.print(`${safeJson({ stopped: true, data: dataFolder, ended: pid })}\n`);
  else await io.print(`ended process ${pid}; ${afterStop(0)}\n`);
  return exitCodes.done;
}

async function stop(dataFolder: string, state: string, flags: Flags, io: CommandIo): Promise<ExitCode> {
  const { FolderHeldError, stopService } = await import('../local/daemon/client.ts');
  let stopped: LocalAddress | undefined;
  try {
    stopped = await stopService(dataFolder);
  } catch (error) {
    if (!(error instanceof FolderHeldError) || error.pid === undefined) throw error;
    return end(dataFolder, error.pid, flags, io);
  }
  if (flags.json) await io.print(`${safeJson({ stopped: stopped !== undefined, data: dataFolder })}\n`);
  else await io.print(stopped ? `stopped; ${afterStop(stopped.leases)}\n` : clean`not running on ${dataFolder}\n`);
  if (!stopped) noteOthers(await otherServedFolders(state, dataFolder), 'stop', io);
  return exitCodes.done;
}

export async function run({ flags }: CommandInput<'serve'>, io: CommandIo): Promise<number> {
  const { environment, print } = io;
  const paths = findPaths(environment);
  const dataFolder = resolve(flags.data ?? paths.data);

  if (flags.status) return printStatus(dataFolder, paths.state, flags, io);
  if (flags.stop) return stop(dataFolder, paths.state, flags, io);
  if (flags.json) throw new CommandError('--json is for --status and --stop.');

  const { port = 0, rateLimit } = flags;
  if (port > 65_535) throw new CommandError('--port takes a number from 0 to 65535.');
  const { AlreadyRunning, serve } = await import('../local/daemon/serve.ts');
  try {
    // A signal during startup cancels it.
    io.stopOnSignals?.();
    const key = givenKey(flags, environment);
    const service = await serve({
      signal: io.signal,
      dataFolder,
      version,
      port,
      apiKey: await key?.read(),
      upstream: await upstreamOf(flags, environment),
      // Bursts may be twice as large.
      rateLimit: rateLimit === undefined ? undefined : { perSecond: rateLimit, burst: Math.max(1, rateLimit * 2) },
      ...(flags.background ? { idleMs } : {}),
    });
    setTimeout(keepHeapSmall, startMs).unref();
    io.signal.addEventListener('abort', () => void service.stop(), { once: true });
    if (io.signal.aborted) await service.stop();
    const forget = await recordServedFolder(paths.state, dataFolder);
    if (!flags.background) {
      await print(
        clean`benchtop serves ${dataFolder} at ${service.baseUrl}\nThe API key is in ${key?.place ?? `${dataFolder}/api-key`}. Press ctrl-c to stop.\n`,
      );
    }
    await service.ended;
    await forget();
    return exitCodes.done;
  } catch (error) {
    if (error instanceof AlreadyRunning && flags.background) return exitCodes.done;
    throw error;
  }
}
