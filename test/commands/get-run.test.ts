/** `benchtop get` on an evaluation run with missing or unreadable parts. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { eventually } from '../eventually.ts';
import { type Behaviour, hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const missing = refusal(404, 'invalid_request_error', 'resource_not_found');

/** A service with one run, `evr_1`. */
async function serviceOf(parts: { run: object; progress?: object; rewards: Behaviour }) {
  const { run, progress, rewards } = parts;
  const server = await hostileServer((response, request) => {
    const path = request.url.split('?')[0];
    const answer =
      path === '/api/v1/eval/evr_1'
        ? json({ eval_run_id: 'evr_1', ...run })
        : path === '/api/v1/eval/evr_1/progress' && progress
          ? json({ eval_run_id: 'evr_1', ...progress })
          : path === '/api/v1/eval/evr_1/trajectory-rewards'
            ? rewards
            : missing;
    return answer(response, request);
  });
  return cliOn({ baseUrl: server.url, apiKey: 'key' });
}

const unreadable: readonly (readonly [string, Behaviour])[] = [
  ['a refusal', refusal(403, 'permission_error', 'forbidden')],
  ['the rewards of another run', json({ eval_run_id: 'evr_2', trajectory_rewards: [] })],
];

it.each(unreadable)('says that the rewards could not be read, and why: %s', async (_, rewards) => {
  const cli = await serviceOf({ run: { status: 'completed', reward_mean: null }, rewards });
  const { code, out, notes } = await cli('get', ['run', 'evr_1']);
  expect(code).toBe(0);
  expect(out).toMatch(/^mean +could not be read$/m);
  expect(notes).toContain('The rewards could not be read. ');
  expect((await cli('get', ['run', 'evr_1', '--json'])).notes).toContain('The rewards could not be read. ');
});

it('shows the mean of the progress if the rewards cannot be read', async () => {
  const cli = await serviceOf({
    run: { status: 'completed' },
    progress: { status: 'completed', total_rollouts: 2, terminal_rollouts: 2, live: { final_reward_mean: 0.25 } },
    rewards: refusal(403, 'permission_error', 'forbidden'),
  });
  const { out, notes } = await cli('get', ['run', 'evr_1']);
  expect(out.match(/^mean .*$/gm)).toEqual([expect.stringMatching(/^mean +0\.250$/)]);
  expect(notes).toContain('The rewards could not be read. ');
});

it('takes the status from the progress if the record has none', async () => {
  const cli = await serviceOf({
    run: { status: null },
    progress: { status: 'completed', total_rollouts: 2, terminal_rollouts: 2 },
    rewards: json({
      eval_run_id: 'evr_1',
      trajectory_rewards: [1, 0].map((reward, at) => ({ reward, trajectory_id: `traj_${at}`, task_id: `t${at}` })),
    }),
  });
  const { out } = await cli('get', ['run', 'evr_1']);
  expect(out).toMatch(/^status +completed$/m);
  expect(out).toMatch(/^mean +0\.500 over 2 rewards$/m);
  expect(JSON.parse((await cli('get', ['run', 'evr_1', '--json'])).out)).toMatchObject({ status: 'completed' });
});

