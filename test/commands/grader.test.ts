/** The graders of `regrade` and `compare`. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { regradeNoting } from '../../src/commands/grader.ts';
import type { CommandContext } from '../../src/commands/with-service.ts';
import { fakeService } from '../service/fake-service.ts';

it('notes how many rollouts are done while a grader takes long (attack36 C)', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const notes: string[] = [];
  const service = fakeService({
    getTrajectory: ({ params: { trajectory_id } }) => ({ trajectory_id, status: 'completed' }),
  });
  const context = { service, io: { note: (text: string) => notes.push(text) }, signal: new AbortController().signal };
  const rows = ['a', 'b', 'c'].map(trajectory_id => ({ trajectory_id }));
  const judged = Promise.withResolvers<void>();
  const graded = regradeNoting(
    rows,
    async ({ trajectory_id }) => {
      if (trajectory_id === 'c') await judged.promise;
      return { reward: 1, explanation: '' };
    },
    context as unknown as CommandContext,
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(notes).toEqual(['Regrading: 2 of 3 rollouts so far.']);
  judged.resolve();
  expect(await graded).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});
