/** The rewards of an evaluation run, and whether they are complete. */
import { unreadableIn } from '../contract/common.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { statusMeaning } from '../contract/status.ts';
import { isNotOffered } from '../service/errors.ts';
import { evalProgressQuery, evalRunQuery } from './evaluations.ts';
import type { QueryContext } from './query-context.ts';
import { readTrajectoryRewards } from './run-rewards.ts';

/** What a service says about a run as a whole. */
export interface RunExtent {
  readonly status: string | null | undefined;
  /** The rollouts that it has once it is complete; undefined if the service does not say. */
  readonly total: number | undefined;
  /** The rollouts in its list of rewards, also those that cannot be read. */
  readonly listed?: number | undefined;
  /** The rollouts among them without a readable task, which may have a reward. */
  readonly nameless?: number | undefined;
  /** Whether its tasks are known to be those of the held-out curve that may have chosen its checkpoint. */
  readonly isMeasuredAsChosen?: boolean | undefined;
}

/** The rewards of a run. */
export interface ReadRewards extends RunExtent {
  readonly rewards: readonly TrajectoryReward[];
}

/**
 * Reads the rewards of a run, and first how many there should be: rewards read after its end are complete.
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

/** If this cannot be read it is unknown; the rewards tell whether the run is gone. */
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
    // Without a total the rewards may be incomplete: a missing total is only accepted from a service that never sends
    // one.
    return { status: isOptional || statusMeaning(status ?? '') !== 'success' ? status : undefined, total };
  } catch {
    context.signal.throwIfAborted();
    return { total };
  }
}
