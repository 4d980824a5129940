/** Samples rollouts from a loaded model, and grades them. */
import { errorMessage } from '../../base/errors.ts';
import { hashOf } from '../../base/hash.ts';
import { gradeEnded } from '../../grading/graders.ts';
import { type Episode, episode } from '../model/episode.ts';
import type { PolicyModel } from '../model/policy.ts';
import { answerShare, callRewards } from '../model/tools.ts';
import type { Answered, RolloutOrder, RolloutResult } from './messages.ts';
import { ungradedResult } from './rollouts.ts';

/** Grades a rollout. If it cannot be graded, it has no reward, which is not the same as a reward of 0. */
export function gradeAnswer({ order, calls, answer, latency_ms }: Answered): RolloutResult {
  const { task_id, sample, grader, tools } = order;
  const ended = { task_id, sample, grader, calls, step_rewards: [], answer, latency_ms };
  if (grader.kind === 'none') return { ...ended, ...ungradedResult(grader.reason) };
  try {
    const { reward, explanation } = answer
      ? gradeEnded(grader, answer.text, answer)
      : { reward: 0, explanation: `no answer after ${calls.length} calls` };
    const texts = calls.map(call => call.generated.text);
    const earned = tools && callRewards(tools, texts);
    if (!earned)
      return {
        ...ended,
        step_rewards: [...texts.map(() => null), ...(answer ? [reward] : [])],
        reward,
        explanation,
        error: null,
      };
    const last = reward * answerShare(tools);
    const step_rewards = [...earned, ...(answer ? [last] : [])];
    const total = Number(step_rewards.reduce((sum, each) => sum + each, 0).toFixed(9));
    return { ...ended, step_rewards, reward: total, explanation, error: null };
  } catch (error) {
    return { ...ended, reward: null, explanation: '', error: errorMessage(error) };
  }
}

/**
 * Samples a rollout of a task. The first text uses the seed itself, so that offering tools does not change answers
 * without calls.
 */
export function sampleEpisode(
  model: PolicyModel,
  { turns, tools, sampling }: Pick<RolloutOrder, 'turns' | 'tools' | 'sampling'>,
): Episode {
  const rounds = episode(turns, tools);
  let round = rounds.next();
  for (let count = 0; !round.done; count += 1) {
    const seed = count === 0 ? sampling.seed : hashOf(`${sampling.seed} turn ${count}`);
    round = rounds.next(model.answer(round.value, { ...sampling, seed }));
  }
  return round.value;
}

/**
 * Samples one rollout after another, so that each latency measures one rollout. Ends early if `shallStop` returns true.
 */
export async function answerAll(
  model: PolicyModel,
  orders: readonly RolloutOrder[],
  shallStop: () => Promise<boolean>,
): Promise<readonly Answered[]> {
  const answers: Answered[] = [];
  for (const order of orders) {
    if (await shallStop()) break;
    const { task_id, sample, grader, tools } = order;
    const started = performance.now();
    const rollout = sampleEpisode(model, order);
    answers.push({ order: { task_id, sample, grader, tools }, ...rollout, latency_ms: performance.now() - started });
  }
  return answers;
}
