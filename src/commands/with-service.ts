/** The service of the configuration, for the time of one command. */

import { readSwitch } from '../config/layers.ts';
import { type Config, loadConfig } from '../config/load.ts';
import type { RememberedStore } from '../queries/remembered/store.ts';
import type { Service } from '../service/index.ts';
import type { Logger } from '../service/options.ts';
import { connectTo, openRemembered } from './connect.ts';
import type { CommandIo } from './io.ts';
import { configFlags, type ServiceFlags } from './table/flags.ts';

export interface CommandContext {
  readonly config: Config;
  readonly service: Service;
  /** What was seen of this service; the same store as the screen's. */
  readonly memory: RememberedStore;
  readonly signal: AbortSignal;
}

/** Says each request and how it was answered, where that is asked for. No body, query or header is in it. */
function loggerOf({ debug }: ServiceFlags, { environment, note }: CommandIo): Logger | undefined {
  if (!debug && !readSwitch('BENCHTOP_DEBUG', environment['BENCHTOP_DEBUG'])) return undefined;
  return ({ method, path, operation, status, error, ms, attempt, requestId, retryInMs }) => {
    const answer = [status, error].filter(word => word !== undefined).join(' ');
    const more = [
      `${Math.round(ms)} ms`,
      attempt > 1 ? `attempt ${attempt}` : '',
      requestId ?? '',
      retryInMs === undefined ? '' : `again in ${Math.round(retryInMs)} ms`,
    ];
    note(`debug: ${method} ${path} (${operation}): ${answer}, ${more.filter(Boolean).join(', ')}`);
  };
}

/**
 * Connects, does the work, and lets go of all.
 *
 * @throws ConfigError, ServiceError, and whatever the work throws
 */
export async function withService<Result>(
  flags: ServiceFlags,
  io: CommandIo,
  work: (context: CommandContext) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig(configFlags(flags), io.environment);
  for (const warning of config.warnings) io.note(warning);
  const memory = openRemembered(config);
  const connection = connectTo(config, 'command', () => memory, loggerOf(flags, io));
  try {
    return await work({ config, service: await connection.service(), memory, signal: io.signal });
  } finally {
    memory.close();
    await connection.close();
  }
}
