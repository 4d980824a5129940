/** Evaluation runs: each rollout counts once, with its distributions, and only while the run is running. */
import { expect, it } from 'vitest';
import { newEvaluation, rollout, storesInMemory } from './memory.ts';

function opened(status: 'pending' | 'running' = 'running') {
  const { stores, organizationId } = storesInMemory();
  const { evaluations } = stores;
  const { eval_run_id: id } = evaluations.create(organizationId, newEvaluation);
  if (status === 'running') evaluations.setStatus(id, 'running');
  const run = () => evaluations.get(organizationId, id);
  return { ...stores, organizationId, id, run };
}

it('records a rollout once, with a snapshot of its measurements', () => {
  const { evaluations, id } = opened();
  evaluations.record(id, [rollout('one'), rollout('two', { reward: null, error: 'no answer' })]);
  evaluations.record(id, [rollout('two'), rollout('one', { sample: 1, reward: 0 })]);
  expect(evaluations.finishedRollouts(id)).toEqual(new Set(['0 one', '0 two', '1 one']));
  expect(evaluations.counts(id)).toEqual({ scored: 2, failed: 1, ungraded: 0, mean: 0.5 });
  expect(evaluations.rewards(id).map(({ task_id, reward }) => [task_id, reward])).toEqual([
    ['one', 1],
    ['one', 0],
  ]);
  expect(evaluations.firstError(id)).toBe('no answer');
  const snapshots = evaluations.snapshots(id).map(each => ({ ...each, xid: '', created_at: '', eval_run_id: '' }));
  const common = { xid: '', created_at: '', eval_run_id: '' };
  const latency = { ...common, stage: 'rollout', knob_name: 'latency', unit: 'ms' };
  const tokens = { ...common, stage: 'rollout', knob_name: 'completion_tokens', unit: 'tokens' };
  const reward = { ...common, stage: 'grading', knob_name: 'reward', unit: '' };
  expect(snapshots).toHaveLength(6);
  expect(snapshots).toEqual(
    expect.arrayContaining([
      { ...latency, sample_count: 2, samples: [3, 3] },
      { ...tokens, sample_count: 2, samples: [2, 2] },
      { ...reward, sample_count: 1, samples: [1] },
      { ...latency, sample_count: 1, samples: [3] },
      { ...tokens, sample_count: 1, samples: [2] },
      { ...reward, sample_count: 1, samples: [0] },
    ]),
  );
});

it('records nothing of a run that is not running', () => {
  const { evaluations, id } = opened('pending');
  evaluations.record(id, [rollout('one')]);
  evaluations.setStatus(id, 'running');
  evaluations.setStatus(id, 'cancelled');
  evaluations.record(id, [rollout('one')]);
  evaluations.record('evr_gone', [rollout('one')]);
  expect(evaluations.finishedRollouts(id).size).toBe(0);
  expect(evaluations.finishedRollouts('evr_gone').size).toBe(0);
  expect(evaluations.counts(id)).toEqual({ scored: 0, failed: 0, ungraded: 0, mean: null });
  expect([evaluations.firstError(id), evaluations.snapshots(id)]).toEqual(['', []]);
});

it.each(['pending', 'running'] as const)('changes its status while it is %s, but not once it has ended', status => {
  const { evaluations, id, run } = opened(status);
  expect(evaluations.setStatus(id, 'failed')).toBe(true);
  const ended = run();
  expect(ended).toMatchObject({ status: 'failed', completed_at: expect.any(String) });
  expect(evaluations.setStatus(id, 'cancelled')).toBe(false);
  evaluations.complete(id);
  expect(run()).toEqual(ended);
});

it('completes with the mean of the rewards, without missing ones', () => {
  const { evaluations, id, run } = opened();
  evaluations.record(id, [rollout('one', { reward: 0.5 }), rollout('two', { reward: null })]);
  evaluations.complete(id);
  expect(run()).toMatchObject({ status: 'completed', reward_mean: 0.5 });
  expect(evaluations.counts(id)).toEqual({ scored: 1, failed: 0, ungraded: 1, mean: 0.5 });
});

it('is deleted with all its records, by its organization only', () => {
  const { evaluations, database, organizationId, id, run } = opened();
  evaluations.record(id, [rollout('one')]);
  expect(evaluations.delete('org_other', id)).toBe(false);
  expect(evaluations.counts(id).scored).toBe(1);
  expect(evaluations.delete(organizationId, id)).toBe(true);
  expect(run()).toBeUndefined();
  for (const table of ['trajectories', 'snapshots']) expect(database.all(`select * from ${table}`)).toEqual([]);
});
