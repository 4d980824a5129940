/** `benchtop serve`: the local service in the foreground, its status, its end. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '../config/load.ts';
import { findPaths } from '../config/paths.ts';
import { own } from '../text/own.ts';
import { configFlags, configOptions } from './flags.ts';
import { keepHeapSmall } from './heap.ts';
import { version } from './version.ts';

/** A service that was started for a screen ends this long after its last request. */
const idleMs = 5 * 60_000;

/** The key that the service is to take, where one is given; else it has its own. */
async function givenKey(values: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const { 'api-key-env': variable, 'api-key-file': path } = values;
  if (typeof variable === 'string') {
    const key = own(process.env, variable)?.trim();
    if (!key) throw new Error(`--api-key-env names ${variable}, which is not set.`);
    return key;
  }
  return typeof path === 'string' ? (await readFile(path, 'utf8')).trim() : undefined;
}

async function upstreamOf(values: Readonly<Record<string, unknown>>) {
  const { upstream, upstreamKeyEnv, upstreamKeyFile } = configFlags(values);
  const keyEnv = upstreamKeyEnv !== undefined && own(process.env, upstreamKeyEnv) === '' ? undefined : upstreamKeyEnv;
  const flags = { profile: 'local', upstream, upstreamKeyEnv: keyEnv, upstreamKeyFile };
  const { profile } = loadConfig(flags, process.env);
  if (profile.service.kind !== 'local' || !profile.service.upstream) return undefined;
  const { url, key } = profile.service.upstream;
  return { url: url.value, key: await key?.get() };
}

export const help = `benchtop serve [options]

  Runs the local service in the foreground, until ctrl-c.

  --port N              where it listens; a free port where it is not given
  --data FOLDER         where it keeps everything
  --upstream URL        chat and rollouts of other models go to this OpenAI-compatible server
  --upstream-key-env NAME
                        variable that holds its key; or --upstream-key-file PATH
  --api-key-env NAME    variable that holds the key it asks for; or --api-key-file PATH
  --rate-limit N        requests a second of each key
  --status              say whether it runs
  --stop                stop it; running work goes on at the next start
`;

/** Requests a second of each key; twice as many may come at once. */
function rateLimitOf(text: string | undefined) {
  if (text === undefined) return undefined;
  const perSecond = Number(text);
  if (!(perSecond > 0)) throw new Error('--rate-limit takes a number of requests a second, above 0.');
  return { perSecond, burst: Math.max(1, perSecond * 2) };
}

function afterStop(screens: number): string {
  if (screens === 0) return 'what was running continues at the next start';
  const open = screens === 1 ? 'an open screen starts' : `${screens} open screens start`;
  return `${open} it again with the next request`;
}

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string' },
      data: { type: 'string' },
      'api-key-env': configOptions['api-key-env'],
      'api-key-file': configOptions['api-key-file'],
      upstream: configOptions.upstream,
      'upstream-key-env': configOptions['upstream-key-env'],
      'upstream-key-file': configOptions['upstream-key-file'],
      'rate-limit': { type: 'string' },
      status: { type: 'boolean' },
      stop: { type: 'boolean' },
      background: { type: 'boolean' },
    },
  });
  const dataFolder = resolve(values.data ?? findPaths(process.env).data);

  if (values.status) {
    const { findService } = await import('../local/daemon/client.ts');
    const running = await findService(dataFolder);
    process.stdout.write(running ? `running at ${running.baseUrl}, process ${running.pid}\n` : 'not running\n');
    return running ? 0 : 1;
  }
  if (values.stop) {
    const { stopService } = await import('../local/daemon/client.ts');
    const stopped = await stopService(dataFolder);
    process.stdout.write(stopped ? `stopped; ${afterStop(stopped.leases)}\n` : 'not running\n');
    return 0;
  }

  const port = values.port === undefined ? 0 : Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port takes a number from 0 to 65535.');
  const { AlreadyRunning, serve } = await import('../local/daemon/serve.ts');
  try {
    keepHeapSmall();
    const service = await serve({
      dataFolder,
      version,
      port,
      apiKey: await givenKey(values),
      upstream: await upstreamOf(values),
      rateLimit: rateLimitOf(values['rate-limit']),
      ...(values.background ? { idleMs } : {}),
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void service.stop());
    if (!values.background) {
      process.stdout.write(
        `benchtop serves ${dataFolder} at ${service.baseUrl}\nThe API key is in ${dataFolder}/api-key. ctrl-c stops.\n`,
      );
    }
    await service.ended;
    return 0;
  } catch (error) {
    if (error instanceof AlreadyRunning && values.background) return 0;
    throw error;
  }
}
