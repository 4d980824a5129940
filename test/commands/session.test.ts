/** Adding a service, switching to another one, and leaving both. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { QueryObserver } from '@tanstack/react-query';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Session } from '../../src/commands/session.ts';
import type { NewProfile } from '../../src/ui/app/connection.ts';
import { eventually } from '../eventually.ts';
import { type Behaviour, hostileServer, json, refusal } from '../service/hostile-server.ts';
import { testFolder } from './cli.ts';

const page = json({ items: [], has_more: false });
const anySignal = new AbortController().signal;

interface Started {
  readonly session: Session;
  readonly file: string;
  readonly settings: () => unknown;
  /** The service shown at the start. */
  readonly url: string;
}

/** A session on a service that answers, with these settings in its file. */
async function started(
  settings: object | undefined = undefined,
  { flags = {}, ...script }: { flags?: object; behaviour?: Behaviour } = {},
): Promise<Started> {
  const { url } = await hostileServer(script.behaviour ?? page);
  const home = testFolder();
  const folder = join(home, '.config', 'benchtop');
  const file = join(folder, 'config.json');
  mkdirSync(folder, { recursive: true });
  if (settings) writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  const environment = { HOME: home, BENCHTOP_BASE_URL: url, BENCHTOP_API_KEY: 'sk-first-0123456789' };
  const session = new Session(flags, environment);
  onTestFinished(() => session.close());
  return { session, file, settings: () => JSON.parse(readFileSync(file, 'utf8')), url };
}

const lab = (baseUrl: string, other: Partial<NewProfile> = {}): NewProfile => ({
  name: 'lab',
  baseUrl,
  keySource: 'settings',
  key: 'sk-lab-0123456789',
  ...other,
});

describe('the connect window', () => {
  it('shows whether the current profile is in the settings file, and what is stored there', async () => {
    const { session, url } = await started();
    const { host } = new URL(url);
    expect(session.connection.keeping).toBe(
      `${host} is not in the settings file. It is saved there once the service has answered. As long as BENCHTOP_BASE_URL is set, benchtop starts with that.`,
    );
    await session.connection.setUp(lab(url), anySignal);
    session.connection.switchTo('lab');
    expect(session.connection.keeping).toBe(
      'lab is in the settings file. Your changes are saved there once the service has answered.',
    );
    session.connection.switchTo('local');
    expect(session.connection.keeping).toContain('The new profile is saved in the settings file');
  });
});

