/** Samples the answers of rollouts on a loaded model, and grades answers. */
import { errorMessage } from '../../base/errors.ts';
import { grade } from '../grading/graders.ts';
import type { PolicyModel } from '../model/policy.ts';
import type { Answered, RolloutOrder, RolloutResult } from './messages.ts';
import { ungraded } from './rollouts.ts';

/** Grades an answer. An answer that cannot be graded has no reward, as opposed to a reward of 0. */
export function gradeAnswer({ order: { task_id, sample, grader }, answer, latency_ms }: Answered): RolloutResult {
  const ended = { task_id, sample, answer, latency_ms };
  if (grader.kind === 'none') return { ...ended, ...ungraded(grader.reason) };
  try {
    const { reward, explanation } = grade(grader, answer.text);
    return { ...ended, reward, explanation, error: null };
  } catch (error) {
    return { ...ended, reward: null, explanation: '', error: errorMessage(error) };
  }
}

/** Answers one order after the other, so that each latency is that of one answer. Ends early if `shallStop` says so. */
export async function answerAll(
  model: PolicyModel,
  orders: readonly RolloutOrder[],
  shallStop: () => Promise<boolean>,
): Promise<readonly Answered[]> {
  const answers: Answered[] = [];
  for (const { task_id, sample, grader, turns, sampling } of orders) {
    if (await shallStop()) break;
    const started = performance.now();
    const answer = model.answer(turns, sampling);
    answers.push({ order: { task_id, sample, grader }, answer, latency_ms: performance.now() - started });
  }
  return answers;
}
