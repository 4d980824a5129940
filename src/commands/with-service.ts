/** The service of the configuration, for the time of one command. */

import { type Config, loadConfig } from '../config/load.ts';
import type { RememberedStore } from '../queries/remembered/store.ts';
import type { Service } from '../service/index.ts';
import { connectTo, openRemembered } from './connect.ts';
import { debugOf } from './debug.ts';
import type { CommandIo } from './io.ts';
import { configFlags, type ServiceFlags } from './table/flags.ts';

export interface CommandContext {
  readonly config: Config;
  readonly service: Service;
  /** What was seen of this service; the same store as the screen's. */
  readonly memory: RememberedStore;
  readonly signal: AbortSignal;
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
  if (config.profile.noAddress) throw config.profile.noAddress;
  for (const warning of config.warnings) io.note(warning);
  const memory = openRemembered(config);
  const connection = connectTo(config, 'command', () => memory, debugOf(flags, io));
  try {
    return await work({ config, service: await connection.service(), memory, signal: io.signal });
  } finally {
    memory.close();
    await connection.close();
  }
}
