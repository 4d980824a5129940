import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

it('a reward that the service answers for another trajectory has an unknown outcome', async () => {
  const server = await hostileServer(json({ ok: true, trajectory_id: 'traj_2', status: 'logged' }));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code, out, notes } = await cli('reward', ['traj_1', 'quality', '0.4', '--reward-id', 'r1']);
  expect([code, out]).toEqual([exitCodes.endUnseen, '']);
  expect(notes).toContain('The service answered for the trajectory traj_2 instead of traj_1.');
  expect(notes).toContain('--reward-id r1');
  expect((await cli('reward', ['traj_2', 'quality', '0.4'])).code).toBe(exitCodes.done);
});
