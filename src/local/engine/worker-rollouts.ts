/** Samples several rollouts at once on a loaded model, and grades each as it ends. */
import { errorMessage } from '../../text/errors.ts';
import { grade } from '../grading/graders.ts';
import type { Generated, PolicyModel, SampledToken } from '../model/policy.ts';
import type { RolloutOrder, RolloutResult } from './messages.ts';
import { ungraded } from './rollouts.ts';

/** Rollouts in progress at once; they advance a token each in turn. */
const concurrentRollouts = 4;

interface OpenRollout {
  readonly order: RolloutOrder;
  readonly started: number;
  readonly words: Generator<SampledToken, Generated>;
}

/** Grades an answer. If it cannot be graded it has no reward, which is not a reward of 0. */
export function gradeAnswer(
  order: Pick<RolloutOrder, 'task_id' | 'grader'>,
  answer: Generated,
  latency_ms: number,
): RolloutResult {
  const { task_id, grader } = order;
  if (grader.kind === 'none') return ungraded(task_id, grader.reason, answer, latency_ms);
  const ended = { task_id, answer, latency_ms };
  try {
    const { reward, explanation } = grade(grader, answer.text);
    return { ...ended, reward, explanation, error: null };
  } catch (error) {
    return { ...ended, reward: null, explanation: '', error: errorMessage(error) };
  }
}

export function runRollouts(model: PolicyModel, orders: readonly RolloutOrder[]): RolloutResult[] {
  const results: RolloutResult[] = [];
  const waiting = [...orders];
  const open: OpenRollout[] = [];
  while (waiting.length > 0 || open.length > 0) {
    while (open.length < concurrentRollouts) {
      const order = waiting.shift();
      if (!order) break;
      open.push({ order, started: performance.now(), words: model.generate(order.turns, order.sampling) });
    }
    for (const rollout of [...open]) {
      const word = rollout.words.next();
      if (!word.done) continue;
      results.push(gradeAnswer(rollout.order, word.value, performance.now() - rollout.started));
      open.splice(open.indexOf(rollout), 1);
    }
  }
  return results;
}
