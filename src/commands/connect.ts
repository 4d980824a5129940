/** Connects to the configured service, or to the local service, which it starts if needed. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { unlessAborted } from '../base/abort.ts';
import { thisProgram } from '../base/this-program.ts';
import { version } from '../base/version.ts';
import { serviceOf } from '../config/address.ts';
import type { Config } from '../config/load.ts';
import { describeOrigin } from '../config/origin.ts';
import type { LocalService } from '../config/profile.ts';
import { RequestError } from '../service/errors.ts';
import { type GateMonitor, Gates } from '../service/gate.ts';
import type { Service } from '../service/index.ts';
import type { ServiceOptions, Supervisor } from '../service/options.ts';
import {
  type ConnectionMonitor,
  fixedConnection,
  SupervisedConnection,
  type SupervisedService,
} from '../service/supervisor.ts';
import { RememberedStore, type ResourceRef } from '../store/store.ts';
import type { Scope } from '../store/tables.ts';
import { forgetTexts, TextIndex } from '../store/text-index.ts';
import { keepHeapSmall } from './heap.ts';

/** One gate per host for everything this process sends. */
const gates = new Gates();

const none = async (): Promise<string> => '';

/** The connection that a program or a single command has to the configured service. */
export interface ServiceConnection {
  /** Returns the service, loading the client code on first use. Sends nothing. */
  readonly service: () => Promise<Service>;
  readonly monitor: ConnectionMonitor;
  /** Whether the host accepts requests or is rate limiting them. */
  readonly gate: GateMonitor;
  /** The service's address, for messages. */
  readonly address: () => string;
  /** The service's generation, as a sentence; undefined before the first request. */
  readonly generation: () => string | undefined;
  /** Closes everything that is open. The connection cannot be used afterwards. */
  readonly close: () => Promise<void>;
}

/** Finds the local service, starts it if it is not running, and keeps it awake. */
function localService({ paths }: Config, upstream: LocalService['upstream']): SupervisedService {
  let key: string | undefined;
  const upstreamKey = async (signal: AbortSignal | undefined): Promise<string | undefined> => {
    // A pipe can be read only once, so its key is reused.
    key = await upstream?.key?.get(signal).catch((error: unknown) => key ?? Promise.reject(error));
    return key;
  };
  const client = () => import('../local/daemon/client.ts');
  return {
    ensure: async (reason, signal) => {
      // Loading blocks the thread, so let the first frame be drawn before that.
      await new Promise(setImmediate);
      const { ensureLocalService } = await client();
      const { baseUrl, apiKey, instanceId, note } = await ensureLocalService({
        dataFolder: paths.data,
        // A getter, because it is slow (Node has to list its flags), and needed only to start the service.
        get entry() {
          return thisProgram();
        },
        version,
        upstream: upstream && { url: upstream.url.value, key: await upstreamKey(signal) },
        reason,
        signal,
      }).catch((error: unknown) => {
        // A screen retries; for a command, a wrong folder is a usage error.
        if (reason !== 'command' || !(error instanceof Error) || error.name !== 'DataFolderError') throw error;
        throw new RequestError(`${error.message} Nothing was sent.`, { code: 'data_folder' });
      });
      return { baseUrl, apiKey, id: instanceId, note };
    },
    hold: (target, onEnd) => {
      let release: (() => void) | undefined;
      let released = false;
      // The module may be missing during an upgrade. The service then ends when idle, and the next request restarts it.
      void import('../local/daemon/lease.ts').then(
        ({ holdLease }) => {
          if (!released) release = holdLease(target, onEnd);
        },
        () => {},
      );
      return () => {
        released = true;
        release?.();
      };
    },
    isSilent: async target => (await client()).isSilent(target),
  };
}

/** @param now returns the configuration to read keys from, which may be a newer one for the same addresses */
function serviceOptions({ profile }: Config, supervisor: Supervisor | undefined, now: () => Config): ServiceOptions {
  const { service, assumptions, generation, agent } = profile;
  const shared = { assumptions, generation, agent, userAgent: `benchtop/${version}` };
  if (service.kind === 'local') {
    // The supervisor knows the address and the key.
    return { ...shared, supervisor, baseUrl: 'http://127.0.0.1', apiKey: none, inferenceToken: none };
  }
  const keyAs =
    (name: 'apiKey' | 'inferenceToken') =>
    async (signal: AbortSignal): Promise<string> => {
      const { service: current } = now().profile;
      return (current.kind === 'remote' && (await current[name]?.get(signal))) || '';
    };
  const apiKey = keyAs('apiKey');
  return {
    ...shared,
    baseUrl: service.baseUrl.value,
    inferenceUrl: service.inferenceUrl.value,
    apiKey,
    apiKeyOwner: () => {
      const { service: current } = now().profile;
      const command = current.kind === 'remote' ? current.apiKey?.command : undefined;
      return command && JSON.stringify(command);
    },
    inferenceToken: service.inferenceToken === service.apiKey ? apiKey : keyAs('inferenceToken'),
    caFile: service.caFile?.value,
    allowInsecureHttp: service.allowInsecureHttp,
  };
}

