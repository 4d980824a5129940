/** The rewards of an evaluation run, and whether they are complete. */

import type { TrajectoryReward } from '../contract/evaluations.ts';
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
  const { status, total } = known.total === undefined ? await readExtent(eval_run_id, context) : known;
  const rewards = await readTrajectoryRewards(eval_run_id, context);
  const listed = rewards.length + unreadableIn(rewards);
  // A total below the number of rewards is wrong.
  return { rewards, listed, status, total: total === undefined || total < listed ? undefined : total };
}

/** A failure leaves the extent unknown. Whether the run is gone shows when its rewards are read. */
async function readExtent(eval_run_id: string, context: QueryContext): Promise<Partial<RunExtent>> {
  let total: number | undefined;
  let isOptional = true;
  try {
    const progress = await evalProgressQuery(eval_run_id).read(context);
    total = progress.total_rollouts ?? undefined;
    if (progress.status != null) return { status: progress.status, total };
  } catch (error) {
    context.signal.throwIfAborted();
    isOptional = isNotOffered(error);
  }
  try {
    const { status } = await evalRunQuery(eval_run_id).read(context);
    // Without a total, the rewards of a successful run may be incomplete, unless the service never sends a total.
    return { status: isOptional || statusMeaning(status ?? '') !== 'success' ? status : undefined, total };
  } catch {
    context.signal.throwIfAborted();
    return { total };
  }
}
