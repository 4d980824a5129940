/** Training runs: their curves and checkpoints, even after a repeated step or a deleted run. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { newDeployment, newEvaluation, newTraining, rollout, storesInMemory } from './memory.ts';

const files = { weights_hash: 'w', state_hash: 's' };
const diagnostics = { kl: 0.1, entropy: 1, gradient_norm: 2, equal_groups: 0, truncated: 0.5 };
const heldOut = {
  split: 'validation',
  held_out_reward: 0.5,
  expected_samples: 2,
  completed_samples: 2,
  failed_samples: 0,
} as const;

function opened() {
  const { stores, organizationId } = storesInMemory();
  const { training } = stores;
  const run = training.create(organizationId, newTraining);
  const id = run.training_run_id;
  training.move(id, ['pending'], 'running');
  const record = (step: number, reward: number | null = 0.5) =>
    training.recordStep(run, step, { reward, diagnostics: reward === null ? null : diagnostics }, [rollout('one')]);
  return { ...stores, organizationId, run, id, record };
}

it('has an id with the prefix of its kind', () => {
  const { id, training } = opened();
  expect(id).toMatch(/^trn_/);
  expect([training.status(id), training.status('trn_gone')]).toEqual(['running', undefined]);
});

it('has the time of its last change as its end, only once it has ended', () => {
  const { training, organizationId, id } = opened();
  const times = () => {
    const { completed_at, updated_at } = training.get(organizationId, id) ?? {};
    return { completed_at, isOfNow: completed_at === updated_at };
  };
  expect(times()).toEqual({ completed_at: null, isOfNow: false });
  expect(training.move(id, ['pending'], 'succeeded')).toBe(false);
  expect(times().completed_at).toBeNull();
  expect(training.move(id, ['pending', 'running'], 'succeeded')).toBe(true);
  expect(times()).toEqual({ completed_at: expect.stringMatching(/^\d{4}-.*Z$/), isOfNow: true });
});

it('is at the last recorded step, even while steps are repeated (B3)', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { training, id, record } = opened();
  const at = [training.latestStep(id)];
  for (const step of [1, 2, 3, 1, 2]) {
    vi.advanceTimersByTime(1);
    record(step);
    at.push(training.latestStep(id));
  }
  expect(at).toEqual([0, 1, 2, 3, 1, 2]);
});

it('keeps a point for each step, the newest if it is repeated', () => {
  const { training, id, record } = opened();
  expect([training.completedSteps(id), training.diagnostics(id), training.stepRewards(id, 1)]).toEqual([
    0,
    null,
    undefined,
  ]);
  record(1);
  record(2, null);
  training.recordHeldOut(id, 1, { ...heldOut, held_out_reward: 0 });
  training.recordHeldOut(id, 1, heldOut);
  expect(training.completedSteps(id)).toBe(2);
  expect(training.trainerRewards(id)).toEqual([
    { step: 1, trainer_reward: 0.5, ...diagnostics },
    { step: 2, trainer_reward: null },
  ]);
  expect(training.diagnostics(id)).toEqual({ step: 1, ...diagnostics });
  expect(training.heldOutRewards(id)).toEqual([{ step: 1, ...heldOut }]);
  expect(training.stepRewards(id, 1)).toMatchObject([{ task_id: 'one', reward: 1 }]);
  expect(training.stepRewards(id, 3)).toBeUndefined();
});

it('has its rollouts in a dataset of its benchmark, found by task', () => {
  const { trajectories, datasets, organizationId, record } = opened();
  record(1);
  expect(datasets.list(organizationId, {}).items).toMatchObject([{ display_name: 'Training of base' }]);
  const found = (search: string) => trajectories.list(organizationId, { search }).items.length;
  expect([found('one'), found('two')]).toEqual([1, 0]);
});

it('counts consecutive steps that could not be graded', () => {
  const { training, id, record } = opened();
  for (const [index, reward] of [null, 0.5, null, null].entries()) record(index + 1, reward);
  expect([1, 2, 3, 4].map(step => training.ungradedUpTo(id, step))).toEqual([1, 0, 1, 2]);
});

it('lists committed checkpoints in order of their steps', () => {
  const { training, organizationId, run, id } = opened();
  training.commit(run, 2, files);
  training.commit(run, 1, files);
  const [first, second] = training.checkpoints(id);
  expect(first).toMatchObject({ step_index: 1, base_model_slug: run.base_model_slug, ...files });
  expect(second?.step_index).toBe(2);
  expect(training.checkpoint(organizationId, first?.checkpoint_id ?? '')).toEqual(first);
  expect(training.checkpoint('org_other', first?.checkpoint_id ?? '')).toBeUndefined();
  expect(training.allCheckpoints().map(({ step_index }) => step_index)).toEqual(expect.arrayContaining([1, 2]));
});

it('keeps the records of a step until it is repeated (B4)', () => {
  const { training, run, id, record, database } = opened();
  for (const step of [1, 2]) {
    record(step);
    training.recordHeldOut(id, step, heldOut);
    training.commit(run, step, files);
  }
  const rollouts = () =>
    database.all<{ step: number; trajectory_id: string }>('select step, trajectory_id from trajectories order by step');
  const [first, second] = rollouts();
  record(1, 0.25);
  training.recordHeldOut(id, 1, { ...heldOut, held_out_reward: 0.25 });
  training.commit(run, 1, { ...files, weights_hash: 'again' });
  expect(training.trainerRewards(id)).toMatchObject([{ trainer_reward: 0.25 }, { trainer_reward: 0.5 }]);
  expect(training.heldOutRewards(id)).toMatchObject([{ held_out_reward: 0.25 }, { held_out_reward: 0.5 }]);
  expect(training.checkpoints(id)).toMatchObject([{ weights_hash: 'again' }, { weights_hash: 'w' }]);
  expect(rollouts()).toEqual([
    { step: 1, trajectory_id: expect.not.stringMatching(String(first?.trajectory_id)) },
    second,
  ]);
});

it('is deleted with all its records, and nothing is recorded afterwards', () => {
  const { training, run, id, record, database } = opened();
  const write = (): void => {
    record(1);
    training.recordHeldOut(id, 1, heldOut);
    training.commit(run, 1, files);
  };
  write();
  training.delete(id);
  write();
  for (const table of ['training_runs', 'training_steps', 'held_out_rewards', 'checkpoints', 'trajectories'])
    expect(database.all(`select * from ${table}`)).toEqual([]);
});

it('is in use while unfinished work starts from its checkpoint', () => {
  const { training, evaluations, deployments, organizationId, run, id } = opened();
  training.commit(run, 1, files);
  const parent_checkpoint_id = training.checkpoints(id)[0]?.checkpoint_id ?? '';
  const { eval_run_id } = evaluations.create(organizationId, { ...newEvaluation, training_run_id: id, step: 1 });
  const { training_run_id } = training.create(organizationId, { ...newTraining, parent_checkpoint_id });
  const { deployment_id, merge_xid, deploy_xid } = deployments.create(organizationId, {
    ...newDeployment,
    checkpoint_id: parent_checkpoint_id,
  });
  expect([merge_xid, deploy_xid]).toEqual([expect.stringMatching(/^job_/), expect.stringMatching(/^job_/)]);
  evaluations.create(organizationId, newEvaluation);
  expect(training.usersOf(id).toSorted()).toEqual([deployment_id, eval_run_id, training_run_id].toSorted());
  evaluations.setStatus(eval_run_id, 'cancelled');
  training.move(training_run_id, ['pending'], 'cancelled');
  deployments.fail(deployment_id, { type: 'api_error', code: 'internal_error', message: 'no', context: {} });
  expect(training.usersOf(id)).toEqual([]);
});
