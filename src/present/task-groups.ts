/** Groups the rollouts in a run, a dataset or a training step by task. Pure. */
import { isRecord } from '../base/own-property.ts';
import { mean, meanDifference } from '../base/statistics.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { messageContent } from '../contract/message-content.ts';
import { isRunning, isUnknown, statusMeaning } from '../contract/status.ts';
import type { Trajectory, TrajectoryMessage } from '../contract/trajectories.ts';
import type { Passes } from './statistics/pass-at-k.ts';
import { type Range, reaches } from './statistics/tasks.ts';
import { byTask, type GroupKind, groupKind, type StepRewards, scoresOf, widenedRange } from './teaching.ts';
import { callsOf } from './transcript-calls.ts';

/** A rollout with its reward and, if known, its outcome. */
export type GroupRollout = TrajectoryReward &
  Partial<Pick<Trajectory, 'status' | 'error' | 'rollout' | 'policy_step' | 'model_id'>>;

const isFailure = (status: string | null | undefined): boolean =>
  status != null && ['failure', 'stopped'].includes(statusMeaning(status));

/** Whether a rollout's execution failed or was stopped. It may still have a reward. */
export const hasFailed = ({ status, error, rollout }: GroupRollout): boolean =>
  isFailure(status) || isFailure(rollout?.status) || Boolean(error);

/** Whether a rollout failed or is still running; undefined if neither, or if its status is unknown or missing. */
export function unfinishedState(row: GroupRollout): 'failed' | 'running' | undefined {
  if (hasFailed(row)) return 'failed';
  const isKnownToRun = [row.status, row.rollout?.status].some(each => each && isRunning(each) && !isUnknown(each));
  return isKnownToRun ? 'running' : undefined;
}

/** A task's known rewards at a training step, lowest first. */
export type StepScores = Pick<StepTask, 'step' | 'scores' | 'mean'>;

/** A model's known rewards on a task, lowest first, and how many of them pass. */
export interface ModelScores extends Pick<TaskGroup, 'scores' | 'mean' | 'passed'> {
  /** Undefined for the rollouts that name no model. */
  readonly model: string | undefined;
}

/** A task's rollouts. */
export interface TaskGroup {
  readonly task_id: string;
  readonly rollouts: readonly GroupRollout[];
  /** The known rewards, lowest first. */
  readonly scores: readonly number[];
  readonly mean: number | undefined;
  /** The number of rewards that count as a pass. */
  readonly passed: number;
  /** Failed executions, with or without a reward. */
  readonly failed: number;
  /** Failed executions without a reward. */
  readonly failedUnscored: number;
  /** Other rollouts without a reward that have ended or whose status is unknown. */
  readonly unscored: number;
  readonly running: number;
  /** Rollouts that the service does not list. */
  readonly unlisted: number;
  /** Mean number of completion tokens in the rollouts that report it; undefined if none does. */
  readonly tokens: number | undefined;
  readonly kind: GroupKind;
  /** Its rewards by training step, in order, if the rollouts come from several steps. */
  readonly stepScores?: readonly StepScores[] | undefined;
  /** Its rewards by model, if the rollouts are from several models. */
  readonly modelScores?: readonly ModelScores[] | undefined;
  /** The same task in another run. */
  readonly base?: Pick<TaskGroup, 'scores' | 'mean' | 'passed' | 'modelScores'>;
  /** This mean minus the other run's mean. */
  readonly difference?: number | undefined;
}

/** The known rewards, lowest first. */
const sortedScores = (rollouts: readonly GroupRollout[]): number[] =>
  scoresOf(rollouts).sort((left, right) => left - right);

const countPassed = (scores: readonly number[], passAt: number): number =>
  scores.filter(score => reaches(score, passAt)).length;

/** A task's number of rollouts, listed or not. */
export const rolloutsOf = ({ rollouts, unlisted }: TaskGroup): number => rollouts.length + unlisted;

export const passesOf = ({ scores, passed }: Pick<TaskGroup, 'scores' | 'passed'>): Passes => ({
  count: scores.length,
  passed,
});

/**
 * @param range the lowest and the highest reward, also of the rewards outside the range in the settings
 * @param passAt the lowest reward that counts as a pass
 */
export function groupOf(
  task_id: string,
  rollouts: readonly GroupRollout[],
  range: Range,
  { passAt, unlisted = 0 }: { readonly passAt: number; readonly unlisted?: number },
): TaskGroup {
  const scores = sortedScores(rollouts);
  const others = rollouts.filter(({ reward }) => reward == null || !Number.isFinite(reward));
  const states = others.map(unfinishedState);
  const failedUnscored = states.filter(state => state === 'failed').length;
  const running = states.filter(state => state === 'running').length;
  return {
    ...{ task_id, rollouts, scores, failedUnscored, running, unlisted },
    failed: rollouts.filter(hasFailed).length,
    unscored: others.length - failedUnscored - running,
    mean: mean(scores),
    passed: countPassed(scores, passAt),
    tokens: mean(rollouts.flatMap(({ completion_tokens }) => completion_tokens ?? [])),
    kind: groupKind(rollouts, range),
  };
}

/** The rewards by training step, for the rollouts that name one. */
export function scoresByStep(rollouts: readonly GroupRollout[]): readonly StepScores[] {
  const bySteps = Map.groupBy(rollouts, ({ policy_step }) => policy_step ?? undefined);
  return [...bySteps]
    .flatMap(([step, group]) => (step === undefined ? [] : { step, scores: sortedScores(group) }))
    .map(each => ({ ...each, mean: mean(each.scores) }))
    .sort((left, right) => left.step - right.step);
}

