/** Keys that are rotated while the program runs: in a file, a command, the environment. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectTo } from '../../src/commands/connect.ts';
import { loadConfig } from '../../src/config/load.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { testFolder } from './cli.ts';

const page = json({ items: [], has_more: false });
const denied = refusal(401, 'authentication_error', 'invalid_api_key');

type Source = (folder: string) => {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly environment?: Record<string, string>;
  readonly put: (key: string, environment: Record<string, string | undefined>) => void;
};

const sources: Readonly<Record<string, Source>> = {
  file: folder => ({
    settings: { apiKeyFile: join(folder, 'key') },
    put: key => writeFileSync(join(folder, 'key'), `${key}\n`, { mode: 0o600 }),
  }),
  command: folder => ({
    settings: {
      apiKeyCommand: [process.execPath, '-p', 'fs.readFileSync(process.argv[1], "utf8")', join(folder, 'vault')],
    },
    put: key => writeFileSync(join(folder, 'vault'), key),
  }),
  environment: () => ({
    settings: { apiKeyEnv: 'MY_KEY' },
    put: (key, environment) => {
      environment['MY_KEY'] = key;
    },
  }),
};

describe.each(Object.entries(sources))('a key from the %s', (_, sourceIn) => {
  it('is read again after rotation, without a restart', async () => {
    let taken = 'first-key-0123456789';
    const server = await hostileServer((response, request) =>
      (request.headers['x-api-key'] === taken ? page : denied)(response, request),
    );
    const folder = testFolder();
    const { settings, put } = sourceIn(folder);
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({ defaultProfile: 'p', profiles: { p: { baseUrl: server.url, ...settings } } }),
      { mode: 0o600 },
    );
    const environment: Record<string, string | undefined> = { BENCHTOP_CONFIG_DIR: folder, HOME: folder };
    put(taken, environment);
    const connection = connectTo(loadConfig({}, environment), 'start');
    onTestFinished(() => connection.close());
    const service = await connection.service();
    await service.call('listBenchmarks');
    taken = 'second-key-0123456789';
    put(taken, environment);
    await expect(service.background.call('listBenchmarks')).resolves.toMatchObject({ items: [] });
    expect(server.requests).toHaveLength(3);
  });
});
