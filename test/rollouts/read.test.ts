/** Reading all rollouts of a run. */
import { expect, it } from 'vitest';
import type { Resource } from '../../src/resources/define.ts';
import { runs } from '../../src/resources/runs.ts';
import { readRollouts } from '../../src/rollouts/read.ts';
import { CapabilityMissingError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

it('reads a run of 200,000 rollouts in one answer', async () => {
  const trajectory_rewards = Array.from({ length: 200_000 }, (_, index) => ({
    ...{ trajectory_id: `t${index}`, task_id: 'a', reward: 1 },
  }));
  const service = fakeService({
    listTrajectories: () => {
      throw new CapabilityMissingError('listTrajectories');
    },
    getTrajectoryRewards: () => ({ trajectory_rewards }),
    getEvalProgress: () => ({ eval_run_id: 'e1', status: 'completed', total_rollouts: 200_000 }),
  });
  const context = { service, signal: new AbortController().signal, memory: RememberedStore.inMemory('test') };
  const { rows } = await readRollouts(
    { resource: runs as unknown as Resource, id: 'e1', row: { eval_run_id: 'e1' } },
    context,
  );
  expect(rows).toHaveLength(200_000);
});

it('says how many rewards name no rollout, and does not count as complete', async () => {
  const service = fakeService({
    listTrajectories: () => ({ items: [{ trajectory_id: 't1', task_id: 'a', status: 'completed' }], has_more: false }),
    getTrajectoryRewards: () => ({
      trajectory_rewards: [{ trajectory_id: 't1', task_id: 'a', reward: 1 }, ...[0, 0].map(reward => ({ reward }))],
    }),
    getEvalProgress: () => ({ eval_run_id: 'e1', status: 'completed', total_rollouts: 3 }),
  });
  const context = { service, signal: new AbortController().signal, memory: RememberedStore.inMemory('test') };
  const owner = { resource: runs as unknown as Resource, id: 'e1', row: { eval_run_id: 'e1' } };
  const { rows, notes, unread } = await readRollouts(owner, context);
  expect(rows).toHaveLength(1);
  const words = "2 rewards have no rollout: included in the run's mean, but not in these rows";
  expect([notes, unread].map(each => each.includes(words))).toEqual([true, true]);
});
