/** Samples rollouts on a loaded model, and grades each as it ends. */
import { errorMessage } from '../../base/errors.ts';
import { grade } from '../grading/graders.ts';
import type { Generated, PolicyModel } from '../model/policy.ts';
import type { RolloutOrder, RolloutResult } from './messages.ts';
import { ungraded } from './rollouts.ts';

/** Grades an answer. An answer that cannot be graded has no reward, as opposed to a reward of 0. */
export function gradeAnswer(
  order: Pick<RolloutOrder, 'task_id' | 'sample' | 'grader'>,
  answer: Generated,
  latency_ms: number,
): RolloutResult {
  const { task_id, sample, grader } = order;
  const ended = { task_id, sample, answer, latency_ms };
  if (grader.kind === 'none') return { ...ended, ...ungraded(grader.reason) };
  try {
    const { reward, explanation } = grade(grader, answer.text);
    return { ...ended, reward, explanation, error: null };
  } catch (error) {
    return { ...ended, reward: null, explanation: '', error: errorMessage(error) };
  }
}

/** Runs rollouts one after the other, so that each latency is that of one answer. */
export function runRollouts(model: PolicyModel, orders: readonly RolloutOrder[]): RolloutResult[] {
  return orders.map(order => {
    const started = performance.now();
    const answer = model.answer(order.turns, order.sampling);
    return gradeAnswer(order, answer, performance.now() - started);
  });
}
