/** Rollouts that another server samples; they are graded here. */
import type { ModelSource } from './catalog.ts';
import type { RolloutOrder, RolloutResult } from './messages.ts';
import { failedRollout } from './rollouts.ts';
import { answerUpstream } from './upstream.ts';
import { gradeAnswer } from './worker-rollouts.ts';

/** A rollout that fails says so in its result; the others go on. */
export function upstreamRollouts(
  { upstream, name }: Extract<ModelSource, { kind: 'upstream' }>,
  orders: readonly RolloutOrder[],
  signal: AbortSignal,
): Promise<RolloutResult[]> {
  return Promise.all(
    orders.map(async order => {
      const begun = performance.now();
      try {
        const { seed: _, ...sampling } = order.sampling;
        const answer = await answerUpstream(upstream, name, order.turns, sampling, signal);
        return gradeAnswer(order, answer, performance.now() - begun);
      } catch (error) {
        return failedRollout(order.task_id, error);
      }
    }),
  );
}
