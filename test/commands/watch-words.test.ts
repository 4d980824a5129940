/** What `watch`, `--wait` and line mode say of a resource. */
import { expect, it } from 'vitest';
import { wordsOf } from '../../src/commands/until-ended.ts';
import type { EvalProgress } from '../../src/contract/evaluations.ts';
import { evalProgressQuery } from '../../src/queries/evaluations.ts';
import { knownResource, type Observation } from '../../src/queries/statuses/store.ts';

function said(...observations: Observation[]): string {
  const [{ kind = '', id = '' } = {}] = observations;
  return wordsOf(knownResource({ kind, id, label: id }, observations));
}

function observed(progress: EvalProgress): Observation {
  return evalProgressQuery('evr_1').observes?.(progress) ?? { kind: 'run', id: 'evr_1' };
}

it('is the mean with its number of rewards, and how many rollouts have none', () => {
  const live = { scored_rollouts: 1, final_reward_mean: 0 };
  const progress = { terminal_rollouts: 4, total_rollouts: 4, live };
  expect(said(observed({ ...progress, status: 'completed' }))).toBe(
    'completed, 4 of 4, mean 0 of 1 reward, 3 without a reward',
  );
  expect(said(observed({ ...progress, status: 'running', terminal_rollouts: 1 }))).toBe(
    'running, 1 of 4, mean 0 of 1 reward',
  );
});

it('writes a status in words', () => {
  expect(said({ kind: 'training', id: 'trn_1', status: 'cancel_signaled', done: 2, total: 6 })).toBe(
    'cancel signaled, 2 of 6',
  );
});

it('tells the reward of the trainer from the held-out reward', () => {
  const heldOut = '0.400 at step 2, of 14 of 16 samples';
  expect(said({ kind: 'training', id: 'trn_1', status: 'running', done: 2, total: 6, mean: 0.9, heldOut })).toBe(
    'running, 2 of 6, trainer reward 0.900, held-out reward 0.400 at step 2, of 14 of 16 samples',
  );
});
