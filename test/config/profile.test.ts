import { describe, expect, it } from 'vitest';
import type { ProfileFlags } from '../../src/config/layers.ts';
import { type LocalService, type Profile, type RemoteService, resolveProfile } from '../../src/config/profile.ts';
import type { Settings } from '../../src/config/schema.ts';

const settings: Settings = {
  defaultProfile: 'prod',
  profiles: {
    prod: { baseUrl: 'https://prod.example/', apiKey: 'sk-prod', readOnly: true, caFile: 'ca.pem' },
    staging: { baseUrl: 'https://staging.example', inferenceUrl: 'https://chat.example', inferenceToken: 'tok-chat' },
    keyless: { baseUrl: 'https://keyless.example' },
  },
};

interface Given {
  readonly flags?: ProfileFlags;
  readonly environment?: Record<string, string>;
  readonly settings?: Settings;
}

function resolve(given: Given = {}): Profile {
  return resolveProfile({
    flags: given.flags ?? {},
    environment: given.environment ?? {},
    secrets: new Set(),
    settings: given.settings ?? settings,
    settingsPath: '/c/config.json',
    settingsFolder: '/c',
  });
}

function remote(given: Given = {}): RemoteService {
  const { service } = resolve(given);
  if (service.kind !== 'remote') throw new Error('it is local');
  return service;
}

function local(given: Given): LocalService {
  const { service } = resolve(given);
  if (service.kind !== 'local') throw new Error('it is remote');
  return service;
}

describe('the service of a command', () => {
  it('is the local one without settings', () => {
    const profile = resolve({ settings: {} });
    expect(profile).toEqual({
      name: 'local',
      service: { kind: 'local', upstream: undefined },
      readOnly: false,
      assumptions: {},
      generation: undefined,
      agent: undefined,
      warnings: [],
    });
  });

  it('has its generation and agent', () => {
    const entry = { baseUrl: 'https://h.example', generation: 'newest', agent: 'agent_1' } as const;
    const settings = { defaultProfile: 'p', profiles: { p: entry } };
    expect(resolve({ settings })).toMatchObject({ generation: 'newest', agent: 'agent_1' });
    const environment = { BENCHTOP_AGENT: 'name:Mine' };
    expect(resolve({ settings, environment })).toMatchObject({ generation: 'newest', agent: 'name:Mine' });
  });

  it('is that of the default profile, with all its settings', async () => {
    const profile = resolve();
    expect(profile.name).toBe('prod');
    expect(profile.readOnly).toBe(true);
    const service = remote();
    expect(service.baseUrl).toEqual({
      value: 'https://prod.example',
      origin: { kind: 'file', path: '/c/config.json', place: 'profiles.prod.baseUrl' },
    });
    expect(service.inferenceUrl.value).toBe('https://prod.example');
    expect(service.caFile?.value).toBe('/c/ca.pem');
    expect(await service.apiKey?.get()).toBe('sk-prod');
    expect(await service.inferenceToken?.get()).toBe('sk-prod');
  });

  it('is taken from the flag, then the environment, then the file', () => {
    const environment = { BENCHTOP_BASE_URL: 'https://env.example' };
    expect(remote({ environment }).baseUrl.value).toBe('https://env.example');
    expect(resolve({ environment }).name).toBe('env.example');
    const both = remote({ environment, flags: { baseUrl: 'https://flag.example' } });
    expect(both.baseUrl).toEqual({ value: 'https://flag.example', origin: { kind: 'flag', name: '--base-url' } });
    expect(resolve({ environment: { BENCHTOP_PROFILE: 'staging' } }).name).toBe('staging');
    expect(resolve({ environment: { BENCHTOP_PROFILE: 'staging' }, flags: { profile: 'prod' } }).name).toBe('prod');
  });

  it('is that of a profile named by a flag, whatever address the environment has', () => {
    const environment = { BENCHTOP_BASE_URL: 'https://env.example', BENCHTOP_API_KEY: 'sk-env' };
    expect(remote({ environment, flags: { profile: 'prod' } }).baseUrl.value).toBe('https://prod.example');
    expect(resolve({ environment, flags: { profile: 'local' } })).toMatchObject({ name: 'local', warnings: [] });
  });

  it('is refused if the profile is unknown, with a list of the known ones', () => {
    expect(() => resolve({ flags: { profile: 'prd' } })).toThrow(
      /no profile "prd"\. The profiles are: local, prod, staging, keyless/,
    );
    expect(() => resolve({ environment: { BENCHTOP_PROFILE: '__proto__' } })).toThrow(/BENCHTOP_PROFILE/);
    expect(() => resolve({ settings: { defaultProfile: 'gone' } })).toThrow(/defaultProfile in \/c\/config\.json/);
  });

  it('does not use the file of --ca-file over http, and says so (attack37 C6)', () => {
    const at = (baseUrl: string) => resolve({ flags: { baseUrl, caFile: '/ca.pem' } }).warnings.at(-1);
    const words = '--ca-file is not used: http://127.0.0.1:9 is not an https address.';
    expect([at('http://127.0.0.1:9'), at('https://lab.example')]).toEqual([
      words,
      expect.not.stringContaining('--ca-file'),
    ]);
  });

  it('is refused over http unless its settings allow it', () => {
    const environment = { BENCHTOP_BASE_URL: 'http://far.example' };
    expect(() => resolve({ environment })).toThrow(/BENCHTOP_BASE_URL cannot be used/);
    expect(remote({ environment: { ...environment, BENCHTOP_ALLOW_INSECURE_HTTP: '1' } }).baseUrl.value).toBe(
      'http://far.example',
    );
    expect(() => resolve({ environment: { BENCHTOP_READ_ONLY: 'perhaps' } })).toThrow(/BENCHTOP_READ_ONLY is neither/);
  });
});

