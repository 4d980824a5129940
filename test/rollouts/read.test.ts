/** Reading all rollouts of a run. */
import { expect, it } from 'vitest';
import type { Resource } from '../../src/resources/define.ts';
import { runs } from '../../src/resources/runs.ts';
import { readRollouts } from '../../src/rollouts/read.ts';
import { CapabilityMissingError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

it('a run of 200,000 rollouts that come in one answer is read', async () => {
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
