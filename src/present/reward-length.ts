/** Correlates rollouts' rewards with their lengths in tokens, steps or seconds. Pure. */

import { shuffled } from '../base/prng.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { counted, reward } from '../text/numbers.ts';
import { formatInterval } from './number-columns.ts';
import { type Correlation, groupedCorrelation, rankCorrelation } from './statistics/rank-correlation.ts';
import { secondsOf, tokensOf } from './task-groups.ts';

export const lengths = ['tokens', 'steps', 'seconds'] as const;
export type Length = (typeof lengths)[number];

/** A rollout's length; undefined if not known. */
export function lengthOf(row: Partial<Trajectory>, length: Length): number | undefined {
  if (length === 'tokens') return tokensOf(row);
  return length === 'steps' ? (row.num_steps ?? row.steps?.length ?? undefined) : secondsOf(row);
}

/** A rollout whose length and reward are known. */
export interface LengthPoint {
  readonly row: Trajectory;
  readonly length: number;
  readonly reward: number;
  /** The number of rollouts with this length and reward, including this one. */
  readonly equal: number;
}

/** The rollouts whose reward and length are known, shortest first. */
export function lengthPoints(rows: readonly Trajectory[], length: Length): readonly LengthPoint[] {
  const points = rows.flatMap(row => {
    const [own, score] = [lengthOf(row, length), row.reward];
    return own === undefined || score == null || !Number.isFinite(score) ? [] : [{ row, length: own, reward: score }];
  });
  const nameOf = (point: { readonly length: number; readonly reward: number }) => `${point.length} ${point.reward}`;
  const counts = new Map<string, number>();
  for (const point of points) counts.set(nameOf(point), (counts.get(nameOf(point)) ?? 0) + 1);
  return points
    .map(point => ({ ...point, equal: counts.get(nameOf(point)) ?? 1 }))
    .sort((one, other) => one.length - other.length);
}

interface LengthCorrelation extends Omit<Correlation, 'interval'> {
  /** What only rollouts of the same are compared, e.g. `task`; empty if all are compared. */
  readonly within: string;
  /** `one of each task`, and what these rollouts differ in if they are not independent; may be empty. */
  readonly over: string;
  /** Undefined for rollouts that are not independent. */
  readonly interval: Correlation['interval'] | undefined;
}

/**
 * The rank correlation within tasks and, for several training steps, within steps: both rewards and lengths change while
 * a model learns. If fewer than half of the rollouts share their task with another, over one rollout of each task.
 * Undefined if too few values differ.
 */
export function lengthCorrelation(points: readonly LengthPoint[]): LengthCorrelation | undefined {
  const pairs = (some: readonly LengthPoint[]) => some.map(point => [point.length, point.reward] as const);
  // In random order, because the first rollout of a task would be its shortest.
  const named = shuffled(points, points.length).filter(({ row }) => row.task_id);
  const groups = [...Map.groupBy(named, ({ row }) => JSON.stringify([row.task_id, row.policy_step])).values()];
  const isOfSteps = new Set(points.flatMap(({ row }) => row.policy_step ?? [])).size > 1;
  const isOfTasks = groups.filter(({ length }) => length > 1).flat().length * 2 >= points.length;
  const grouped = isOfTasks ? groupedCorrelation(groups.map(pairs)) : undefined;
  if (grouped) return { ...grouped, within: isOfSteps ? 'task and step' : 'task', over: '' };
  const unnamed = points.filter(({ row }) => !row.task_id);
  const compared = isOfTasks ? points : [...unnamed, ...groups.flatMap(group => group.slice(0, 1))];
  const all = rankCorrelation(pairs(compared));
  const differ = [isOfTasks ? 'tasks' : '', isOfSteps ? 'steps' : ''].filter(Boolean).join(' and ');
  const words = [compared.length < points.length ? 'one of each task' : '', differ && `over different ${differ}`];
  const over = words.filter(Boolean).join(', ');
  return all && { ...all, within: '', over, interval: differ === '' ? all.interval : undefined };
}

const formatCorrelation = ({ value, interval, pairs, over }: LengthCorrelation): string =>
  [reward(value), interval ? formatInterval(interval) : '', counted(pairs, 'rollout'), over].filter(Boolean).join(', ');

const formatWithin = ({ within }: LengthCorrelation): string => (within === '' ? '' : ` within each ${within}`);

/** `rank correlation within each task 95% CI -0.154 to 0.573`, for a screen with few lines; undefined without one. */
export function describeCorrelationShort(points: readonly LengthPoint[]): string | undefined {
  const found = lengthCorrelation(points);
  if (!found) return undefined;
  const { interval, value } = found;
  return `rank correlation${formatWithin(found)} ${interval ? formatInterval(interval) : reward(value)}`;
}

/**
 * The correlation in sentences.
 *
 * @param total the total number of rollouts
 * @param isReading whether more rollouts are still being read
 * @param unread how many rollouts with a reward have not been read for their length
 */
export function describeCorrelation(
  points: readonly LengthPoint[],
  length: Length,
  total: number,
  { isReading = false, unread = 0 } = {},
): readonly string[] {
  const counts =
    unread > 0 && !isReading
      ? `an even sample: ${points.length} of ${counted(total, 'rollout')}`
      : `${points.length} of ${counted(total, 'rollout has', 'rollouts have')} a reward and a known length in ${length}`;
  const known = isReading ? `still reading: ${counts} so far` : counts;
  const found = lengthCorrelation(points);
  if (isReading && !found) return [known];
  const words = found ? formatCorrelation(found) : 'too few distinct values';
  return [known, `rank correlation of reward and ${length}${found ? formatWithin(found) : ''}: ${words}`];
}
