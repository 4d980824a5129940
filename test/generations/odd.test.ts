/**
 * A service of the newest generation that deviates in small ways: other envelopes, null everywhere, numeric ids,
 * unknown words, missing lists. No deviation hides anything else.
 */
import { describe, expect, it } from 'vitest';
import { cliOn, timeIsUp } from '../commands/cli.ts';
import { apiKey, type Behaviour, hostileServer, json } from '../service/hostile-server.ts';

const created_at = '2026-03-04T05:06:07Z';
const failing = { task_id: 2, provider: null, build_status: 'exploded', failure_message: 'no space', extra: { a: 1 } };
const checkpoints = [
  { checkpoint_id: 71, step_index: '2', is_deployable: null, created_at: null },
  { checkpoint_id: 72, step_index: '3', is_deployable: false },
];

const answers: Readonly<Record<string, unknown>> = {
  '/benchmarks': { data: [{ bench_id: 7, name: 'words', updated_at: null, eval_run_count: null, tags: null }] },
  '/benchmarks/7': { bench_id: 7, name: 'words' },
  '/benchmarks/7/readiness': { ready: null, missing_secret_names: null, unready_task_image_counts: { failed: null } },
  '/benchmarks/7/images': { bench_id: 7, images: null, items: [{ task_id: 1, build_status: null }, failing] },
  '/benchmarks/7/task-count': { count: 3 },
  '/benchmarks/runtimes': { items: null, has_more: null },
  '/eval/7/runs': {
    data: [
      { eval_run_id: 21, bench_id: 7, status: 'paused', display_name: null, reward_mean: null, failure: null },
      {
        eval_run_id: 22,
        bench_id: 7,
        status: null,
        display_name: 'old',
        reward_mean: '0.25',
        completed_at: created_at,
      },
    ],
  },
  '/eval/21': { eval_run_id: 21, bench_id: 7, status: 'paused', warnings: 'slow', options: null },
  '/eval/22': { eval_run_id: 22, bench_id: 7, status: null, display_name: 'old', completed_at: created_at },
  '/eval/22/progress': { status: null, terminal_rollouts: null, total_rollouts: null, live: null },
  '/eval/22/trajectory-rewards': [{ reward: 0 }, { reward: '1' }, { reward: null }, 'nonsense'],
  '/eval/22/rollout-statistics': { snapshots: [{ stage: 's', knob_name: 'k', unit: null, samples: [1, null, 3] }] },
  '/train/7/runs': { items: [{ training_run_id: 31, bench_id: 7, status: 'QUEUED', display_name: 'first' }] },
  '/train/31': { training_run_id: 31, bench_id: 7, status: 'QUEUED', display_name: 'first', failure: 'none yet' },
  '/train/31/progress': { status: 'QUEUED', completed_steps: null, total_steps: null, failure: null },
  '/train/31/checkpoints': { data: checkpoints },
  '/train/31/step/trainer-reward-by-step': { trainer_rewards: null },
  '/trajectories': {
    results: [{ trajectory_id: 41, status: null, reward: 0, rollout: null, steps: null }],
    next_cursor: '',
  },
  '/trajectories/41': { trajectory_id: 41, reward: 0, steps: [{ messages: null }, { messages: [{ content: null }] }] },
  '/agents': { items: [{ agent_id: 'a' }, 'nonsense'], has_more: false },
  '/deploy': { data: [{ deployment_id: 51, model_slug: 'talker', status: 'SLEEPING', is_active: null, role: null }] },
  '/deploy/51': { deployment_id: 51, model_slug: 'talker', status: 'SLEEPING', failure: null },
  '/datasets': [{ dataset_id: 61, dataset_name: null }],
  '/secrets': { data: null },
  '/models/supported-training-models': { data: [{ base_model_slug: 'acme/small', model_name: null, pricing: null }] },
};

const answer: Behaviour = (response, request) => {
  const path = (request.url.split('?')[0] ?? '').replace('/api/v1', '');
  const found = Object.hasOwn(answers, path) ? answers[path] : undefined;
  return json(found ?? { detail: 'Not Found' }, found === undefined ? 404 : 200)(response, request);
};

async function cli() {
  const { url } = await hostileServer(answer);
  return cliOn({ baseUrl: url, apiKey });
}

describe('a service that answers slightly differently', () => {
  it.each([
    ['benchmarks', [], ['words', '7']],
    ['runs', [], ['paused', 'old', '0.25']],
    ['training', [], ['first', 'QUEUED']],
    ['trajectories', [], ['41']],
    ['deployments', [], ['talker', 'SLEEPING']],
    ['datasets', [], ['61']],
    ['models', [], ['acme/small']],
    ['images', ['--benchmark', '7'], ['exploded', 'no space']],
    ['checkpoints', ['--training', '31'], ['71', '72']],
  ])('list %s', async (name, args, words) => {
    const { code, out, notes } = await (await cli())('list', [name, ...args, '--json']);
    expect([code, notes]).toEqual([0, '']);
    for (const word of words) expect(out).toContain(word);
  });

  it.each(['runtimes', 'secrets'])('list %s with no rows', async name => {
    expect(await (await cli())('list', [name, '--json'])).toMatchObject({ code: 0, out: '[]\n' });
  });

  it.each([
    ['benchmark', '7', 'words'],
    // Its readiness is null (B3).
    ['benchmark', '7', 'not reported'],
    ['run', '21', 'paused'],
    ['run', '22', 'not reported'],
    ['training', '31', 'none yet'],
    ['trajectory', '41', '41'],
    ['deployment', '51', 'SLEEPING'],
  ])('get %s %s', async (kind, id, words) => {
    const { code, out } = await (await cli())('get', [kind, id]);
    expect([code, out]).toEqual([0, expect.stringContaining(words)]);
  });

  it('counts every reward, and says what it could not read', async () => {
    const run = await cli();
    const { out, notes } = await run('api', ['getTrajectoryRewards', 'eval_run_id=22']);
    expect(notes).toBe('1 row in the response could not be read.');
    const { trajectory_rewards } = JSON.parse(out) as { trajectory_rewards: { reward: unknown }[] };
    expect(trajectory_rewards.map(({ reward }) => reward)).toEqual([0, 1, null]);
    const agents = await run('api', ['listAgents', '--paginate']);
    expect([JSON.parse(agents.out), agents.notes]).toEqual([
      [{ agent_id: 'a' }],
      '1 row in the response could not be read.',
    ]);
    const compared = await run('compare', ['22', '22', '--json']);
    expect(compared.notes).toContain('could not be read');
  });

  it('watches a run without a status to its end time, which does not say how it ended, and one with an unknown status until --timeout', async () => {
    const run = await cli();
    expect(await run('watch', ['run', '22'])).toMatchObject({
      code: 6,
      out: expect.stringContaining('no status'),
      notes: 'old has an end time, but no status shows how it ended.',
    });
    expect(await run('watch', ['run', '21', '--timeout', '60'], { onPrint: timeIsUp() })).toMatchObject({
      code: 6,
      notes: expect.stringMatching(/does not know the status .*, so its outcome is unknown\./),
    });
  });
});