/** The rewards by model, the model with most of them first. @param passAt the lowest reward that counts as a pass */
export function scoresByModel(rollouts: readonly GroupRollout[], passAt: number): readonly ModelScores[] {
  const rank = ({ model, scores }: ModelScores): number => (model === undefined ? 1 : -scores.length);
  return [...Map.groupBy(rollouts, ({ model_id }) => model_id || undefined)]
    .map(([model, group]) => {
      const scores = sortedScores(group);
      return { model, scores, mean: mean(scores), passed: countPassed(scores, passAt) };
    })
    .sort((left, right) => rank(left) - rank(right));
}

/** The group with its difference from the same task in another run. */
export function withBase(group: TaskGroup, base: TaskGroup['base']): TaskGroup {
  return base ? { ...group, base, difference: meanDifference(base.scores, group.scores) } : group;
}

export interface StepTask extends TaskGroup {
  readonly step: number;
}

/** The ranges of rewards: from the settings, whose top is a pass, and widened to include all rewards read. */
interface RewardRanges {
  readonly range: Range;
  readonly widened: Range;
}

export function taskOf(
  step: number,
  task_id: string,
  rollouts: readonly TrajectoryReward[],
  { range, widened }: RewardRanges,
): StepTask {
  return { ...groupOf(task_id, rollouts, widened, { passAt: range[1] }), step };
}

export function tasksOf(step: StepRewards<TrajectoryReward>, range: Range): readonly StepTask[] {
  const ranges = { range, widened: widenedRange(range, [step]) };
  return [...byTask(step).tasks].map(([id, rollouts]) => taskOf(step.step, id, rollouts, ranges));
}

/** The rollout with the highest reward among those that can be opened. */
export function bestRollout(rollouts: readonly TrajectoryReward[]): TrajectoryReward | undefined {
  const known = rollouts.filter(({ trajectory_id }) => trajectory_id);
  return known.toSorted((left, right) => (right.reward ?? -Infinity) - (left.reward ?? -Infinity))[0];
}

const callsIn = (message: TrajectoryMessage | undefined) =>
  callsOf(message?.tool_calls ?? '').filter(({ name, text }) => name !== '' || text !== '');

/** The model's last message; if it ends with tool calls, the text before them and the calls with their arguments. */
export function answerOf(trajectory: Pick<Trajectory, 'steps'>): string | undefined {
  const messages = (trajectory.steps ?? []).flatMap(step => step.messages ?? []);
  const after = messages.slice(messagesBeforeAnswer(trajectory).length);
  const own = after.filter(({ role }) => role === 'assistant');
  const calls = callsIn(own.at(-1));
  // Skip texts that contain only a tool's name, which some agents write.
  const texts = (calls.length === 0 ? own.slice(-1) : own).flatMap(({ content }) => messageContent(content) || []);
  const text = texts.findLast(each => !calls.some(({ name }) => name === each.trim())) ?? '';
  const words = [text, ...calls.map(call => [call.name, call.text].filter(Boolean).join(' '))].filter(Boolean);
  return words.length === 0 ? undefined : words.join('\n');
}

/**
 * The messages before the model's first one. A prompt may contain answers as examples: if an answer in the first step
 * has a number of tokens or a finish reason, those before it are part of the prompt, unless they call tools.
 */
export function messagesBeforeAnswer({ steps }: Pick<Trajectory, 'steps'>) {
  const isAnswer = ({ role }: TrajectoryMessage): boolean => role === 'assistant';
  const isSampled = (message: TrajectoryMessage): boolean =>
    isAnswer(message) && (message.completion_tokens ?? message.finish_reason) != null;
  const messages = (steps ?? []).flatMap(step => step.messages ?? []);
  const sampled = (steps?.[0]?.messages ?? []).findIndex(isSampled);
  const callsTools = messages.slice(0, sampled).some(message => callsIn(message).length > 0);
  const first = sampled === -1 || callsTools ? messages.findIndex(isAnswer) : sampled;
  return messages.slice(0, first === -1 ? messages.length : first);
}

/** All messages before the first answer, joined; undefined if there are none. */
export function questionOf(trajectory: Pick<Trajectory, 'steps'>): string | undefined {
  const before = messagesBeforeAnswer(trajectory);
  return before.length === 0 ? undefined : before.map(({ content }) => messageContent(content) ?? '').join('\n');
}

/** A trajectory's completion tokens; undefined if neither it nor its messages report them. */
export function tokensOf({
  steps,
  completion_tokens: own,
}: Pick<Trajectory, 'steps'> & { completion_tokens?: unknown }): number | undefined {
  if (typeof own === 'number') return own;
  const counts = (steps ?? []).flatMap(step => (step.messages ?? []).flatMap(each => each.completion_tokens ?? []));
  return counts.length === 0 ? undefined : counts.reduce((sum, each) => sum + each, 0);
}

/** Names of duration metrics, most exact first, with their unit in seconds. */
const durations = [
  ['latency_ms', 0.001],
  ['duration_ms', 0.001],
  ['elapsed_ms', 0.001],
  ['duration_s', 1],
  ['duration_seconds', 1],
  ['elapsed_seconds', 1],
  ['total_seconds', 1],
  ['wall_time', 1],
  ['duration', 1],
  ['elapsed', 1],
] as const;

/** A trajectory's duration; undefined if its metrics do not report it. */
export function secondsOf({
  execution_metrics,
  metrics,
}: Pick<Trajectory, 'execution_metrics' | 'metrics'>): number | undefined {
  for (const values of [execution_metrics, metrics]) {
    if (!isRecord(values)) continue;
    for (const [name, unit] of durations) {
      const value = values[name];
      if (typeof value === 'number' && Number.isFinite(value)) return value * unit;
    }
  }
  return undefined;
}