describe('the credential of a command', () => {
  it('is taken from the flag, then the environment, then the file, if none names another address', async () => {
    const environment = { BENCHTOP_API_KEY: 'sk-env', OTHER: 'sk-other' };
    expect(await remote({ environment }).apiKey?.get()).toBe('sk-env');
    expect(await remote({ environment, flags: { apiKeyEnv: 'OTHER' } }).apiKey?.get()).toBe('sk-other');
  });

  it('is never one that was set for another address', () => {
    const moved: Given[] = [
      { flags: { baseUrl: 'https://evil.example' } },
      { environment: { BENCHTOP_BASE_URL: 'https://evil.example' } },
      {
        environment: { BENCHTOP_BASE_URL: 'https://env.example', BENCHTOP_API_KEY: 'sk-env' },
        flags: { profile: 'keyless' },
      },
    ];
    for (const given of moved) {
      const service = remote(given);
      expect(service.apiKey).toBeUndefined();
      expect(service.inferenceToken).toBeUndefined();
      expect(resolve(given).warnings).toEqual([expect.stringMatching(/is not sent to .*\.example: it is set for/)]);
    }
    const chat = remote({ environment: { BENCHTOP_INFERENCE_URL: 'https://evil.example' } });
    expect(chat.apiKey).toBeDefined();
    expect(chat.inferenceToken).toBeUndefined();
  });

  const lab: Settings = {
    defaultProfile: 'prod',
    profiles: {
      prod: { baseUrl: 'https://prod.example', apiKey: 'sk-prod' },
      lab: { baseUrl: 'https://lab.example', apiKey: 'sk-lab' },
      keyless: { baseUrl: 'https://keyless.example' },
      split: { baseUrl: 'https://split.example', inferenceUrl: 'https://chat.example', apiKey: 'sk-split' },
    },
  };
  const key = { BENCHTOP_API_KEY: 'sk-env' };
  const token = { BENCHTOP_INFERENCE_TOKEN: 'tok-env' };
  const inProd = { BENCHTOP_PROFILE: 'prod' };
  const at = (host: string) => ({ BENCHTOP_BASE_URL: `https://${host}.example` });
  const chatAt = (host: string) => ({ BENCHTOP_INFERENCE_URL: `https://${host}.example` });
  it.each<[Record<string, string>, ProfileFlags, [string | undefined, string | undefined]]>([
    // The environment of one profile, and another by flag.
    [{ ...inProd, ...token }, { profile: 'lab' }, ['sk-lab', 'sk-lab']],
    [{ ...inProd, ...key, ...token }, { profile: 'lab' }, ['sk-lab', 'sk-lab']],
    [{ ...inProd, ...key, ...token }, { profile: 'keyless' }, [undefined, undefined]],
    [key, { profile: 'keyless' }, [undefined, undefined]],
    [token, { profile: 'keyless' }, [undefined, undefined]],
    [{ ...at('prod'), ...key, ...token }, { profile: 'keyless' }, [undefined, undefined]],
    // The environment names the same profile, or its address.
    [{ BENCHTOP_PROFILE: 'keyless', ...key }, { profile: 'keyless' }, ['sk-env', 'sk-env']],
    [{ ...at('keyless'), ...key, ...token }, { profile: 'keyless' }, ['sk-env', 'tok-env']],
    [{ ...inProd, ...token }, { profile: 'prod' }, ['sk-prod', 'sk-prod']],
    [{ ...inProd, ...key, ...token }, {}, ['sk-env', 'tok-env']],
    [{ ...inProd, ...key, ...token }, { baseUrl: 'https://else.example' }, [undefined, undefined]],
    [{ ...key, ...token }, { baseUrl: 'https://else.example' }, ['sk-env', 'tok-env']],
    // Flags count in any profile.
    [{ MINE: 'sk-flag' }, { profile: 'keyless', apiKeyEnv: 'MINE' }, ['sk-flag', 'sk-flag']],
    [{ MINE: 'tok-flag' }, { profile: 'lab', inferenceTokenEnv: 'MINE' }, ['sk-lab', 'tok-flag']],
    // The key is for the base address, the token for that of chat.
    [{ ...at('env'), ...chatAt('chat'), ...key, ...token }, {}, ['sk-env', 'tok-env']],
    [
      { ...at('env'), ...chatAt('chat'), ...key, ...token },
      { baseUrl: 'https://chat.example' },
      [undefined, 'tok-env'],
    ],
    [
      { ...at('env'), ...chatAt('chat'), ...key, ...token },
      { baseUrl: 'https://env.example', inferenceUrl: 'https://env.example' },
      ['sk-env', 'sk-env'],
    ],
    [{}, { profile: 'split' }, ['sk-split', 'sk-split']],
    [{}, { profile: 'split', baseUrl: 'https://chat.example' }, [undefined, 'sk-split']],
    [{ BENCHTOP_PROFILE: 'split', ...token }, {}, ['sk-split', 'tok-env']],
    [{ BENCHTOP_PROFILE: 'split', ...key }, {}, ['sk-env', 'sk-env']],
  ])('with %j and %j is sent only where it was meant to go (X3)', async (environment, flags, expected) => {
    const { apiKey, inferenceToken } = remote({ settings: lab, environment, flags });
    expect([await apiKey?.get(), await inferenceToken?.get()]).toEqual(expected);
  });

  it('explains why that of the environment is not used if --profile names another profile (X3)', () => {
    const { warnings } = resolve({ settings: lab, environment: key, flags: { profile: 'keyless' } });
    expect(warnings).toEqual([expect.stringMatching(/^BENCHTOP_API_KEY is not sent to keyless\.example: --profile/)]);
  });

  it('is the one set with the address if both have one source, or the same origin', async () => {
    const environment = { BENCHTOP_BASE_URL: 'https://env.example', BENCHTOP_API_KEY: 'sk-env' };
    expect(await remote({ environment }).apiKey?.get()).toBe('sk-env');
    expect(await remote({ flags: { baseUrl: 'https://prod.example/other' } }).apiKey?.get()).toBe('sk-prod');
  });

  it('is the inference token for inference, at its own address', async () => {
    const service = remote({ flags: { profile: 'staging' } });
    expect(service.inferenceUrl.value).toBe('https://chat.example');
    expect(service.apiKey).toBeUndefined();
    expect(await service.inferenceToken?.get()).toBe('tok-chat');
  });

  it('is not used without an address, and the user is warned', () => {
    const profile = resolve({ settings: {}, environment: { BENCHTOP_API_KEY: 'sk-env' } });
    expect(profile.service.kind).toBe('local');
    expect(profile.warnings).toEqual([expect.stringMatching(/BENCHTOP_API_KEY is set, but no address is/)]);
  });

  it.each<[Given, RegExp | undefined]>([
    [{ environment: { BENCHTOP_API_KEY: 'sk-env' } }, /^BENCHTOP_API_KEY is set, but no address is/],
    [{ flags: { apiKeyFile: '/key' } }, /^--api-key-file is set/],
    [{ flags: { apiKeyEnv: 'KEY', profile: 'local' } }, /^--api-key-env is set/],
    [{ environment: { BENCHTOP_BASE_URL: ' ' } }, /^BENCHTOP_BASE_URL is set but empty/],
    [{ environment: { BENCHTOP_PROFILE: '' } }, /^BENCHTOP_PROFILE is set but empty/],
    [{}, undefined],
    [{ environment: { BENCHTOP_API_KEY: 'sk-env', BENCHTOP_PROFILE: 'local' } }, undefined],
    [{ environment: { BENCHTOP_API_KEY: 'sk-env', BENCHTOP_BASE_URL: '' }, flags: { profile: 'local' } }, undefined],
  ])('explains why a script must not fall back to the local service: %j', (given, words) => {
    const { missingAddress, service } = resolve({ settings: {}, ...given });
    expect(service.kind).toBe('local');
    if (words) expect(missingAddress?.message).toMatch(words);
    else expect(missingAddress).toBeUndefined();
  });
});

describe('the local service’s upstream', () => {
  it('has its own key', async () => {
    const given = {
      settings: { profiles: { local: { upstream: 'http://127.0.0.1:11434', upstreamKey: 'sk-up' } } },
    };
    const { upstream } = local(given);
    expect(upstream?.url.value).toBe('http://127.0.0.1:11434');
    expect(await upstream?.key?.get()).toBe('sk-up');
    expect(local({ ...given, flags: { upstream: 'https://else.example' } }).upstream?.key).toBeUndefined();
  });
});
