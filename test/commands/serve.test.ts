/** `benchtop serve`: where it looks for a running service, and what it says about one on another folder. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { findService } from '../../src/local/daemon/client.ts';
import { eventually } from '../eventually.ts';
import { cliOn, testFolder } from './cli.ts';

it('--status and --stop say if they looked, and how to reach a service on another folder', async () => {
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
  expect(status.notes).toMatch(/^Another runs on .* at http:\/\/127\.0\.0\.1:\d+: /);
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

it('passes on to the server that the variable names', async () => {
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
])('passes nothing on with %s', async (_, given, flags) => {
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

it('names the variable whose address cannot be used', async () => {
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
