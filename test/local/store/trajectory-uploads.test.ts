/** The outcome of each trajectory of an upload. */
import { expect, it } from 'vitest';
import { storesInMemory } from './memory.ts';

it('reports the position of each, whether it was stored, and the ids it is found by', () => {
  const { stores, organizationId } = storesInMemory();
  const item = (content: string) => ({
    trace_id: undefined,
    conversation_id: undefined,
    status: 'completed',
    steps: [{ messages: [{ role: 'user', content }] }],
  });
  const store = (...texts: string[]) => stores.trajectoryUploads.store(organizationId, 'mine', texts.map(item));
  const [first] = store('one');
  expect(first).toMatchObject({ request_index: 0, status: 'uploaded' });
  expect(stores.trajectories.row(organizationId, String(first?.trajectory_id))).toMatchObject({
    trace_id: first?.trace_id,
    dataset_name: 'mine',
  });
  const [known, other] = store('one', 'two');
  expect(known).toEqual({ ...first, status: 'skipped' });
  expect(other).toMatchObject({ request_index: 1, status: 'uploaded' });
  expect(other?.trajectory_id).not.toBe(first?.trajectory_id);
});

it('makes another trajectory of other rewards', () => {
  const { stores, organizationId } = storesInMemory();
  const untold = { reward_id: undefined, created_at: undefined, weight: 1, explanation: '', details: {} };
  const item = (reward: number) => ({
    trace_id: 'trace_1',
    conversation_id: undefined,
    status: 'completed',
    steps: [{ messages: [{ role: 'user', content: 'one' }] }],
    rewards: [{ ...untold, name: 'r', value: reward }],
  });
  const store = (reward: number) => stores.trajectoryUploads.store(organizationId, 'mine', [item(reward)])[0];
  const first = store(0);
  const { dataset_id } = stores.trajectories.row(organizationId, String(first?.trajectory_id)) ?? {};
  const has = (trace: string) => stores.trajectoryUploads.hasTrace(String(dataset_id), trace);
  expect([has('trace_1'), has('trace_2')]).toEqual([true, false]);
  expect([first?.status, store(0)?.status]).toEqual(['uploaded', 'skipped']);
  expect(store(1)).toMatchObject({
    request_index: 0,
    status: 'error',
    trace_id: 'trace_1',
    trajectory_id: null,
    failure: {
      code: 'trajectory_upload_conflict',
      message: 'The dataset already has another trajectory with the trace trace_1.',
      item_index: 0,
      context: { trace_id: 'trace_1', trajectory_id: first?.trajectory_id },
    },
  });
});
