/** From a configuration to a service: the local one is started where no other is named. */
import { join } from 'node:path';
import type { Config } from '../config/load.ts';
import { describeOrigin } from '../config/origin.ts';
import { RememberedStore } from '../queries/remembered/store.ts';
import type { Service } from '../service/index.ts';
import type { ServiceOptions } from '../service/options.ts';
import { version } from './version.ts';

const none = async (): Promise<string> => '';

async function optionsOf({ profile, paths }: Config): Promise<ServiceOptions> {
  const { service, assumptions } = profile;
  const userAgent = `benchtop/${version}`;
  if (service.kind === 'remote') {
    return {
      baseUrl: service.baseUrl.value,
      inferenceUrl: service.inferenceUrl.value,
      apiKey: service.apiKey?.get ?? none,
      inferenceToken: service.inferenceToken?.get ?? none,
      caFile: service.caFile?.value,
      allowInsecureHttp: service.allowInsecureHttp,
      assumptions,
      userAgent,
    };
  }
  const { ensureLocalService } = await import('../local/daemon/client.ts');
  const entry = process.argv[1] ?? '';
  const { upstream } = service;
  const { baseUrl, apiKey } = await ensureLocalService({
    upstream: upstream && { url: upstream.url.value, key: await upstream.key?.get() },
    dataFolder: paths.data,
    entry: { command: process.execPath, args: [...process.execArgv, entry] },
  });
  return { baseUrl, apiKey: async () => apiKey, inferenceToken: async () => apiKey, assumptions, userAgent };
}

/** Connects the first time it is called; later calls get the same service, and a failed attempt is made again. */
export function serviceOf(config: Config): () => Promise<Service> {
  let connected: Promise<Service> | undefined;
  const connect = async (): Promise<Service> => {
    // Loading what talks to the service holds the thread: the first frame goes before it.
    await new Promise(setImmediate);
    const [{ createService }, options] = await Promise.all([import('../service/index.ts'), optionsOf(config)]);
    return createService({ ...options, readOnly: config.profile.readOnly.value });
  };
  return () => {
    connected ??= connect().catch((error: unknown) => {
      connected = undefined;
      throw error;
    });
    return connected;
  };
}

/** Where the address and the key come from, in whole sentences. */
export function originsOf({ service, name }: Config['profile']): string[] {
  if (service.kind === 'local') return [`This is ${name}: the service on this machine.`];
  const { baseUrl, apiKey } = service;
  const key = apiKey ? `The key comes from ${describeOrigin(apiKey.origin)}.` : 'No key is set for this address.';
  return [`The address ${baseUrl.value} comes from ${describeOrigin(baseUrl.origin)}.`, key];
}

/** What was seen on the service of a configuration; every command and the screens share the file. */
export function openRemembered({ paths, profile }: Config): RememberedStore {
  return RememberedStore.open(join(paths.state, 'remembered.db'), profile.name);
}
