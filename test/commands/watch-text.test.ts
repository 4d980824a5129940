/** The lines of `watch`, `--wait` and line mode about a resource. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeFollowedState } from '../../src/commands/followed-state.ts';
import type { EvalProgress } from '../../src/contract/evaluations.ts';
import { evalProgressQuery } from '../../src/queries/evaluations.ts';
import { knownResource, type Observation } from '../../src/queries/statuses/known-resource.ts';
import { apiKey, hostileServer, json } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

function stateText(...observations: Observation[]): string {
  const [{ kind = '', id = '' } = {}] = observations;
  return describeFollowedState({ ...knownResource({ kind, id, label: id }, observations), heldOut: undefined });
}

function observed(progress: EvalProgress): Observation {
  return evalProgressQuery('evr_1').observes?.(progress) ?? { kind: 'run', id: 'evr_1' };
}

it('shows the mean with its number of rewards, and how many rollouts have none', () => {
  const live = { scored_rollouts: 1, final_reward_mean: 0 };
  const progress = { terminal_rollouts: 4, total_rollouts: 4, live };
  expect(stateText(observed({ ...progress, status: 'completed' }))).toBe(
    'completed, 4 of 4, mean 0 over 1 reward, 3 without a reward',
  );
  expect(stateText(observed({ ...progress, status: 'running', terminal_rollouts: 1 }))).toBe(
    'running, 1 of 4, mean 0 over 1 reward',
  );
});

it('counts completed rollouts as done, but not those cancelled with their run', () => {
  const live = { scored_rollouts: 56, cancelled_rollouts: 344, provisional_reward_mean: 0.954 };
  for (const terminal_rollouts of [400, 56])
    expect(stateText(observed({ status: 'cancelled', terminal_rollouts, total_rollouts: 400, live }))).toBe(
      'cancelled, 56 of 400, mean 0.954 over 56 rewards, 344 without a reward',
    );
  const failed = { scored_rollouts: 163, failed_rollouts: 37, cancelled_rollouts: 0, final_reward_mean: 0.877 };
  expect(observed({ status: 'completed', terminal_rollouts: 200, total_rollouts: 200, live: failed }).done).toBe(200);
});

it('writes a status in words', () => {
  expect(stateText({ kind: 'training', id: 'trn_1', status: 'cancel_signaled', done: 2, total: 6 })).toBe(
    'cancel signaled, 2 of 6',
  );
});

it('tells the trainer reward from the held-out reward', () => {
  const heldOut = '0.400 at step 2, from 14 of 16 samples';
  const run = { kind: 'training', id: 'trn_1', label: 'trn_1', status: 'running', done: 2, total: 6, mean: 0.9 };
  expect(describeFollowedState({ ...run, heldOut })).toBe(
    'running, 2 of 6, trainer reward 0.900, held-out reward 0.400 at step 2, from 14 of 16 samples',
  );
});

it('uses the reward range of the settings for the interval of a held-out reward', async () => {
  const home = testFolder();
  const settings = join(home, '.config', 'benchtop');
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, 'config.json'), JSON.stringify({ compare: { rewardRange: '0..10' } }));
  const run = { training_run_id: 'trn_1', bench_id: 'b', status: 'succeeded', completed_steps: 2, total_steps: 2 };
  const point = { step: 2, held_out_reward: 4, expected_samples: 100, completed_samples: 100 };
  const { url } = await hostileServer((response, request) => {
    const answer = request.url.includes('held-out') ? { held_out_rewards: [point] } : run;
    return json(request.url.includes('trainer-reward') ? { trainer_rewards: [] } : answer)(response, request);
  });
  const cli = cliOn({ baseUrl: url, apiKey, home });
  const words = '4.00 at step 2, from 100 samples, 95% CI 3.03 to 5.03 on these tasks';
  expect((await cli('get', ['training', 'trn_1'])).out).toContain(words);
  expect(JSON.parse((await cli('get', ['training', 'trn_1', '--json'])).out)).toMatchObject({
    held_out: { last: { reward: 4, interval: { low: expect.closeTo(3.03), high: expect.closeTo(5.03) } } },
  });
  expect((await cli('watch', ['trn_1'])).out).toContain(words);
});

describe('an answer of another type than in the contract', () => {
  const run = { eval_run_id: 'evr_1', bench_id: 'b', status: 'completed', reward_mean: 0.5 };

  async function cliWhere(progress: object, record: object) {
    const { url } = await hostileServer((response, request) => {
      const path = new URL(request.url, 'http://service').pathname;
      if (path.endsWith('/progress')) return json(progress)(response, request);
      if (path.endsWith('/rewards')) return json({ eval_run_id: 'evr_1', trajectory_rewards: [] })(response, request);
      return json(record)(response, request);
    });
    return cliOn({ baseUrl: url, apiKey, home: testFolder() });
  }

  it.each(['watch', 'get'])('is noted by %s, but does not fail if another answer has the status', async command => {
    const cli = await cliWhere({ eval_run_id: 'evr_1', status: 'completed', terminal_rollouts: 'ten' }, run);
    const { code, out, notes } = await cli(command, command === 'get' ? ['run', 'evr_1'] : ['evr_1']);
    expect([code, out]).toEqual([0, expect.stringContaining('completed')]);
    expect(notes.match(/terminal_rollouts/g)).toHaveLength(1);
  });

  it('fails if no other answer has the status', async () => {
    const cli = await cliWhere({ eval_run_id: 'evr_1', terminal_rollouts: 'ten' }, { ...run, status: undefined });
    const { code, notes } = await cli('watch', ['evr_1']);
    expect([code, notes]).toEqual([1, expect.stringContaining('terminal_rollouts')]);
  });
});
