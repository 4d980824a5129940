/** What an upload of trajectories says of each. */
import { expect, it } from 'vitest';
import { storesInMemory } from './memory.ts';

it('each has its place, whether it was stored, and the ids that it is found by', () => {
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
