/** The service on screen: the configured one, until the user switches to another profile. */
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import { own } from '../base/own-property.ts';
import { shellWords } from '../base/shell-words.ts';
import { watchForChanges } from '../base/watched-file.ts';
import { sameOrigin } from '../config/address.ts';
import { type Config, type ConfigFlags, loadConfig } from '../config/load.ts';
import type { Preferences } from '../config/preferences.ts';
import { redactor } from '../config/redaction.ts';
import type { ProfileSettings, Settings } from '../config/schema.ts';
import { changeSettings, readSettings } from '../config/settings-file.ts';
import { kinds } from '../resources/catalogue.ts';
import { mayBeMisconfigured, ServiceError } from '../service/errors.ts';
import type { Connection, KeySource, NewProfile } from '../ui/app/connection.ts';
import { Workbench, type WorkbenchOptions } from '../workbench/workbench.ts';
import { connectTo, openRemembered, openTexts, originsOf, type ServiceConnection, testService } from './connect.ts';

/** The current service and its connection. */
export interface ShownService {
  /** Number of services shown so far. */
  readonly id: number;
  readonly config: Config;
  readonly connection: ServiceConnection;
  readonly workbench: Workbench;
}

/** Options for the first service only, until the user switches profiles. */
export interface FirstService extends Pick<WorkbenchOptions, 'file'> {
  /** Variables that override the program's own. */
  readonly environment: NodeJS.ProcessEnv;
}

/** @param now returns the newest configuration for the same addresses, for re-reading keys that were refused */
function show(config: Config, id: number, now: () => Config, first: FirstService | undefined): ShownService {
  const connection = connectTo(config, 'start', { remembered: () => workbench.remembered, now });
  // Start both immediately, while the first frame is drawn. The first request reports errors.
  connection.service().catch(() => {});
  connection.monitor.retry();
  const workbench: Workbench = new Workbench({
    file: first?.file,
    kinds,
    service: connection.service,
    connection: connection.monitor,
    gate: connection.gate,
    profile: config.profile.name,
    readOnly: config.profile.readOnly,
    keepsChats: config.preferences.chatHistory,
    poll: config.preferences.poll,
    compare: config.preferences.compare,
    priceUnit: config.preferences.priceUnit,
    alarms: config.preferences.alarms,
    triage: config.preferences.triage,
    remembered: () => openRemembered(config),
    texts: () => openTexts(config),
  });
  return { id, config, connection, workbench };
}

/** @throws UnclosedQuoteError if the command line cannot be split into words */
function keySettings({ keySource, key }: NewProfile): ProfileSettings {
  switch (keySource) {
    case 'environment':
      return { apiKeyEnv: key };
    case 'file':
      return { apiKeyFile: key };
    case 'command':
      return { apiKeyCommand: shellWords(key) };
    case 'settings':
      return { apiKey: key };
  }
}

/** Values that locate a key, and are unlikely to be keys themselves, so errors may quote them. */
const places: Readonly<Partial<Record<KeySource, RegExp>>> = {
  environment: /^[A-Z_][A-Z0-9_]*$/,
  file: /^(~|\.{1,2})?\//,
  command: /^[a-z-]{1,20}\s/,
};

/** Removes the typed text from an error, in case it is the key itself. */
function withoutKey(error: unknown, { keySource, key }: NewProfile): unknown {
  if (places[keySource]?.test(key)) return error;
  const message = errorMessage(error);
  const redacted = redactor([key, ...key.split(/\s+/)])(message);
  return redacted === message ? error : new Error(redacted);
}

/**
 * Gives the profile a new address and key, and leaves the rest unchanged. If the address changes, also drops the
 * inference address, since a key must go to its own host only, and the generation and the agent, which belong to the
 * previous service.
 */
function withProfile(settings: Settings, profile: NewProfile): Settings {
  const saved = own(settings.profiles, profile.name) ?? {};
  const { apiKey: _key, apiKeyEnv: _variable, apiKeyFile: _file, apiKeyCommand: _command, ...others } = saved;
  const { inferenceUrl, inferenceToken, inferenceTokenEnv, inferenceTokenFile, inferenceTokenCommand, ...rest } =
    others;
  const { generation: _generation, agent: _agent, ...general } = rest;
  const isSame = saved.baseUrl !== undefined && sameOrigin(saved.baseUrl, profile.baseUrl);
  const kept = isSame ? others : general;
  const changed: ProfileSettings = { ...kept, baseUrl: profile.baseUrl, ...keySettings(profile) };
  return { ...settings, profiles: { ...settings.profiles, [profile.name]: changed }, defaultProfile: profile.name };
}