it('gives another profile no limits of a file that is read', async () => {
  const { url } = await hostileServer(page);
  const home = testFolder();
  const folder = testFolder();
  const settings = join(home, '.config', 'benchtop');
  mkdirSync(settings, { recursive: true });
  const profiles = { prod: { baseUrl: url, apiKey: 'sk-prod-0123456789' } };
  writeFileSync(join(settings, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const environment = { BENCHTOP_BASE_URL: url, BENCHTOP_READ_ONLY: '1', BENCHTOP_STATE_DIR: folder };
  const file = { title: 'a.jsonl', problem: undefined, notes: [], subscribe: () => () => {} };
  const session = new Session({}, { HOME: home }, { environment, file });
  onTestFinished(() => session.close());
  const limits = () => [session.workbench.file, session.workbench.readOnly, session.config.paths.state];
  expect(limits()).toEqual([file, true, folder]);
  session.connection.switchTo('prod');
  expect(limits()).toEqual([undefined, false, join(home, '.local', 'state', 'benchtop')]);
});

describe('a new service', () => {
  it('is asked first, with its key, and saved once it has answered', async () => {
    const { session, file, settings } = await started();
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const server = await hostileServer(async (response, request) => {
      asked.resolve();
      await goOn.promise;
      await page(response, request);
    });
    const done = session.connection.setUp(lab(server.url), anySignal);
    await asked.promise;
    expect(existsSync(file)).toBe(false);
    goOn.resolve();
    await done;
    expect(server.requests[0]?.headers['x-api-key']).toBe('sk-lab-0123456789');
    expect(settings()).toEqual({
      defaultProfile: 'lab',
      profiles: { lab: { baseUrl: server.url, apiKey: 'sk-lab-0123456789' } },
    });
    expect(session.connection.profiles).toEqual(['local', 'lab']);
    // It is shown when the user asks for it, not automatically.
    expect(session.shown.id).toBe(1);
  });

  it.each([
    ['refuses the key', refusal(401, 'authentication_error', 'authentication_required')],
    ['answers something else', json({ nothing: 'of this kind' })],
  ])('is not saved if it %s', async (_, behaviour) => {
    const before = { profiles: { lab: { baseUrl: 'https://good.example', apiKey: 'sk-good-0123456789' } } };
    const { session, settings } = await started(before);
    const server = await hostileServer(behaviour);
    await expect(session.connection.setUp(lab(server.url), anySignal)).rejects.toThrow();
    expect(settings()).toEqual(before);
  });

  it('changes nothing after a cancel, even if the answer comes later', async () => {
    const { session, file } = await started();
    const answer = Promise.withResolvers<void>();
    const server = await hostileServer(async (response, request) => {
      await answer.promise;
      await page(response, request);
    });
    const cancel = new AbortController();
    const done = session.connection.setUp(lab(server.url), cancel.signal);
    await eventually(() => expect(server.requests).toHaveLength(1));
    cancel.abort();
    await expect(done).rejects.toThrow();
    answer.resolve();
    await server.requests[0]?.closed;
    expect(existsSync(file)).toBe(false);
    expect(session.connection.current).not.toBe('lab');
  });

  it('can be cancelled while the command that prints its key still runs', async () => {
    const { session, file } = await started();
    const { url } = await hostileServer(page);
    const cancel = new AbortController();
    const done = session.connection.setUp(lab(url, { keySource: 'command', key: 'sleep 10' }), cancel.signal);
    cancel.abort(new Error('no longer wanted'));
    await expect(done).rejects.toThrow('no longer wanted');
    expect(existsSync(file)).toBe(false);
  });

  it('keeps the rest of its profile, but no inference address of another host', async () => {
    const server = await hostileServer(page);
    const known = { apiKeyEnv: 'LAB_KEY', readOnly: true, assumptions: {}, inferenceUrl: 'https://chat.example' };
    const { session, settings } = await started({
      theme: 'dark',
      profiles: { lab: { baseUrl: `${server.url}/old`, ...known }, prod: { baseUrl: 'https://prod.example' } },
    });
    const key = { apiKey: 'sk-lab-0123456789' };
    await session.connection.setUp(lab(server.url), anySignal);
    expect(settings()).toEqual({
      theme: 'dark',
      defaultProfile: 'lab',
      profiles: {
        lab: { baseUrl: server.url, readOnly: true, assumptions: {}, inferenceUrl: 'https://chat.example', ...key },
        prod: { baseUrl: 'https://prod.example' },
      },
    });
    const other = await hostileServer(page);
    await session.connection.setUp(lab(other.url), anySignal);
    expect(settings()).toMatchObject({
      profiles: { lab: { baseUrl: other.url, readOnly: true, assumptions: {}, ...key } },
    });
    expect(JSON.stringify(settings())).not.toContain('chat.example');
  });

  it.each([
    ['environment', 'sk_lab_0123456789', 'environment variable [redacted]'],
    ['environment', 'LAB_KEY', 'environment variable LAB_KEY'],
    ['file', 'sk-lab-0123456789', '/[redacted] does not exist'],
    ['file', '/nowhere/lab.key', '/nowhere/lab.key does not exist'],
    ['command', 'sk-lab-0123456789', '([redacted]) was not found'],
    ['command', 'sk-lab-0123456789 and-more', '([redacted]) was not found'],
    ['command', 'no-such-program show', '(no-such-program) was not found'],
  ] as const)('says for a key in the %s, %s, only what cannot be the key', async (keySource, key, words) => {
    const { session } = await started();
    const error = await session.connection.setUp(lab('https://lab.example', { keySource, key }), anySignal).then(
      () => undefined,
      (reason: unknown) => String(reason),
    );
    expect(error).toContain(words);
    expect(error).not.toContain('0123456789');
  });

  it('splits the words of a command like a shell', async () => {
    const { session, settings } = await started();
    const server = await hostileServer(page);
    const key = `printf %s "sk with"'-spaces' | tr -d ' '`;
    await session.connection.setUp(
      lab(server.url, { keySource: 'command', key: `sh -c '${key.replaceAll("'", `'\\''`)}'` }),
      anySignal,
    );
    expect(settings()).toMatchObject({ profiles: { lab: { apiKeyCommand: ['sh', '-c', key] } } });
    expect(server.requests[0]?.headers['x-api-key']).toBe('skwith-spaces');
    const open = session.connection.setUp(lab(server.url, { keySource: 'command', key: 'op read "op://' }), anySignal);
    await expect(open).rejects.toThrow('there is no closing "');
  });
});

describe('remembered data', () => {
  it('is separate for each address, even under the same name', async () => {
    const { url } = await hostileServer(page);
    const environment = { HOME: testFolder(), BENCHTOP_API_KEY: 'sk-first-0123456789' };
    const at = (address: string): Session => new Session({}, { ...environment, BENCHTOP_BASE_URL: address });
    const remembered = async (address: string, pin = false): Promise<string[]> => {
      const session = at(address);
      const store = session.workbench.remembered;
      if (pin) store.pin({ kind: 'run', id: 'evr_1', label: 'one' });
      const labels = (store.pinned() ?? []).map(({ label }) => label);
      await session.close();
      return labels;
    };
    expect(await remembered(url, true)).toEqual(['one']);
    expect(await remembered('http://127.0.0.1:9')).toEqual([]);
    expect(await remembered(`${url}/`)).toEqual(['one']);
  });
});

describe('another profile', () => {
  const profiles = { profiles: { lab: { baseUrl: 'http://127.0.0.1:9' } } };

  it('is shown in a new program', async () => {
    const { session } = await started(profiles);
    let calls = 0;
    session.subscribe(() => {
      calls += 1;
    });
    const first = session.shown;
    session.connection.switchTo('lab');
    expect(calls).toBe(1);
    expect(session.shown).toMatchObject({ id: 2, workbench: { profile: 'lab' } });
    expect(session.connection.current).toBe('lab');
    await session.release(first);
  });

  it('stays read-only if the program was started read-only', async () => {
    const { session } = await started(profiles, { flags: { readOnly: true } });
    expect(session.workbench.readOnly).toBe(true);
    session.connection.switchTo('lab');
    expect(session.workbench.readOnly).toBe(true);
  });

  it('keeps the previous one usable until it is released, and then sends nothing for it', async () => {
    const { session } = await started(profiles);
    const first = session.shown;
    first.workbench.remembered.setSetting('note', 'kept');
    session.connection.switchTo('lab');
    first.workbench.remembered.setSetting('late', 'kept as well');
    await session.release(first);
    // A view that is still mounted reads nothing from a closed store, reopens nothing, and gets no service.
    expect(first.workbench.remembered.setting('late')).toBeUndefined();
    await expect(first.workbench.service()).rejects.toThrow('switched to another service');
  });
});

describe('the settings file, changed by another program', () => {
  /** A session on an entry of the file, with a query on screen that has failed. */
  async function failing(behaviour: Behaviour, before: object) {
    const server = await hostileServer(behaviour);
    const home = testFolder();
    const file = join(home, '.config', 'benchtop', 'config.json');
    mkdirSync(join(file, '..'), { recursive: true });
    const write = (profile: object): void => {
      const settings = { defaultProfile: 'lab', profiles: { lab: { baseUrl: server.url, ...profile } } };
      writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
    };
    write(before);
    const session = new Session({}, { HOME: home });
    onTestFinished(() => session.close());
    const { workbench } = session;
    const show = (key: string) =>
      new QueryObserver(workbench.cache, {
        queryKey: [key],
        queryFn: async () => (await workbench.service()).background.call('listBenchmarks'),
      }).subscribe(() => {});
    onTestFinished(show('one'));
    onTestFinished(show('two'));
    const status = (key: string) => workbench.cache.getQueryState([key])?.status;
    await eventually(() => expect([status('one'), status('two')]).toEqual(['error', 'error']));
    return { session, server, file, write, status };
  }

  const takes =
    (key: string): Behaviour =>
    (response, request) =>
      request.headers['x-api-key'] === key
        ? page(response, request)
        : refusal(401, 'authentication_error', 'authentication_required')(response, request);

  it('makes the program read a refused key again, and refresh the screen once', async () => {
    const { session, server, write, status } = await failing(takes('sk-new-0123456789'), {
      apiKey: 'sk-old-0123456789',
    });
    const shown = session.shown.id;
    const before = server.requests.length;
    write({ apiKey: 'sk-new-0123456789' });
    await eventually(() => expect([status('one'), status('two')]).toEqual(['success', 'success']));
    // Each was refused with the old key at most once more.
    expect(server.requests.length - before).toBeLessThanOrEqual(4);
    expect(session.shown.id).toBe(shown);
    expect(session.config.redact('with sk-new-0123456789')).not.toContain('sk-new');
  });

  it.each([
    ['a file', 'sk-old-0123456789', (path: string) => ({ apiKeyFile: path })],
    ['a file that was missing', undefined, (path: string) => ({ apiKeyFile: path })],
    ['the file of a command', 'sk-old-0123456789', (path: string) => ({ apiKeyCommand: ['cat', path] })],
  ])('is not needed for a new key in %s', async (_, before, settings) => {
    const path = join(testFolder(), 'key');
    const write = (key: string): void => writeFileSync(path, key, { mode: 0o600 });
    if (before !== undefined) write(before);
    const { session, status } = await failing(takes('sk-new-0123456789'), settings(path));
    write('sk-new-0123456789');
    await eventually(() => expect([status('one'), status('two')]).toEqual(['success', 'success']));
    expect(session.shown.id).toBe(1);
  });

  it('switches to a new address if the old one does not work', async () => {
    const { session, write } = await failing(takes('sk-none'), { apiKey: 'sk-old-0123456789' });
    const { url } = await hostileServer(page);
    const shown = session.shown.id;
    write({ baseUrl: url, apiKey: 'sk-other-0123456789' });
    await eventually(() => expect(session.shown.id).toBe(shown + 1));
    expect(session.connection.baseUrl).toBe(url);
  });

  it('applies new limits of alarms, and names settings that need a restart (out31 B1)', async () => {
    const { session, file, url } = await started({});
    const { workbench, shown } = session;
    const write = (baseUrl: string, high: string): void =>
      writeFileSync(
        file,
        JSON.stringify({
          ...{ profiles: { lab: { baseUrl } }, alarms: { heldOut: `1.5..${high}` } },
          ...{ theme: 'light', notices: 'off', search: { indexMegabytes: 3 }, priceUnit: '$ per 1M' },
        }),
        { mode: 0o600 },
      );
    write(url, '2');
    await eventually(() => expect(workbench.alarmsFor(undefined).heldOut).toEqual([1.5, 2]));
    expect(session.connection.warnings[0]).toBe('Restart to apply changed settings: theme, search.');
    expect(session.config.preferences.notices).toBe('off');
    expect(session.config.preferences.theme).not.toBe('light');
    expect(workbench.priceUnit).toBeDefined();
    expect(session.shown).toBe(shown);
  });

  it('names settings that need a restart until they are changed back, even after a switch, for the profile too (out32 C8)', async () => {
    const { session, file, url } = await started({});
    const write = (settings: object, readOnly = false): void =>
      writeFileSync(file, JSON.stringify({ profiles: { lab: { baseUrl: url, readOnly } }, ...settings }), {
        mode: 0o600,
      });
    const waiting = (names: string | undefined) => () =>
      expect(session.connection.warnings[0]).toBe(names && `Restart to apply changed settings: ${names}.`);
    write({ theme: 'light', poll: { focusedSeconds: 5 } });
    await eventually(waiting('theme, poll'));
    session.connection.switchTo('lab');
    waiting('theme')();
    write({ theme: 'light', poll: { focusedSeconds: 5 } }, true);
    await eventually(waiting('theme, readOnly'));
    write({ poll: { focusedSeconds: 5 } });
    await eventually(waiting(undefined));
    session.connection.switchTo('lab');
    waiting(undefined)();
  });

  it('names another default profile as waiting, unless a flag has chosen the profile', async () => {
    const { url } = await hostileServer(page);
    const home = testFolder();
    const file = join(home, '.config', 'benchtop', 'config.json');
    mkdirSync(join(file, '..'), { recursive: true });
    const profiles = { lab: { baseUrl: url }, prod: { baseUrl: url } };
    const write = (defaultProfile: string, theme = 'dark'): void =>
      writeFileSync(file, JSON.stringify({ defaultProfile, profiles, theme }), { mode: 0o600 });
    write('lab');
    const sessions = [{}, { profile: 'lab' }].map(flags => new Session(flags, { HOME: home }));
    for (const session of sessions) onTestFinished(() => session.close());
    write('prod', 'light');
    const waiting = ['defaultProfile', undefined].map(name =>
      ['Restart to apply changed settings: theme', name].filter(Boolean).join(', ').concat('.'),
    );
    await eventually(() => expect(sessions.map(each => each.connection.warnings[0])).toEqual(waiting));
    expect(sessions.map(each => each.connection.current)).toEqual(['lab', 'lab']);
    write('lab');
    await eventually(() => expect(sessions.map(each => each.connection.warnings)).toEqual([[], []]));
  });

  it('says where the file is wrong, and when it is right again (attack37 C7)', async () => {
    const { session, file } = await started({});
    const [says, heard] = [vi.fn(), () => says.mock.calls.flat()];
    onTestFinished(session.subscribe(() => says(session.connection.warnings[0])));
    const write = async (text: string, words: string): Promise<void> => {
      writeFileSync(file, text);
      await eventually(() => expect(heard().at(-1)).toBe(words));
    };
    const kept = 'The earlier settings apply: config.json';
    await write(
      '{"alarms":{"silentMinutes":5},',
      `${kept} is not valid JSON at line 1, column 31. Correct it, or move it away to start without settings.`,
    );
    expect(session.workbench.alarmsFor(undefined).silentMs).not.toBe(300_000);
    await write(
      '{"alarms":{"silentMinutes":"soon"}}',
      `${kept} cannot be used:\n  alarms.silentMinutes must be a number`,
    );
    await write('{"alarms":{"silentMinutes":5}}', 'The settings file is right again, and its settings apply.');
    expect(session.workbench.alarmsFor(undefined).silentMs).toBe(300_000);
    await write('{"theme":"light"}', 'Restart to apply changed settings: theme.');
    expect(heard()).toHaveLength(4);
  });

  it('applies new limits beside a new address that is not used', async () => {
    const { session, file, write } = await failing(takes('sk-new-0123456789'), { apiKey: 'sk-old-0123456789' });
    const { shown, workbench } = session;
    workbench.unfinished.set('chat', { words: 'The answer from model-a in the chat' });
    const { url } = await hostileServer(page);
    write({ baseUrl: url });
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...settings, alarms: { evaluation: '0..1' } }));
    await eventually(() => expect(workbench.alarmsFor(undefined).evaluation).toEqual([0, 1]));
    expect(session.shown).toBe(shown);
  });

  it('stays on the current address while an answer would be lost', async () => {
    const { session, write } = await failing(takes('sk-new-0123456789'), { apiKey: 'sk-old-0123456789' });
    const shown = session.shown.id;
    session.workbench.unfinished.set('chat', { words: 'The answer from model-a in the chat' });
    const { url } = await hostileServer(page);
    const fails = vi.spyOn(session.workbench, 'fails');
    write({ baseUrl: url });
    // The session has read the file.
    await eventually(() => expect(fails).toHaveBeenCalled());
    write({ apiKey: 'sk-new-0123456789' });
    await eventually(() => expect(session.workbench.cache.getQueryState(['one'])?.status).toBe('success'));
    expect(session.shown.id).toBe(shown);
  });
});
