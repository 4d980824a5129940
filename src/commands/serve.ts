/** `benchtop serve`: the local service in the foreground, its status, its end. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findPaths } from '../config/paths.ts';

/** A service that was started for a screen ends this long after its last request. */
const idleMs = 5 * 60_000;

export async function serveCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string' },
      data: { type: 'string' },
      'api-key': { type: 'string' },
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
    process.stdout.write(stopped ? 'stopped; what was running goes on at the next start\n' : 'not running\n');
    return 0;
  }

  const port = values.port === undefined ? 0 : Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port takes a number from 0 to 65535.');
  const { AlreadyRunning, serve } = await import('../local/daemon/serve.ts');
  try {
    const service = await serve({
      dataFolder,
      port,
      apiKey: values['api-key'],
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
