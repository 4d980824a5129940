/** The remembered audit of a training run. */
import { expect, it } from 'vitest';
import type { QueryContext } from '../../src/queries/query-context.ts';
import { readAudit, readAuditText } from '../../src/resources/audit.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

const range = [0, 1] as const;

it('shows the notes on its evaluations when a checkpoint goes live (out30 B8)', async () => {
  const memory = RememberedStore.inMemory('test');
  memory.see([
    { kind: 'run', id: 'evr_1', label: 'nn-after', record: { training_run_id: 'trn_1', step: 5 } },
    { kind: 'run', id: 'evr_2', label: 'nn-10', record: { training_run_id: 'trn_1', step: 10 } },
  ]);
  const note = { kind: 'run', message: 0, author: 'me', flag: 'gamed', text: 'it counts', label: '', at: 1, since: 1 };
  memory.notes.merge(['evr_1', 'evr_2'].map(id => ({ ...note, id })));
  const context: QueryContext = { service: fakeService({}), memory, signal: new AbortController().signal };
  expect(await readAuditText({ training_run_id: 'trn_1', step: 5 }, context)).toBe(
    'Not audited: describe trn_1 --audit. Its evaluation nn-after: flagged gamed; it counts.',
  );
});

it('reuses an audit for the same curve and range in a later command, and for no other (out30 B1)', async () => {
  const memory = RememberedStore.inMemory('test');
  let trainer_reward = 0.5;
  const service = fakeService({
    getTrainerRewards: () => ({ trainer_rewards: [{ step: 5, trainer_reward }] }),
    getHeldOutRewards: () => ({ held_out_rewards: [] }),
    getStepTrajectoryRewards: () => ({ trajectory_rewards: [{ task_id: 'a', trajectory_id: 'traj_1', reward: 0.5 }] }),
    getTrajectory: () => ({ trajectory_id: 'traj_1', status: 'completed' }),
  });
  const context: QueryContext = { service, memory, signal: new AbortController().signal };
  const words = (step = 5) => readAuditText({ training_run_id: 'trn_1', step }, context);
  const never = 'Not audited: describe trn_1 --audit.';
  expect(await words()).toBe(never);
  await readAudit('trn_1', range, context);
  expect(await words()).toBe('Audit findings: none.');
  expect(await words(6)).toBe(never);
  // The run has restarted, and this step has other rewards.
  trainer_reward = 0.25;
  expect(await words()).toBe(never);
  await readAudit('trn_1', [0, 2], context);
  expect(await words()).toBe(never);
});

it('never lets a remembered audit hide what the curves show since (attack34 B1)', async () => {
  const memory = RememberedStore.inMemory('test');
  let rewards = [0.6];
  const service = fakeService({
    getTrainerRewards: () => ({
      trainer_rewards: Array.from({ length: 20 }, (_, at) => ({ step: at + 1, trainer_reward: 0.1 + at * 0.04 })),
    }),
    getHeldOutRewards: () => ({
      held_out_rewards: rewards.map((held_out_reward, at) => ({
        ...{ step: 5 * (at + 1), held_out_reward, completed_samples: 200 },
      })),
    }),
    getStepTrajectoryRewards: () => ({ trajectory_rewards: [{ task_id: 'a', reward: 0.5 }] }),
  });
  const context: QueryContext = { service, memory, signal: new AbortController().signal };
  const words = () => readAuditText({ training_run_id: 'trn_1', step: 20 }, context);
  await readAudit('trn_1', range, context);
  // The rewards name no trajectory (attack34 C).
  expect(await words()).toBe('Audit findings (no texts read): none.');
  rewards = [0.6, 0.5, 0.4, 0.1];
  expect(await words()).toBe('Audit findings (no texts read): held-out.');
});

it('does not remember an audit whose last step is not in the curve (attack34 B1)', async () => {
  const memory = RememberedStore.inMemory('test');
  const service = fakeService({
    getTrainerRewards: () => ({ trainer_rewards: [{ step: 5, trainer_reward: null }] }),
    getHeldOutRewards: () => ({ held_out_rewards: [] }),
    getStepTrajectoryRewards: () => ({ trajectory_rewards: [{ task_id: 'a', reward: 0.5 }] }),
  });
  const context: QueryContext = { service, memory, signal: new AbortController().signal };
  await readAudit('trn_1', range, context);
  expect(await readAuditText({ training_run_id: 'trn_1', step: 5 }, context)).toBe(
    'Not audited: describe trn_1 --audit.',
  );
});
