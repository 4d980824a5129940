import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { apiKey, type Behaviour, hostileServer, json, resetAtOnce } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

it('reports an unknown outcome if the service answers for another trajectory', async () => {
  const server = await hostileServer(json({ ok: true, trajectory_id: 'traj_2', status: 'logged' }));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code, out, notes } = await cli('reward', ['traj_1', 'quality', '0.4', '--reward-id', 'r1']);
  expect([code, out]).toEqual([exitCodes.endUnseen, '']);
  expect(notes).toContain('The service answered for the trajectory traj_2 instead of traj_1.');
  expect(notes).toContain('--reward-id r1');
  expect((await cli('reward', ['traj_2', 'quality', '0.4'])).code).toBe(exitCodes.done);
});

const logged: Behaviour = (response, request) =>
  json({ ok: true, trajectory_id: 'traj_1', status: 'logged' })(response, request);

it('recognises the repeat of a reward whose answer was lost, and counts it once (A2)', async () => {
  const server = await hostileServer(resetAtOnce, logged);
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const sent = () =>
    server.requests.map(({ body, headers }) => [JSON.parse(body).reward_id, String(headers['idempotency-key'])]);
  const words = ['traj_1', 'quality', '1'];
  expect((await cli('reward', words)).code).toBe(exitCodes.endUnseen);
  const [[id = '', key = ''] = []] = sent();
  // The token may have been renewed.
  const repeated = await cli('reward', [...words, '--token-env', 'TOKEN'], { environment: { TOKEN: 'renewed' } });
  expect([repeated.code, repeated.out, sent()]).toEqual([exitCodes.endUnseen, '', [[id, key]]]);
  expect(repeated.notes).toMatch(/Nothing was sent\. The same request was sent at .* it may have succeeded\./);
  expect(repeated.notes).toContain(`add --reward-id ${id}`);
  expect(await cli('reward', ['traj_1', 'quality', '0.5'])).toMatchObject({ code: exitCodes.done });
  expect(await cli('reward', [...words, '--reward-id', id])).toMatchObject({ code: exitCodes.done, out: `${id}\n` });
  expect(await cli('reward', words)).toMatchObject({ code: exitCodes.done });
  expect(sent()[2]).toEqual([id, key]);
  expect(new Set(sent().map(([each]) => each)).size).toBe(3);
});

it('gives a reward with an id from the user its own idempotency key', async () => {
  const server = await hostileServer(logged);
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  for (const words of [
    ['traj_1', '1'],
    ['traj_1', '1'],
    ['traj_1', '2'],
    ['traj_2', '1'],
  ] as const)
    await cli('reward', [words[0], 'quality', words[1], '--reward-id', 'r1']);
  expect(server.requests.map(({ body }) => JSON.parse(body).reward_id)).toEqual(['r1', 'r1', 'r1', 'r1']);
  const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
  expect([keys[1], new Set(['r1', ...keys]).size]).toEqual([keys[0], 4]);
});

it('repeats a reward with its id if the service honours idempotency keys', async () => {
  const server = await hostileServer(resetAtOnce, logged);
  const [settings, home] = [testFolder(), testFolder()];
  const cli = cliOn({ baseUrl: server.url, apiKey, home });
  const reward = (assumptions: object) => {
    const profiles = { lab: { baseUrl: server.url, apiKey, assumptions } };
    writeFileSync(join(settings, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    const environment = { BENCHTOP_CONFIG_DIR: settings };
    return cli('reward', ['traj_1', 'quality', '1', '--profile', 'lab'], { environment });
  };
  expect((await reward({})).code).toBe(exitCodes.endUnseen);
  const { code, notes } = await reward({ honoursIdempotencyKey: 'yes' });
  expect([code, notes]).toEqual([exitCodes.done, expect.stringContaining('with the same reward id')]);
  const [first, second] = server.requests.map(({ body }) => JSON.parse(body).reward_id);
  expect(second).toBe(first);
});

it('repeats a reward with its id at any age, as services do not forget the id (attack31)', async () => {
  const server = await hostileServer(resetAtOnce, resetAtOnce, resetAtOnce, logged);
  const [settings, home] = [testFolder(), testFolder()];
  const profiles = { lab: { baseUrl: server.url, apiKey, assumptions: { honoursIdempotencyKey: 'yes' } } };
  writeFileSync(join(settings, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const cli = cliOn({ baseUrl: server.url, apiKey, home });
  const reward = () =>
    cli('reward', ['traj_1', 'quality', '1', '--profile', 'lab'], { environment: { BENCHTOP_CONFIG_DIR: settings } });
  expect((await reward()).code).toBe(exitCodes.endUnseen);
  const database = new DatabaseSync(join(home, '.local/state/benchtop/remembered.db'));
  database.prepare('update starts set sent_at = sent_at - ?').run(3 * 24 * 60 * 60_000);
  database.close();
  const { code, notes } = await reward();
  expect([code, notes]).toEqual([exitCodes.done, expect.stringContaining('with the same reward id')]);
  expect(server.requests.length).toBe(4);
  expect(new Set(server.requests.map(({ body }) => JSON.parse(body).reward_id)).size).toBe(1);
});

it.each([
  ['without', [], ['--reward-id']],
  ['with', ['--reward-id'], []],
] as const)('reuses the idempotency key of a lost reward that was sent %s an id', async (_, first, second) => {
  const server = await hostileServer(resetAtOnce, resetAtOnce, resetAtOnce, logged);
  const [settings, home] = [testFolder(), testFolder()];
  const profiles = { lab: { baseUrl: server.url, apiKey, assumptions: { honoursIdempotencyKey: 'yes' } } };
  writeFileSync(join(settings, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const sent = () =>
    server.requests.map(({ body, headers }) => [JSON.parse(body).reward_id, headers['idempotency-key']]);
  const reward = (flags: readonly string[]) =>
    cliOn({ baseUrl: server.url, apiKey, home })(
      'reward',
      ['traj_1', 'quality', '1', '--profile', 'lab', ...flags.flatMap(flag => [flag, sent()[0]?.[0] ?? 'mine'])],
      { environment: { BENCHTOP_CONFIG_DIR: settings } },
    );
  expect((await reward(first)).code).toBe(exitCodes.endUnseen);
  expect((await reward(second)).code).toBe(exitCodes.done);
  expect(sent().length).toBe(4);
  expect(new Set(sent().map(each => JSON.stringify(each))).size).toBe(1);
});
