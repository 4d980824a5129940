/** Which service the screen shows: the one of the configuration, and any other profile that the user goes to. */

import { type Config, type ConfigFlags, loadConfig } from '../config/load.ts';
import type { ProfileSettings } from '../config/schema.ts';
import { changeSettings, readSettings } from '../config/settings-file.ts';
import { Workbench } from '../queries/workbench.tsx';
import { own } from '../text/own.ts';
import type { Connection, NewProfile } from '../ui/app/connection.ts';
import { connectTo, openRemembered, originsOf, type ServiceConnection } from './connect.ts';

/** How long the test of a new service may take. */
const testMs = 15_000;

/** What is shown, and the connection that it is read by. */
interface Shown {
  readonly config: Config;
  readonly connection: ServiceConnection;
  readonly workbench: Workbench;
}

function show(config: Config): Shown {
  const connection = connectTo(config, 'start');
  // Both begin at once, while the first frame is drawn. The first request reports what went wrong.
  connection.service().catch(() => {});
  connection.monitor.retry();
  const workbench = new Workbench({
    service: connection.service,
    connection: connection.monitor,
    gate: connection.gate,
    profile: config.profile.name,
    readOnly: config.profile.readOnly.value,
    keepsChats: config.preferences.chatHistory,
    poll: config.preferences.poll,
    remembered: () => openRemembered(config),
  });
  return { config, connection, workbench };
}

async function close({ workbench, connection }: Shown): Promise<void> {
  workbench.close();
  await connection.close();
}

function keySettings({ keySource, key }: NewProfile): ProfileSettings {
  switch (keySource) {
    case 'environment':
      return { apiKeyEnv: key };
    case 'file':
      return { apiKeyFile: key };
    case 'command':
      return { apiKeyCommand: key.split(/\s+/) };
    case 'settings':
      return { apiKey: key };
  }
}

export class Session {
  readonly #flags: ConfigFlags;
  readonly #environment: NodeJS.ProcessEnv;
  #shown: Shown;
  #connection: Connection;
  /** Counts the services shown so far. */
  generation = 0;
  readonly #listeners = new Set<() => void>();

  /** @throws ConfigError */
  constructor(flags: ConfigFlags, environment: NodeJS.ProcessEnv) {
    this.#flags = flags;
    this.#environment = environment;
    this.#shown = show(loadConfig(flags, environment));
    this.#connection = this.#describe();
  }

  get config(): Config {
    return this.#shown.config;
  }

  get workbench(): Workbench {
    return this.#shown.workbench;
  }

  get connection(): Connection {
    return this.#connection;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #describe(): Connection {
    const { profile, settingsPath, warnings } = this.config;
    const named = Object.keys(readSettings(settingsPath).settings.profiles ?? {});
    return {
      profiles: [...new Set(['local', ...named])],
      current: profile.name,
      isLocal: profile.service.kind === 'local',
      baseUrl: profile.service.kind === 'remote' ? profile.service.baseUrl.value : undefined,
      origins: originsOf(profile),
      warnings,
      switchTo: this.#switchTo,
      setUp: this.#setUp,
    };
  }

  /** A profile that is gone to by name stands above the flags and variables of the start. */
  #configOf(profile: string): Config {
    const { theme, mouse, notices } = this.#flags;
    return loadConfig({ profile, theme, mouse, notices }, this.#environment);
  }

  readonly #switchTo = (name: string): void => {
    const config = this.#configOf(name);
    const before = this.#shown;
    this.#shown = show(config);
    this.#connection = this.#describe();
    this.generation += 1;
    for (const listener of this.#listeners) listener();
    void close(before);
  };

  readonly #setUp = async (profile: NewProfile): Promise<void> => {
    const { settingsPath } = this.config;
    const before = own(readSettings(settingsPath).settings.profiles, profile.name);
    const keep = (settings: ProfileSettings | undefined): Promise<void> =>
      changeSettings(settingsPath, all => {
        const profiles = new Map(Object.entries(all.profiles ?? {}));
        if (settings) profiles.set(profile.name, settings);
        else profiles.delete(profile.name);
        all.profiles = Object.fromEntries(profiles);
      });
    await keep({ baseUrl: profile.baseUrl, ...keySettings(profile) });
    try {
      await this.#test(profile.name);
    } catch (error) {
      // What does not work is not kept.
      await keep(before);
      throw error;
    }
    await changeSettings(settingsPath, all => {
      all.defaultProfile = profile.name;
    });
    this.#switchTo(profile.name);
  };

  /** @throws Error where the service does not answer as it should */
  async #test(name: string): Promise<void> {
    const connection = connectTo(this.#configOf(name), 'command');
    try {
      const service = await connection.service();
      await service.benchmarks.list({ limit: 1 }, { signal: AbortSignal.timeout(testMs) });
    } finally {
      await connection.close();
    }
  }

  close(): Promise<void> {
    return close(this.#shown);
  }
}
