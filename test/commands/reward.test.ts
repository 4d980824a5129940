import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { apiKey, type Behaviour, hostileServer, json, resetAtOnce } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

it('a reward that the service answers for another trajectory has an unknown outcome', async () => {
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

it('a repeat of a reward whose answer was lost is recognised, and counts once (A2)', async () => {
  const server = await hostileServer(resetAtOnce, logged);
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const sent = () =>
    server.requests.map(({ body, headers }) => [JSON.parse(body).reward_id, String(headers['idempotency-key'])]);
  const words = ['traj_1', 'quality', '1'];
  expect((await cli('reward', words)).code).toBe(exitCodes.endUnseen);
  const [[id = '', key] = []] = sent();
  expect(key).toBe(id);
  // The token may have been renewed.
  const repeated = await cli('reward', [...words, '--token-env', 'TOKEN'], { environment: { TOKEN: 'renewed' } });
  expect([repeated.code, repeated.out, sent()]).toEqual([exitCodes.endUnseen, '', [[id, id]]]);
  expect(repeated.notes).toMatch(/Nothing was sent\. The same request was sent at .* it may have succeeded\./);
  expect(repeated.notes).toContain(`add --reward-id ${id}`);
  expect(await cli('reward', ['traj_1', 'quality', '0.5'])).toMatchObject({ code: exitCodes.done });
  expect(await cli('reward', [...words, '--reward-id', id])).toMatchObject({ code: exitCodes.done, out: `${id}\n` });
  expect(await cli('reward', words)).toMatchObject({ code: exitCodes.done });
  const ids = sent().map(([each]) => each);
  expect([ids[2], new Set(ids).size]).toEqual([id, 3]);
});

it('a reward with an id from the user does not take it for its idempotency key', async () => {
  const server = await hostileServer(logged);
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  for (let time = 0; time < 2; time += 1)
    expect((await cli('reward', ['traj_1', 'quality', '1', '--reward-id', 'r1'])).code).toBe(exitCodes.done);
  expect(server.requests.map(({ body }) => JSON.parse(body).reward_id)).toEqual(['r1', 'r1']);
  expect(new Set(['r1', ...server.requests.map(({ headers }) => headers['idempotency-key'])]).size).toBe(3);
});

it('repeats a reward with its id where the service honours idempotency keys', async () => {
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
