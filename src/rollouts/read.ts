/** Reads all rollouts of a run, a training run or a dataset, without their steps. */

import { pushAll } from '../base/many.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { asUnread, finishOf, toolErrorOf } from '../present/outcome-classes.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { extentOfRecord, type ReadRewards, readRunRewards } from '../queries/run-extent.ts';
import { describeContradictions } from '../queries/run-rewards.ts';
import { trajectoryStatusQuery, withRunRewards } from '../queries/trajectories.ts';
import type { Resource } from '../resources/define.ts';
import { pagesOf } from '../resources/pages.ts';
import type { Scope } from '../resources/place.ts';
import { trajectories } from '../resources/trajectories.ts';
import { describeAnonymousRewards, describeUnlisted } from '../resources/unlisted.ts';
import { ServiceError } from '../service/errors.ts';
import { counted } from '../text/numbers.ts';
import { readAllInFull } from './in-full.ts';

/** The owner of rollouts: a run, a training run or a dataset. */
export interface Owner {
  readonly resource: Resource;
  readonly id: string;
  readonly row: object;
}

/** The context for a read that reports its progress. */
export interface LongRead extends QueryContext {
  /** Called with the number of trajectories read so far. */
  readonly onRead?: ((trajectories: number) => void) | undefined;
}

export interface OwnRollouts {
  readonly rows: readonly Trajectory[];
  /** The run's rewards. */
  readonly rewards?: ReadRewards;
  /** Why rows may be missing. */
  readonly notes: readonly string[];
  /** Notes about missing rows or parts of rows. */
  readonly unread: readonly string[];
}

/** The filter for the list of trajectories. */
export function scopeOf({ resource, id, row }: Owner): Scope {
  const name = trajectories.scopes?.find(each => resource.names.includes(each)) ?? 'dataset';
  return { [name]: resource.scopeValue?.(row) ?? id };
}

/** @throws ServiceError */
export async function readRollouts(owner: Owner, context: LongRead): Promise<OwnRollouts> {
  const scope = scopeOf(owner);
  const rows: Trajectory[] = [];
  let notes: readonly string[] = [];
  let unread: readonly string[] = [];
  for await (const page of pagesOf(trajectories, scope, context)) {
    pushAll(rows, page.rows);
    ({ notes, unread } = page);
    context.onRead?.(rows.length);
  }
  if (scope.run === undefined) return { rows, notes, unread };
  const rewards = await readRunRewards(scope.run, context, extentOfRecord(owner.row as EvalRun), rows);
  const all = withRunRewards(rows, rewards.rewards);
  const rated = new Set(rows.filter(row => row.reward != null).map(({ trajectory_id }) => trajectory_id));
  const others = all.filter(row => row.reward == null && rated.has(row.trajectory_id)).length;
  const has = counted(others, 'rollout has', 'rollouts have');
  const words = others === 0 ? '' : `${has} a reward that the run's rewards lack: not counted`;
  const anonymous = describeAnonymousRewards(rewards.rewards);
  return {
    rows: all,
    rewards,
    unread: [...unread, ...anonymous],
    notes: [
      ...notes,
      ...anonymous,
      ...describeUnlisted(all, rewards),
      describeContradictions(rewards.rewards),
      words,
    ].filter(Boolean),
  };
}

/**
 * Adds how the rollouts ended. If the service lists only their rewards, reads each rollout. As elsewhere, the mean
 * covers only the run's list of rewards, not rewards that only a rollout's own record contains.
 *
 * @throws ServiceError
 */
export async function withEnds({ rows, ...own }: OwnRollouts, context: QueryContext): Promise<OwnRollouts> {
  const ids = rows.filter(({ status }) => status == null).map(({ trajectory_id }) => trajectory_id);
  const read = new Map<string, Trajectory>();
  for await (const trajectory of readAllInFull(ids, context, trajectoryStatusQuery)) {
    if (trajectory instanceof ServiceError) continue;
    const { steps: _, ...rest } = trajectory;
    read.set(trajectory.trajectory_id, {
      ...rest,
      finish_reason: finishOf(trajectory),
      tool_error: toolErrorOf(trajectory),
    });
  }
  const unread = ids.length - read.size;
  const words = unread === 0 ? [] : [`${counted(unread, 'rollout')} could not be read`];
  return {
    ...own,
    rows: rows.map(row => {
      const ended = read.get(row.trajectory_id);
      if (!ended) return row.status == null ? asUnread(row) : row;
      const reward = own.rewards ? row.reward : (row.reward ?? ended.reward);
      return { ...row, ...ended, reward, task_id: row.task_id ?? ended.task_id };
    }),
    notes: [...own.notes, ...words],
    unread: [...own.unread, ...words],
  };
}
