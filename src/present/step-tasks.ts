/** The tasks of training steps: their rewards and lengths. Pure. */
import { mean } from '../base/statistics.ts';
import { messageContent } from '../contract/common.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import type { Range } from './statistics/tasks.ts';
import { byTask, type GroupKind, groupKind, type StepRewards, scoresOf } from './teaching.ts';

/** A task in a step. */
export interface StepTask {
  readonly step: number;
  readonly task_id: string;
  readonly rollouts: readonly TrajectoryReward[];
  /** The known rewards, lowest first. */
  readonly scores: readonly number[];
  readonly mean: number | undefined;
  /** Mean number of completion tokens of the rollouts with a known number; undefined if no number is known. */
  readonly tokens: number | undefined;
  readonly kind: GroupKind;
}

export function taskOf(step: number, task_id: string, rollouts: readonly TrajectoryReward[], range: Range): StepTask {
  const scores = scoresOf(rollouts).sort((left, right) => left - right);
  return {
    ...{ step, task_id, rollouts, scores },
    mean: mean(scores),
    tokens: mean(rollouts.flatMap(({ completion_tokens }) => completion_tokens ?? [])),
    kind: groupKind(rollouts, range),
  };
}

export function tasksOf(step: StepRewards<TrajectoryReward>, range: Range): readonly StepTask[] {
  return [...byTask(step).tasks].map(([id, rollouts]) => taskOf(step.step, id, rollouts, range));
}

/** The rollout with the highest reward that can be opened. */
export function bestRollout(rollouts: readonly TrajectoryReward[]): TrajectoryReward | undefined {
  const known = rollouts.filter(({ trajectory_id }) => trajectory_id);
  return known.toSorted((left, right) => (right.reward ?? -Infinity) - (left.reward ?? -Infinity))[0];
}

/** The last message of an assistant with text; undefined if there is none. */
export function answerOf({ steps }: Pick<Trajectory, 'steps'>): string | undefined {
  const messages = (steps ?? []).flatMap(step => step.messages ?? []);
  const last = messages.findLast(({ role, content }) => role === 'assistant' && messageContent(content));
  return (last && messageContent(last.content)) ?? undefined;
}

/** The completion tokens of a trajectory; undefined if no message reports them. */
export function tokensOf({ steps }: Pick<Trajectory, 'steps'>): number | undefined {
  const counts = (steps ?? []).flatMap(step => (step.messages ?? []).flatMap(each => each.completion_tokens ?? []));
  return counts.length === 0 ? undefined : counts.reduce((sum, each) => sum + each, 0);
}

/** Everything that was said before the first answer; undefined without messages. */
export function questionOf({ steps }: Pick<Trajectory, 'steps'>): string | undefined {
  const messages = (steps ?? []).flatMap(step => step.messages ?? []);
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const asked = messages.slice(0, first === -1 ? messages.length : first);
  return asked.length === 0 ? undefined : asked.map(({ content }) => messageContent(content) ?? '').join('\n');
}
