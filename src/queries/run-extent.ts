/** The rewards of an evaluation run, with what says whether they are all. */
import { unreadableIn } from '../contract/common.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { statusMeaning } from '../contract/status.ts';
import { isNotOffered } from '../service/errors.ts';
import { evalProgressQuery, evalRunQuery } from './evaluations.ts';
import type { QueryContext } from './query-context.ts';
import { readTrajectoryRewards } from './run-rewards.ts';

/** What a service says of a run as a whole. */
export interface RunExtent {
  readonly status: string | null | undefined;
  /** The rollouts that it has once it is complete; undefined if the service does not say. */
  readonly total: number | undefined;
  /** The rollouts in its list of rewards, also those that cannot be read. */
  readonly listed?: number | undefined;
  /** Of those, the ones that name no task, or none that can be read, and may have a reward. */
  readonly nameless?: number | undefined;
  /** Whether its tasks are known to be those of the held-out curve that may have chosen its checkpoint. */
  readonly isMeasuredAsChosen?: boolean | undefined;
}

/** The rewards of a run. */
export interface ReadRewards extends RunExtent {
  readonly rewards: readonly TrajectoryReward[];
}

/**
 * Reads the rewards of a run, and before them how many there should be: rewards that are read after its end are all.
 *
 * @param known what was just read of the run
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
  // Fewer than there are is no number of all.
  return { rewards, listed, status, total: total === undefined || total < listed ? undefined : total };
}

/** What cannot be read is not known; that the run is gone is said by its rewards. */
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
    // Without its number of rollouts, the rewards of a run may not be all: only who never says it is believed.
    return { status: isOptional || statusMeaning(status ?? '') !== 'success' ? status : undefined, total };
  } catch {
    context.signal.throwIfAborted();
    return { total };
  }
}
