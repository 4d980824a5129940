/** Which service the screen shows: the one of the configuration, and any other profile that the user goes to. */

import { type Config, type ConfigFlags, loadConfig } from '../config/load.ts';
import type { ProfileSettings } from '../config/schema.ts';
import { changeSettings, readSettings } from '../config/settings-file.ts';
import { Workbench } from '../queries/workbench.tsx';
import { own } from '../text/own.ts';
import type { Connection, NewProfile } from '../ui/app/connection.ts';
import { openRemembered, originsOf, serviceOf } from './connect.ts';

/** How long the test of a new service may take. */
const testMs = 15_000;

function workbenchOf(config: Config): Workbench {
  const service = serviceOf(config);
  // Begins at once, beside the first frame; whoever asks first reports what went wrong.
  service().catch(() => {});
  return new Workbench({
    service,
    profile: config.profile.name,
    readOnly: config.profile.readOnly.value,
    keepsChats: config.preferences.chatHistory,
    poll: config.preferences.poll,
    remembered: () => openRemembered(config),
  });
}

async function close(workbench: Workbench): Promise<void> {
  workbench.close();
  await workbench
    .service()
    .then(connected => connected.close())
    .catch(() => {});
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
  #config: Config;
  #workbench: Workbench;
  #connection: Connection;
  /** Counts the services shown so far. */
  generation = 0;
  readonly #listeners = new Set<() => void>();

  /** @throws ConfigError */
  constructor(flags: ConfigFlags, environment: NodeJS.ProcessEnv) {
    this.#flags = flags;
    this.#environment = environment;
    this.#config = loadConfig(flags, environment);
    this.#workbench = workbenchOf(this.#config);
    this.#connection = this.#describe();
  }

  get config(): Config {
    return this.#config;
  }

  get workbench(): Workbench {
    return this.#workbench;
  }

  get connection(): Connection {
    return this.#connection;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #describe(): Connection {
    const { profile, settingsPath, warnings } = this.#config;
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
    const before = this.#workbench;
    this.#config = config;
    this.#workbench = workbenchOf(config);
    this.#connection = this.#describe();
    this.generation += 1;
    for (const listener of this.#listeners) listener();
    void close(before);
  };

  readonly #setUp = async (profile: NewProfile): Promise<void> => {
    const { settingsPath } = this.#config;
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
    const service = await serviceOf(this.#configOf(name))();
    try {
      await service.benchmarks.list({ limit: 1 }, { signal: AbortSignal.timeout(testMs) });
    } finally {
      await service.close();
    }
  }

  close(): Promise<void> {
    return close(this.#workbench);
  }
}