/** Whether a profile is in the settings file, and the values to save there. */
function keepingOf({ name, service }: Config['profile'], named: readonly string[]): string {
  const when = 'once the service has answered';
  if (service.kind === 'local')
    return `The new profile is saved in the settings file ${when}, and benchtop then starts with it.`;
  if (named.includes(name)) return `${name} is in the settings file. Your changes are saved there ${when}.`;
  const { origin } = service.baseUrl;
  const isSet = origin.kind === 'environment' || origin.kind === 'flag';
  const first = isSet ? ` As long as ${origin.name} is set, benchtop starts with that.` : '';
  return `${name} is not in the settings file. It is saved there ${when}.${first}`;
}

function withoutKeys({ service, warnings: _, ...rest }: Config['profile']): object {
  if (service.kind === 'local') return { ...rest, kind: service.kind, upstream: service.upstream?.url.value };
  const { baseUrl, inferenceUrl, caFile, allowInsecureHttp } = service;
  const chat = inferenceUrl.value === baseUrl.value ? undefined : inferenceUrl.value;
  return { ...rest, baseUrl: baseUrl.value, inferenceUrl: chat, caFile: caFile?.value, allowInsecureHttp };
}

function keyFiles({ service }: Config['profile']): readonly string[] {
  if (service.kind === 'local') return [];
  return [service.apiKey, service.inferenceToken].flatMap(source => source?.files ?? []);
}

/** Whether editing the settings, or the files they name, may fix the error. */
function mayBeSettings(error: unknown): boolean {
  return mayBeMisconfigured(error) || (error instanceof ServiceError && error.code === 'credential_unavailable');
}

/** The names of the fields whose values differ. */
const differing = (one: object, other: object): readonly string[] =>
  Object.entries(one)
    .filter(([name, value]) => !isDeepStrictEqual(value, own(other as Readonly<Record<string, unknown>>, name)))
    .map(([name]) => name);

/**
 * Applies the preferences that an open screen can change, and names the settings that wait for the next start.
 *
 * @param shown the service, shown with its settings of that time
 * @param started the preferences at the start, which the terminal still has
 */
function applyPreferences(config: Config, { config: shown, workbench }: ShownService, started: Preferences): Config {
  const { alarms, notices, priceUnit, home } = config.preferences;
  workbench.alarms = alarms;
  workbench.priceUnit = priceUnit;
  const { theme, mouse, images } = started;
  const preferences = { ...shown.preferences, theme, mouse, images, alarms, notices, priceUnit, home };
  const isOther = config.profile.name !== shown.profile.name;
  const waiting = [
    ...differing(config.preferences, preferences).map(name => (name === 'textIndexBytes' ? 'search' : name)),
    // The profile shown keeps its name, unless the settings name another default.
    ...(isOther ? ['defaultProfile'] : differing(withoutKeys(config.profile), withoutKeys(shown.profile))),
  ];
  const notice = `Restart to apply changed settings: ${waiting.join(', ')}.`;
  return { ...config, preferences, warnings: [...(waiting.length > 0 ? [notice] : []), ...config.warnings] };
}

/** Poll interval for the settings file and the key files, in milliseconds. */
const lookMs = 1_000;

export class Session {
  readonly #flags: ConfigFlags;
  readonly #environment: NodeJS.ProcessEnv;
  #first: FirstService | undefined;
  /** Re-reads the shown service's configuration. */
  #load: () => Config;
  readonly #started: Preferences;
  /** The shown service's configuration, with its newest keys. */
  #config: Config;
  #shown: ShownService;
  #connection: Connection;
  /** Whether the settings file could not be used when it last changed. */
  #isUnusable = false;
  /** Functions that stop watching a file, by its path. */
  readonly #watched = new Map<string, () => void>();
  readonly #listeners = new Listeners();

  /** @throws ConfigError */
  constructor(flags: ConfigFlags, environment: NodeJS.ProcessEnv, first?: FirstService) {
    this.#flags = flags;
    this.#environment = environment;
    this.#first = first;
    this.#load = () => loadConfig(flags, { ...environment, ...first?.environment });
    this.#config = this.#load();
    this.#started = this.#config.preferences;
    this.#shown = this.#show(1);
    this.#connection = this.#describe();
    this.#watch();
  }

