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
  /** The rollouts that it has once it is complete; undefined if nobody says. */
  readonly total: number | undefined;
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
  const read = rewards.length + unreadableIn(rewards);
  const isAll = status != null && statusMeaning(status) === 'success';
  return { rewards, status, total: total === undefined ? (isAll ? read : undefined) : Math.max(total, read) };
}

/** No run has more; what is above is no number of rollouts. */
const mostRollouts = 1e9;

/** What cannot be read is not known; that the run is gone is said by its rewards. */
async function readExtent(eval_run_id: string, context: QueryContext): Promise<Partial<RunExtent>> {
  let total: number | undefined;
  try {
    const { status, total_rollouts: said } = await evalProgressQuery(eval_run_id).read(context);
    if (said != null && Number.isInteger(said) && said >= 0 && said <= mostRollouts) total = said;
    if (status != null) return { status, total };
  } catch (error) {
    context.signal.throwIfAborted();
    // Without its number of rollouts, the rewards of an ended run may not be all: only who never says it is believed.
    if (!isNotOffered(error)) return {};
  }
  try {
    const { status } = await evalRunQuery(eval_run_id).read(context);
    return { status, total };
  } catch {
    context.signal.throwIfAborted();
    return { total };
  }
}
