/** Correlates rollouts' rewards with their lengths in tokens, steps or seconds. Pure. */

import type { Trajectory } from '../contract/trajectories.ts';
import { counted, reward } from '../text/numbers.ts';
import { type Correlation, groupedCorrelation } from './audit.ts';
import { formatInterval } from './number-columns.ts';
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

/** The rank correlation over all rollouts, and within tasks; undefined if too few values differ. */
export function lengthCorrelation(points: readonly LengthPoint[]) {
  const pairs = (some: readonly LengthPoint[]) => some.map(point => [point.length, point.reward] as const);
  const named = points.filter(({ row }) => row.task_id);
  const tasks = [...Map.groupBy(named, ({ row }) => row.task_id).values()];
  return { all: groupedCorrelation([pairs(points)]), within: groupedCorrelation(tasks.map(pairs)) };
}

const formatCoefficient = (of: Correlation): string => `${reward(of.value)}, ${formatInterval(of)}`;
const formatCorrelation = (of: Correlation): string => `${formatCoefficient(of)}, ${counted(of.pairs, 'rollout')}`;

/**
 * `rank correlation 0.243, 95% CI -0.154 to 0.573`, for a screen with few lines; undefined if too few values differ.
 */
export function describeCorrelationShort(points: readonly LengthPoint[]): string | undefined {
  const { all } = lengthCorrelation(points);
  return all && `rank correlation ${formatInterval(all)}`;
}

/**
 * The correlation in sentences.
 *
 * @param total the total number of rollouts
 * @param isReading whether more rollouts are still being read
 */
export function describeCorrelation(
  points: readonly LengthPoint[],
  length: Length,
  total: number,
  isReading = false,
): readonly string[] {
  const counts = `${points.length} of ${counted(total, 'rollout has', 'rollouts have')} a reward and a known length in ${length}`;
  const known = isReading ? `still reading: ${counts} so far` : counts;
  const { all, within } = lengthCorrelation(points);
  if (isReading && !all) return [known];
  const none = 'too few distinct values';
  return [
    known,
    `rank correlation of reward and ${length}: ${all ? formatCorrelation(all) : none}`,
    ...(within && within.pairs > 2 ? [`within tasks: ${formatCorrelation(within)}`] : []),
  ];
}