  /** Checks the settings file and the key files for changes. Runs no command and sends nothing. */
  #watch(): void {
    const { settingsPath, profile } = this.#config;
    const files = new Map(keyFiles(profile).map(path => [path, this.#keyChanged]));
    files.set(settingsPath, this.#settingsChanged);
    for (const path of this.#watched.keys()) if (!files.has(path)) this.#unwatch(path);
    for (const [path, changed] of files)
      if (!this.#watched.has(path)) this.#watched.set(path, watchForChanges(path, lookMs, changed));
  }

  #unwatch(path: string): void {
    this.#watched.get(path)?.();
    this.#watched.delete(path);
  }

  get shown(): ShownService {
    return this.#shown;
  }

  get config(): Config {
    return this.#config;
  }

  get workbench(): Workbench {
    return this.#shown.workbench;
  }

  get connection(): Connection {
    return this.#connection;
  }

  readonly subscribe = this.#listeners.subscribe;

  #describe(): Connection {
    const { profile, settingsPath, warnings } = this.config;
    const named = Object.keys(readSettings(settingsPath).settings.profiles ?? {});
    return {
      profiles: [...new Set(['local', ...named])],
      current: profile.name,
      isLocal: profile.service.kind === 'local',
      baseUrl: profile.service.kind === 'remote' ? profile.service.baseUrl.value : undefined,
      origins: originsOf(profile),
      keeping: keepingOf(profile, named),
      generation: this.#shown.connection.generation,
      warnings,
      switchTo: this.#switchTo,
      setUp: this.#setUp,
    };
  }

  /** A profile chosen by name overrides the flags and variables that benchtop started with. */
  #configOf(profile: string, alter?: (settings: Settings) => Settings): Config {
    const { theme, mouse, notices, readOnly } = this.#flags;
    return loadConfig({ profile, theme, mouse, notices, readOnly }, this.#environment, alter);
  }

  #show(id: number): ShownService {
    const config = this.#config;
    return show(config, id, () => (this.#shown.id === id ? this.#config : config), this.#first);
  }

  #showAnew(): void {
    this.#shown = this.#show(this.#shown.id + 1);
    this.#config = applyPreferences(this.#config, this.#shown, this.#started);
  }

  readonly #switchTo = (name: string): void => {
    const load = (): Config => this.#configOf(name);
    this.#config = load();
    this.#load = load;
    this.#first = undefined;
    this.#showAnew();
    this.#changed();
  };

  /**
   * Handles a change to the settings file. New keys and alarms apply at once, and failed requests are repeated.
   * A new address is used only if the old one does not work and nothing would be lost by leaving it.
   */
  readonly #settingsChanged = (): void => {
    const { workbench } = this.#shown;
    let config: Config;
    try {
      config = this.#load();
    } catch (error) {
      const words = errorMessage(error).replaceAll(this.#config.settingsPath, basename(this.#config.settingsPath));
      this.#isUnusable = true;
      this.#connection = { ...this.#connection, warnings: [`The earlier settings apply: ${words}`] };
      this.#listeners.notify();
      return;
    }
    const news = this.#isUnusable ? ['The settings file is right again, and its settings apply.'] : [];
    this.#isUnusable = false;
    const fails = workbench.fails(mayBeSettings);
    const applied = applyPreferences(config, this.#shown, this.#started);
    if (isDeepStrictEqual(withoutKeys(config.profile), withoutKeys(this.#config.profile))) {
      this.#config = applied;
      if (fails) workbench.refresh();
    } else if (fails && workbench.unfinishedWork().length === 0) {
      this.#config = config;
      this.#showAnew();
    } else this.#config = { ...this.#config, preferences: applied.preferences, warnings: applied.warnings };
    this.#changed(news);
  };

  /** Repeats failed requests, which re-read a refused key. */
  readonly #keyChanged = (): void => {
    const { workbench } = this.#shown;
    if (workbench.fails(mayBeSettings)) workbench.refresh();
  };

  /** @param news shown if there are no warnings */
  #changed(news: readonly string[] = []): void {
    this.#watch();
    const connection = this.#describe();
    this.#connection = connection.warnings.length > 0 ? connection : { ...connection, warnings: news };
    this.#listeners.notify();
  }

  readonly #setUp = async (profile: NewProfile, signal: AbortSignal): Promise<void> => {
    try {
      await testService(
        this.#configOf(profile.name, settings => withProfile(settings, profile)),
        signal,
      );
    } catch (error) {
      throw withoutKey(error, profile);
    }
    signal.throwIfAborted();
    await changeSettings(this.config.settingsPath, all => {
      Object.assign(all, withProfile(all, profile));
    });
    this.#changed();
  };

  /** Closes everything that belonged to the previous service. */
  readonly release = async ({ workbench, connection }: ShownService): Promise<void> => {
    workbench.close();
    await connection.close();
    await workbench.closed;
  };

  close(): Promise<void> {
    for (const path of this.#watched.keys()) this.#unwatch(path);
    return this.release(this.#shown);
  }
}
