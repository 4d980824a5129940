/** `benchtop serve`: how it finds a running service, and what it says about one on another folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { exitCodes, Interruption } from '../../src/commands/exit.ts';
import { jobNotes } from '../../src/commands/serve.ts';
import { findService } from '../../src/local/daemon/client.ts';
import { lockFolder } from '../../src/local/daemon/files.ts';
import { eventually } from '../eventually.ts';
import { cliOn, testFolder } from './cli.ts';

it('--status and --stop say if they checked, and how to reach a service on another folder', async () => {
  const home = testFolder();
  const own = join(home, '.local/share/benchtop');
  const other = join(home, 'data of mine');
  const cli = cliOn({ baseUrl: '', apiKey: '', home });
  const { promise: up, resolve } = Promise.withResolvers<string>();
  const serving = cli('serve', ['--data', other], { onPrint: resolve });
  expect(await up).toContain(`benchtop serves ${other} at http://127.0.0.1:`);

  const quoted = `'${other}'`;
  const status = await cli('serve', ['--status']);
  expect(status).toMatchObject({ code: exitCodes.failed, out: `not running on ${own}\n` });
  expect(status.notes).toMatch(/^Another service runs on .* at http:\/\/127\.0\.0\.1:\d+: /);
  expect(status.notes).toContain(`benchtop serve --status --data ${quoted} shows it.`);
  const known = JSON.parse((await cli('serve', ['--status', '--json'])).out);
  expect(known).toMatchObject({ running: false, data: own, others: [{ data: other, pid: process.pid }] });
  const there = await cli('serve', ['--status', '--data', other]);
  expect(there).toMatchObject({ code: exitCodes.done, notes: '' });
  expect(there.out).toMatch(/^running at http:\/\/127\.0\.0\.1:\d+, process \d+, on /);

  const again = await cli('serve', ['--data', other]);
  expect(again).toMatchObject({ code: exitCodes.failed, out: '' });
  expect(again.notes).toContain(`benchtop serve --stop --data ${quoted}`);

  const stop = await cli('serve', ['--stop']);
  expect(stop).toMatchObject({ code: exitCodes.done, out: `not running on ${own}\n` });
  expect(stop.notes).toContain(`benchtop serve --stop --data ${quoted} stops it.`);
  // A killed service leaves its record behind.
  const notes = join(home, '.local/state/benchtop/services');
  writeFileSync(join(notes, '999999'), join(home, 'gone'));
  expect(JSON.parse((await cli('serve', ['--stop', '--json', '--data', other])).out)).toEqual({
    stopped: true,
    data: other,
  });
  expect((await serving).code).toBe(exitCodes.done);
  expect(await cli('serve', ['--status'])).toMatchObject({ out: `not running on ${own}\n`, notes: '' });
  expect(readdirSync(notes)).toEqual([]);
});

it.each([
  ['data/api-key', []],
  ['key', ['--api-key-file', '%home%/key']],
  ['the environment variable OWN_KEY', ['--api-key-env', 'OWN_KEY']],
])('says that the API key is in %s (attack24 B9)', async (place, given) => {
  const home = testFolder();
  writeFileSync(join(home, 'key'), 'a-key-of-mine', { mode: 0o600 });
  const flags = ['--data', join(home, 'data'), ...given.map(word => word.replace('%home%', home))];
  const ended = new AbortController();
  let printed = '';
  const { code } = await cliOn({ baseUrl: '', apiKey: '', home })('serve', flags, {
    environment: { OWN_KEY: 'a-key-of-mine' },
    signal: ended.signal,
    onPrint: text => {
      printed += text;
      ended.abort();
    },
  });
  expect(code).toBe(exitCodes.done);
  expect(printed.replace(`in ${home}/`, 'in ')).toContain(`The API key is in ${place}. Press`);
});

it('prints a path from the environment without control characters', async () => {
  const evil = '/nowhere/ev\u001b]0;pwn\u0007';
  const cli = cliOn({ baseUrl: '', apiKey: '' });
  const environment = { BENCHTOP_DATA_DIR: evil, XDG_CONFIG_HOME: evil };
  for (const flag of ['--status', '--stop']) {
    expect((await cli('serve', [flag], { environment })).out).toBe('not running on /nowhere/ev\n');
  }
  const shown = await cli('config path', [], { environment, columns: 80 });
  expect(shown.out).toBe('/nowhere/ev/benchtop/config.json\n');
  // In a pipe it is data.
  expect((await cli('config path', [], { environment })).out).toBe(`${evil}/benchtop/config.json\n`);
});

it('uses the upstream server that the variable names', async () => {
  const home = testFolder();
  const cli = cliOn({ baseUrl: '', apiKey: '', home });
  const { promise: up, resolve } = Promise.withResolvers<string>();
  const environment = { BENCHTOP_UPSTREAM: 'http://127.0.0.1:9' };
  const serving = cli('serve', ['--data', home], { onPrint: resolve, environment });
  const [address] = /http:\S+\d/.exec(await up) ?? [];
  const headers = { 'X-API-Key': readFileSync(join(home, 'api-key'), 'utf8').trim() };
  const health = (await (await fetch(`${address}/local/health`, { headers })).json()) as object;
  expect(health).toMatchObject({ upstream: 'http://127.0.0.1:9' });
  await cli('serve', ['--stop', '--data', home]);
  expect((await serving).code).toBe(exitCodes.done);
});

it.each([
  ['an empty variable', '', []],
  ['the variable of a screen that started it without a server', 'http://127.0.0.1:9', ['--background']],
])('uses no upstream server with %s', async (_, given, flags) => {
  const home = testFolder();
  const cli = cliOn({ baseUrl: '', apiKey: '', home });
  const serving = cli('serve', ['--data', home, ...flags], { environment: { BENCHTOP_UPSTREAM: given } });
  const running = await eventually(async () => {
    const found = await findService(home);
    if (!found) throw new Error('It does not answer yet.');
    return found;
  });
  expect(running.upstream).toBeNull();
  await cli('serve', ['--stop', '--data', home]);
  expect((await serving).code).toBe(exitCodes.done);
});

it('names the variable with an invalid address', async () => {
  const cli = cliOn({ baseUrl: '', apiKey: '', home: testFolder() });
  const { code, notes } = await cli('serve', [], { environment: { BENCHTOP_UPSTREAM: 'nonsense' } });
  expect(code).not.toBe(exitCodes.done);
  expect(notes).toContain('BENCHTOP_UPSTREAM');
  expect(notes).not.toContain('--upstream');
});

it.each([
  [['--json'], /--json is for --status and --stop/],
  [['--data', ''], /--data takes a value/],
])('refuses %j', async (args, words) => {
  const { code, out, notes } = await cliOn({ baseUrl: '', apiKey: '' })('serve', args);
  expect([code, out]).toEqual([exitCodes.usage, '']);
  expect(notes).toMatch(words);
});

/** A process that holds a data folder, and neither answers nor exits on request. */
async function silentProcess(folder: string) {
  const files = fileURLToPath(new URL('../../src/local/daemon/files.ts', import.meta.url));
  const script = `import { lockFolder, recordHolder } from ${JSON.stringify(files)};
    process.on('SIGTERM', () => {});
    lockFolder(process.argv[1]);
    recordHolder(process.argv[1]);
    setInterval(() => {}, 60_000);
    console.log('has it');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return { pid: child.pid, ended: once(child, 'exit') };
}

it('--status and --stop find a hung process that holds the folder, and --stop kills it (X1)', async () => {
  const home = testFolder();
  const data = join(home, 'data');
  mkdirSync(data);
  const cli = cliOn({ baseUrl: '', apiKey: '', home });
  const { pid, ended } = await silentProcess(data);
  const status = await cli('serve', ['--status', '--data', data]);
  expect(status).toMatchObject({ code: exitCodes.failed, out: `process ${pid} holds ${data} but does not respond\n` });
  expect(status.notes).toContain(`benchtop serve --stop --data ${data} ends it.`);
  const json = await cli('serve', ['--status', '--json', '--data', data]);
  expect(JSON.parse(json.out)).toMatchObject({ running: false, silent: true, pid });

  const unasked = await cli('serve', ['--stop', '--data', data]);
  expect(unasked).toMatchObject({ code: exitCodes.usage, out: '' });
  expect(unasked.notes).toMatch(/^benchtop: Process \d+ holds .* but does not respond\. End it\? .* add --yes\./);
  const stop = await cli('serve', ['--stop', '--yes', '--data', data]);
  expect(stop).toMatchObject({ code: exitCodes.done, out: expect.stringContaining(`ended process ${pid}; `) });
  expect((await ended)[1]).toBe('SIGKILL');
  expect((await cli('serve', ['--status', '--data', data])).out).toBe(`not running on ${data}\n`);
});

it('stops on ctrl-c while another process holds the folder (V5)', async () => {
  const home = testFolder();
  const unlock = lockFolder(home);
  const interrupted = new AbortController();
  const serving = cliOn({ baseUrl: '', apiKey: '', home })('serve', ['--data', home], { signal: interrupted.signal });
  interrupted.abort(new Interruption(exitCodes.interrupted));
  expect((await serving).code).toBe(exitCodes.interrupted);
  unlock?.();
});

it('lists jobs that were set aside, and jobs that wait', () => {
  const set_aside = [{ id: 'evr_1', kind: 'evaluation', at: '' }];
  const waiting = [{ id: 'trn_1', kind: 'training', message: 'The disk of this machine is full.' }];
  expect(jobNotes({ set_aside, waiting })).toEqual([
    'The evaluation evr_1 was set aside: the service ended abnormally during it. benchtop get evr_1',
    'The training trn_1 is waiting for a retry: The disk of this machine is full.',
  ]);
});