it('says why a run waits, like list and watch', async () => {
  const waits_because = 'The disk is full.';
  const run = { status: 'running', bench_id: 'bench_1', display_name: 'first', waits_because };
  const server = await hostileServer((response, request) => {
    const path = request.url.split('?')[0];
    const record = { eval_run_id: 'evr_1', ...run };
    if (path === '/api/v1/benchmarks') return json({ items: [{ bench_id: 'bench_1' }] })(response, request);
    if (path === '/api/v1/eval/bench_1/runs') return json([record])(response, request);
    return (path === '/api/v1/eval/evr_1' ? json(record) : missing)(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  expect((await cli('get', ['run', 'evr_1'])).out).toMatch(/^waits +The disk is full\.$/m);
  const list = (...flags: readonly string[]) => cli('list', ['runs', '--benchmark', 'bench_1', ...flags]);
  expect((await list()).notes).toContain('first waits: The disk is full.');
  for (const status of ['waiting', 'running'])
    for (const flags of [
      ['--status', status],
      ['--filter', `status=${status}`],
    ])
      expect(await list('--ids', ...flags)).toMatchObject({ code: 0, out: 'evr_1\n' });
  expect(await list('--status', 'pending')).toMatchObject({ code: 0, notes: 'No runs match.' });
  const stop = new AbortController();
  const watched = await cli('watch', ['evr_1'], { signal: stop.signal, onPrint: () => stop.abort() });
  expect(watched.notes).toContain('waits: The disk is full.');
});

it('says that the service returns several rewards for a trajectory, and which one counts', async () => {
  const cli = await serviceOf({
    run: { status: 'completed' },
    progress: { status: 'completed', total_rollouts: 1, terminal_rollouts: 1 },
    rewards: json({
      eval_run_id: 'evr_1',
      trajectory_rewards: [1, 0].map(reward => ({ reward, trajectory_id: 'traj_1', task_id: 't1' })),
    }),
  });
  const { out, notes } = await cli('get', ['run', 'evr_1']);
  expect(out).toMatch(/^mean +0 over 1 reward/m);
  expect(notes).toContain("1 trajectory has several rewards in the service's response: the last one counts");
});

it('has no held-out rewards', async () => {
  const cli = await serviceOf({
    run: { status: 'completed' },
    progress: { status: 'completed', total_rollouts: 0, terminal_rollouts: 0 },
    rewards: json({ eval_run_id: 'evr_1', trajectory_rewards: [] }),
  });
  for (const field of ['held_out', 'held_out.best']) {
    const { code, out, notes } = await cli('get', ['run', 'evr_1', '--field', field]);
    expect([code, out]).toEqual([exitCodes.usage, '']);
    expect(notes).toContain(`There is no field ${field}`);
  }
});

describe('a slow service (out29 B6)', () => {
  const run = { eval_run_id: 'evr_1', status: 'completed', display_name: 'first' };
  const rewards = { eval_run_id: 'evr_1', trajectory_rewards: [{ reward: 1, trajectory_id: 't', task_id: 'a' }] };
  const progress = { eval_run_id: 'evr_1', status: 'completed', total_rollouts: 1, terminal_rollouts: 1 };

  /** A service whose answers wait for `next`, which names the requests in flight. */
  async function waiting(hasRecord: boolean) {
    const held = new Map<string, () => unknown>();
    const { url } = await hostileServer((response, request) => {
      const path = request.url.replace('/api/v1/eval/', '').split('?')[0] ?? '';
      const answers = new Map<string, Behaviour>([
        ['evr_1', hasRecord ? json(run) : missing],
        ['evr_1/progress', json(progress)],
        ['evr_1/trajectory-rewards', json(rewards)],
      ]);
      held.set(path, () => (answers.get(path) ?? missing)(response, request));
    });
    const next = async (...paths: readonly string[]): Promise<void> => {
      await eventually(() => expect([...held.keys()].sort()).toEqual(paths));
      const answers = [...held.values()];
      held.clear();
      for (const answer of answers) answer();
    };
    return { next, cli: cliOn({ baseUrl: url, apiKey: 'key' }) };
  }

  it('is asked for the record and the progress once', async () => {
    const { next, cli } = await waiting(true);
    const read = cli('get', ['run', 'evr_1']);
    await next('evr_1');
    await next('evr_1/progress');
    await next('evr_1/trajectory-rewards');
    expect((await read).out).toMatch(/^mean +1\.00 over 1 reward$/m);
  });

  it('is asked for the record only if that has the field', async () => {
    const { next, cli } = await waiting(true);
    const read = cli('get', ['run', 'evr_1', '--field', 'display_name']);
    await next('evr_1');
    expect((await read).out).toBe('first\n');
  });

  it('is reported as slow on a terminal, once', async () => {
    const { next, cli } = await waiting(true);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const said: string[] = [];
    const read = cli('get', ['run', 'evr_1'], { columns: 80, onNote: text => void said.push(text) });
    await next('evr_1');
    expect(said).toEqual([]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(said).toEqual(['Waiting for the response to getEvalProgress: the service is slow.']);
    await next('evr_1/progress');
    await vi.advanceTimersByTimeAsync(3_000);
    expect(said).toHaveLength(1);
    vi.useRealTimers();
    await next('evr_1/trajectory-rewards');
    expect((await read).code).toBe(0);
  });
});
