/** Commands fail if some of the rollouts could not be read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { answering } from '../answering.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

const ids = ['traj_1', 'traj_2', 'traj_3'];

interface World {
  /** The status of the answer to a trajectory. */
  readonly statuses?: Readonly<Record<string, number>>;
  readonly cutOff?: boolean;
  /** Whether the list says how rollouts ended. */
  readonly ends?: boolean;
}

/** A run of three rollouts, each with the text `needle`. */
async function serving({ statuses = {}, cutOff = false, ends = true }: World) {
  const server = await hostileServer((response, request) => {
    const path = request.url.split('?')[0] ?? '';
    const own = ids.find(id => path.endsWith(id));
    const row = (trajectory_id: string) => ({ trajectory_id, task_id: 'a', reward: 1 });
    if (own !== undefined) {
      const status = statuses[own] ?? 200;
      const steps = [{ step_index: 0, messages: [{ role: 'user', content: 'needle' }] }];
      const whole = { ...row(own), status: 'completed', num_steps: 1, steps };
      return (status === 200 ? json(whole) : refusal(status, 'api_error', 'none'))(response, request);
    }
    const run = { eval_run_id: 'evr_1', bench_id: 'b', status: 'completed', total_rollouts: 3 };
    if (path.endsWith('/evr_1')) return json(run)(response, request);
    if (path.endsWith('rewards')) return json({ trajectory_rewards: ids.map(row) })(response, request);
    const items = ids.map(id => ({ ...row(id), ...(ends && { status: 'completed' }) }));
    if (path === '/api/v1/trajectories') return json({ items, has_more: cutOff, next_cursor: null })(response, request);
    return refusal(404, 'not_found_error', 'none')(response, request);
  });
  return cliOn({ baseUrl: server.url, apiKey: 'key' });
}

const commands = ['export evr_1', 'tasks evr_1', 'failures evr_1', 'report evr_1', 'search needle --in evr_1'];

it.each(commands)('%s fails if the list was cut off', async words => {
  const [command = '', ...args] = words.split(' ');
  const whole = await (await serving({}))(command, args);
  expect([whole.code, whole.notes]).toEqual([exitCodes.done, expect.not.stringContaining('more rows')]);
  const { code, notes, out } = await (await serving({ cutOff: true }))(command, args);
  expect(notes).toContain('gives no way to read them');
  expect(code).toBe(exitCodes.failed);
  // The readable rollouts are still printed.
  expect(out).not.toBe('');
});

it.each([404, 400])('export names a trajectory that fails with %s, and continues', async status => {
  const file = join(testFolder(), 'most.jsonl');
  const cli = await serving({ statuses: { traj_2: status } });
  const { code, notes } = await cli('export', ['evr_1', '-o', file]);
  expect(readFileSync(file, 'utf8').match(/traj_\d/g)).toEqual(['traj_1', 'traj_3']);
  expect(notes).toContain('Left out: traj_2: ');
  expect(notes).toContain('1 left out');
  expect(code).toBe(exitCodes.failed);
});

it('export names trajectories that came without all steps and messages (B7)', async () => {
  const message = { role: 'user', content: 'needle' };
  const step = { step_index: 0, messages: [message] };
  const file = join(testFolder(), 'parts.jsonl');
  const records = {
    whole: { num_steps: 1, steps: [step] },
    empty: { num_steps: 0, steps: null },
    fewer: { num_steps: 3, steps: [step] },
    broken: { num_steps: 1, steps: [step, { step_index: 'x', messages: 'bad' }] },
    gap: { num_steps: 1, steps: [{ ...step, messages: [message, null] }] },
    none: { num_steps: 2, steps: null },
  };
  const { url } = await hostileServer(
    answering({
      getTrajectory: ({ trajectory_id = '' }) => ({
        trajectory_id,
        ...new Map(Object.entries(records)).get(trajectory_id),
      }),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  const { code, notes } = await cli('export', ['trajectory', ...Object.keys(records), '-o', file]);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(6);
  expect(notes.match(/^Incomplete: .*$/gm)).toEqual([
    'Incomplete: fewer: The service sent 1 of its 3 steps.',
    'Incomplete: broken: 1 step or message could not be read.',
    'Incomplete: gap: 1 step or message could not be read.',
    'Incomplete: none: The service sent no steps.',
  ]);
  expect(notes).toContain(`6 trajectories in ${file}; 4 incomplete`);
  expect(code).toBe(exitCodes.failed);
  expect((await cli('export', ['trajectory', 'whole', 'empty'])).code).toBe(exitCodes.done);
});

it.each(['failures evr_1', 'report evr_1'])('%s fails if a rollout could not be read', async words => {
  const [command = '', ...args] = words.split(' ');
  const cli = await serving({ statuses: { traj_2: 404 }, ends: false });
  const { code, notes, out } = await cli(command, args);
  expect(notes).toContain('1 rollout could not be read.');
  // It is in no class of those that were read without a status.
  if (command === 'failures') expect(out).toMatch(/^completed\tstatus\t2.*\ncould not be read\tstatus\t1\t/m);
  expect(code).toBe(exitCodes.failed);
});

it.each([
  ['list', ['deployments', '--all']],
  ['get', ['deployment', 'last']],
])('%s does not ask the user to correct a cursor that the service refuses (attack37 C2)', async (command, args) => {
  const server = await hostileServer((response, request) => {
    if (!request.url.startsWith('/api/v1/deploy')) return refusal(404, 'not_found_error', 'none')(response, request);
    if (request.url.includes('cursor=')) return refusal(400, 'validation_error', 'expired')(response, request);
    if (request.url.includes('last')) return refusal(404, 'not_found_error', 'none')(response, request);
    return json({ items: [{ deployment_id: 'dep_1' }], has_more: true, next_cursor: 'c' })(response, request);
  });
  const { code, notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })(command, args);
  expect(notes).toMatch(/The service refused to read on: .*\. Try again\.$/);
  expect(notes).not.toContain('Fix');
  expect(code).toBe(exitCodes.failed);
});