interface ConnectOptions {
  /** The store for facts that the service reveals about itself. */
  readonly remembered?: (() => RememberedStore) | undefined;
  /** Receives every request and response. */
  readonly debug?: Pick<ServiceOptions, 'logger' | 'tracer' | 'onSlow'> | undefined;
  /** Returns the newest configuration, for re-reading a key that was refused. */
  readonly now?: (() => Config) | undefined;
}

/**
 * Connects to the configured service. Sends nothing yet.
 *
 * @param reason `start` for a screen, which keeps the service awake; `command` for a few requests
 */
export function connectTo(
  config: Config,
  reason: 'start' | 'command',
  { remembered, debug, now = () => config }: ConnectOptions = {},
): ServiceConnection {
  const { service: target } = config.profile;
  const supervised =
    target.kind === 'local' ? new SupervisedConnection(localService(config, target.upstream), reason) : undefined;
  let created: Promise<Service> | undefined;
  let service: Service | undefined;
  let closed = false;
  const create = async (): Promise<Service> => {
    // Loading the client blocks the thread, so let the first frame be drawn before that.
    await new Promise(setImmediate);
    const [{ createService }, { runWithSentOptions }] = await Promise.all([
      import('../service/index.ts'),
      import('../queries/evaluations.ts'),
    ]);
    const readOnly = config.profile.readOnly;
    service = createService({
      ...serviceOptions(config, supervised, now),
      memory: remembered,
      onLarge: keepHeapSmall,
      onSuccess: (...request) => {
        const started = runWithSentOptions(...request);
        if (started) remembered?.().see([started]);
      },
      gates,
      readOnly,
      ...debug,
    });
    return service;
  };
  const baseUrl = (): string | undefined => (target.kind === 'remote' ? target.baseUrl.value : supervised?.baseUrl);
  return {
    service: () => {
      if (closed) return Promise.reject(new Error('The screen has switched to another service. Nothing was sent.'));
      created ??= create();
      return created;
    },
    monitor: supervised ?? fixedConnection,
    gate: gates.monitor(() => hostOf(baseUrl())),
    address: () => baseUrl() ?? 'the local service',
    generation: () => service?.generation.describe(),
    close: async () => {
      closed = true;
      supervised?.close();
      await created?.catch(() => undefined);
      await service?.close();
    },
  };
}

/** Time limit for testing a service, in milliseconds. */
const testMs = 15_000;

/**
 * Sends a small request to check that the service responds and accepts the key.
 *
 * @throws Error if it does not; the signal's reason once it aborts
 */
export async function testService(config: Config, signal: AbortSignal): Promise<void> {
  const connection = connectTo(config, 'command');
  try {
    const service = await connection.service();
    const limited = AbortSignal.any([signal, AbortSignal.timeout(testMs)]);
    await unlessAborted(service.call('listBenchmarks', { query: { limit: 1 } }, { signal: limited }), signal);
  } finally {
    await connection.close();
  }
}

const hostOf = (url: string | undefined): string | undefined => (url === undefined ? undefined : new URL(url).host);

/** Where the address and the key come from, as sentences. */
export function originsOf({ service, name }: Config['profile']): string[] {
  if (service.kind === 'local') return [`${name} is the local service on this machine.`];
  const { baseUrl, apiKey } = service;
  const key = apiKey ? `The key comes from ${describeOrigin(apiKey.origin)}.` : 'No key is set for this address.';
  return [`The address ${baseUrl.value} comes from ${describeOrigin(baseUrl.origin)}.`, key];
}

/** Opens the store of what is remembered of a service, which commands and screens share. */
export function openRemembered(config: Config): RememberedStore {
  return RememberedStore.open(join(config.paths.state, 'remembered.db'), scopeOf(config));
}

/** Identifies the service in files that several services share. */
function scopeOf({ paths, profile: { name, service } }: Config): Scope {
  const address = service.kind === 'local' ? paths.data : serviceOf(service.baseUrl.value);
  return { profile: `${name} ${address}`, service: address };
}

const textsPath = ({ paths }: Config): string => join(paths.cache, 'texts.db');

/** Opens this service's index of trajectory texts. If the settings allow none, deletes the file for all services. */
export function openTexts(config: Config): TextIndex {
  const mostBytes = config.preferences.textIndexBytes;
  const options = { service: scopeOf(config).service, mostBytes };
  if (mostBytes > 0) return TextIndex.open(textsPath(config), options);
  forgetTexts(textsPath(config));
  return TextIndex.inMemory({ ...options, mostBytes: Number.POSITIVE_INFINITY });
}

/** Deletes a run's trajectory texts. @returns why they may still be there */
export function forgetTextsOf(config: Config, { kind, id }: Pick<ResourceRef, 'kind' | 'id'>): string | undefined {
  if (!existsSync(textsPath(config))) return undefined;
  const index = openTexts(config);
  index.forget(kind, id);
  const { problem } = index;
  index.close();
  return problem;
}

/** How many bytes the trajectory texts of all services take on disk; undefined if there are none. */
export function textsOnDisk(config: Config): { readonly path: string; readonly bytes: number } | undefined {
  const path = textsPath(config);
  const sizes = ['', '-wal'].map(end => statSync(`${path}${end}`, { throwIfNoEntry: false })?.size ?? 0);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return bytes === 0 ? undefined : { path, bytes };
}

/** Deletes every service's trajectory texts. */
export const forgetAllTexts = (config: Config): void => forgetTexts(textsPath(config));
