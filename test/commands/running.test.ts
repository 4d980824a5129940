/** Running evaluations: what `compare`, `watch` and `evaluate --wait` say about their rewards so far. */
import { expect, it } from 'vitest';
import { apiKey, hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

/**
 * Eight tasks of each run; `new` runs until it has been read this many times, and its progress may lag behind its
 * rewards.
 */
async function worldOf(reads = Number.POSITIVE_INFINITY, lag = 0) {
  let left = reads;
  const rewards = (count: number, reward: number) =>
    Array.from({ length: count }, (_, task) => ({ trajectory_id: `t${task}`, task_id: `task${task}`, reward }));
  const runOf = (eval_run_id: string) => {
    const runs = eval_run_id === 'evr_new' && left > 0;
    const outcome = {
      status: runs ? 'running' : 'completed',
      reward_mean: runs ? null : eval_run_id === 'evr_new' ? 1 : 0,
    };
    const options = { evaluation_samples_per_task: 1 };
    return { eval_run_id, bench_id: 'b1', display_name: eval_run_id, options, ...outcome };
  };
  const { url } = await hostileServer((response, request) => {
    const [, id = '', rest] =
      /^\/api\/v1\/eval\/(evr_\w+)(\/[\w-]+)?$/.exec(new URL(request.url, 'http://s').pathname) ?? [];
    const run = id && runOf(id);
    const isNew = id === 'evr_new';
    if (!run) return json({}, 404)(response, request);
    if (rest === '/trajectory-rewards') {
      const trajectory_rewards = rewards(isNew && run.status === 'running' ? 6 : 8, isNew ? 1 : 0);
      return json({ eval_run_id: id, trajectory_rewards })(response, request);
    }
    if (rest === '/progress') {
      const done = run.status === 'running' ? 6 - lag : 8;
      if (isNew) left -= 1;
      const live = { scored_rollouts: done, provisional_reward_mean: 1, final_reward_mean: run.reward_mean };
      return json({ ...run, terminal_rollouts: done, total_rollouts: 8, live })(response, request);
    }
    if (rest === '/rollout-statistics') return json({ eval_run_id: id, snapshots: [] })(response, request);
    return rest === undefined ? json(run)(response, request) : json({}, 404)(response, request);
  });
  return cliOn({ baseUrl: url, apiKey });
}

it('compare takes a running run, and counts future rewards as the lowest and as the highest', async () => {
  const cli = await worldOf();
  const { code, out, notes } = await cli('compare', ['evr_base', 'evr_new']);
  expect(code).toBe(0);
  expect(notes).toMatch(/evr_new is running: comparing its rewards so far; missing ones .*benchtop watch evr_new/);
  expect(out).toMatch(/^difference\t\+1\.00 over 6 tasks in both$/m);
  expect(out).toMatch(/^95% CI\t/m);
  expect(out).toMatch(/^verdict\tthe new run is better$/m);
  const gate = await cli('compare', ['evr_base', 'evr_new', '--fail-below', '0.9', '--json']);
  expect([gate.code, JSON.parse(gate.out)]).toMatchObject([1, { gate: 'undecided' }]);
  expect(gate.notes).toContain('2 of 8 rollouts of the new run have no reward yet');
  const ended = JSON.parse((await (await worldOf(0))('compare', ['evr_base', 'evr_new', '--json'])).out);
  expect(ended).toMatchObject({ verdict: 'better', interval: { confidence: 0.95 } });
});

it('watch says how certain the mean is, which rewards it covers, and when that applies', async () => {
  const { code, out } = await (await worldOf(2))('watch', ['evr_new']);
  expect(code).toBe(0);
  expect(out.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(
      /running, 6 of 8, mean 1\.00 over 6 rewards \(95% CI 0\.\d+ to 1\.00 over 6 of 8 tasks; 0\.750 to 1\.00 with the 2 to come\)$/,
    ),
    expect.stringMatching(/completed, 8 of 8, mean 1\.00 over 8 rewards \(95% CI 0\.\d+ to 1\.00 over 8 tasks\)$/),
  ]);
  const lines = (await (await worldOf(2))('watch', ['evr_new', '--json'])).out.trim().split('\n');
  expect(lines.map(line => JSON.parse(line).mean_bounds)).toEqual([{ low: 0.75, high: 1 }, null]);
});

it.each([[[]], [['--until', 'rewards=9']]])(
  'watch reports no more rewards than completed rollouts: %j',
  async flags => {
    const watch = async (...more: string[]) => (await worldOf(2, 2))('watch', ['evr_new', ...flags, ...more]);
    expect((await watch()).out.split('\n')[0]).toMatch(/running, 6 of 8, mean 1\.00 over 6 rewards/);
    expect(JSON.parse((await watch('--json')).out.split('\n')[0] ?? '')).toMatchObject({ done: 6, graded: 6 });
  },
);

it('watch reads the rewards once per poll if nothing else shows that the run exists', async () => {
  let looks = 0;
  let readings = 0;
  const { url } = await hostileServer((response, request) => {
    const { pathname } = new URL(request.url, 'http://s');
    if (pathname.endsWith('/rollout-statistics')) {
      looks += 1;
      return json({ eval_run_id: 'evr_1', snapshots: [] })(response, request);
    }
    if (!pathname.endsWith('/trajectory-rewards')) return json({}, 404)(response, request);
    readings += 1;
    const trajectory_rewards = [0, 1].map(reward => ({ trajectory_id: `t${reward}`, task_id: `t${reward}`, reward }));
    return json({ eval_run_id: 'evr_1', trajectory_rewards })(response, request);
  });
  const cli = cliOn({ baseUrl: url, apiKey });
  expect((await cli('watch', ['evr_1', '--until', 'rewards=2'])).code).toBe(0);
  // Once to find it, and once for the interval of the change that is printed.
  expect(readings).toBeLessThanOrEqual(looks + 2);
});
