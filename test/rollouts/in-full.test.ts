/** Reading trajectories, some of them unreadable. */
import { expect, it } from 'vitest';
import { readAllInFull } from '../../src/rollouts/in-full.ts';
import { ApiError, NotFoundError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

/** The ids that are read until it ends or fails. */
async function read(count: number, statusOf: (at: number) => number) {
  const service = fakeService({
    getTrajectory: ({ params: { trajectory_id } }) => {
      const status = statusOf(Number(trajectory_id));
      if (status === 200) return { trajectory_id };
      if (status === 404) throw new NotFoundError('404', { status, code: 'resource_not_found' });
      throw new ApiError(`${status}`, { status });
    },
  });
  const context = { service, signal: new AbortController().signal, memory: RememberedStore.inMemory('test') };
  const seen: string[] = [];
  try {
    const ids = Array.from({ length: count }, (_, at) => `${at}`);
    for await (const each of readAllInFull(ids, context))
      seen.push(each instanceof Error ? each.message : each.trajectory_id);
  } catch (error) {
    seen.push(`failed: ${(error as Error).message}`);
  }
  return seen;
}

it('continues after each failure, in order', async () => {
  expect(await read(6, at => [200, 500, 404, 200, 403, 200][at] ?? 0)).toEqual(['0', '500', '404', '3', '403', '5']);
});

it('stops if the service has a problem, not a trajectory', async () => {
  expect(await read(40, () => 500)).toEqual([...Array.from({ length: 9 }, () => '500'), 'failed: 500']);
  expect(await read(20, () => 404)).toHaveLength(20);
});
