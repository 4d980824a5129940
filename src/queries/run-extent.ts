/** The rewards of an evaluation run, and whether they are complete. */

import type { EvalRun, TrajectoryReward } from '../contract/evaluations.ts';
import { unreadableIn } from '../contract/lists.ts';
import { statusMeaning } from '../contract/status.ts';
import { isNotOffered } from '../service/errors.ts';
import { evalProgressQuery, evalRunQuery } from './evaluations.ts';
import type { QueryContext } from './query-context.ts';
import { readTrajectoryRewards } from './run-rewards.ts';

/** The totals of a run, as the service reports them. */
export interface RunExtent {
  readonly status: string | null | undefined;
  /** The number of rollouts of the complete run; undefined if the service does not report it. */
  readonly total: number | undefined;
  /** The number of rollouts in the list of rewards, including unreadable ones. */
  readonly listed?: number | undefined;
  /**
   * How many of these have a reward but no readable task, or are unreadable. Those known to have no reward are
   * missing, and not counted here.
   */
  readonly nameless?: number | undefined;
  /** Rollouts of each task, by the options of the run. Read if the service does not report a total. */
  readonly samplesPerTask?: number | undefined;
  /** Whether its tasks are known to be those of the held-out curve that may have chosen its checkpoint. */
  readonly isMeasuredAsChosen?: boolean | undefined;
}

/** The rewards of a run. */
export interface ReadRewards extends RunExtent {
  readonly rewards: readonly TrajectoryReward[];
}

/**
 * Reads the status and total of a run before its rewards, because rewards that are read after the end are complete.
 *
 * @param known the run as just read
 * @throws ServiceError
 */
export async function readRunRewards(
  eval_run_id: string,
  context: QueryContext,
  known: Partial<RunExtent> = {},
): Promise<ReadRewards> {
  const { status, total, samplesPerTask } = known.total === undefined ? await readExtent(eval_run_id, context) : known;
  const rewards = await readTrajectoryRewards(eval_run_id, context);
  const listed = rewards.length + unreadableIn(rewards);
  // A total below the number of rewards is wrong.
  const all = total === undefined || total < listed ? undefined : total;
  return { rewards, listed, status, total: all, ...(samplesPerTask !== undefined && { samplesPerTask }) };
}

/** A failure leaves the extent unknown. Whether the run is gone shows when its rewards are read. */
async function readExtent(eval_run_id: string, context: QueryContext): Promise<Partial<RunExtent>> {
  let total: number | undefined;
  let ended: string | undefined;
  let isOptional = true;
  try {
    const progress = await evalProgressQuery(eval_run_id).read(context);
    total = progress.total_rollouts ?? undefined;
    ended = progress.status ?? undefined;
    if (ended !== undefined && total !== undefined) return { status: ended, total };
  } catch (error) {
    context.signal.throwIfAborted();
    isOptional = isNotOffered(error);
  }
  try {
    const { status, total_rollouts, options } = await evalRunQuery(eval_run_id).read(context);
    const extent = { total: total ?? total_rollouts ?? undefined, samplesPerTask: samplesPerTaskOf(options) };
    // Without its progress, the rewards of a successful run may be incomplete, unless the service has no progress.
    const isKnown = isOptional || statusMeaning(status ?? '') !== 'success';
    return { ...extent, status: ended ?? (isKnown ? status : undefined) };
  } catch {
    context.signal.throwIfAborted();
    return { status: ended, total };
  }
}

/** How many rollouts each task has, by the options of a run. */
export function samplesPerTaskOf(options: EvalRun['options']): number | undefined {
  const each = options?.['evaluation_samples_per_task'];
  return typeof each === 'number' && Number.isInteger(each) && each > 0 ? each : undefined;
}
