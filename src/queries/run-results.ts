/** An evaluation run's rewards and statistics, and the certainty of its mean. */
import { errorMessage } from '../base/errors.ts';
import type { RolloutSnapshot } from '../contract/evaluations.ts';
import { unreadableIn } from '../contract/lists.ts';
import { hasEnded } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { endInstant } from '../text/time.ts';
import { evaluationKeys } from './evaluations.ts';
import type { RunExtent } from './extent-of.ts';
import type { LiveQuery } from './live-query.ts';
import { failedOf, lackRewards } from './own-rows.ts';
import type { QueryContext } from './query-context.ts';
import { certaintyNow, type ReadRewards, readExtent, readRunRewards, withExtent, withMissing } from './run-extent.ts';
import {
  type Certainty,
  certaintyOf,
  isOwnMean,
  isSettled,
  lateRewardsDue,
  mayFollow,
  rememberedCertainty,
} from './run-mean.ts';
import { meanOfRewards, readTrajectoryRewards } from './run-rewards.ts';
import type { KnownResource, Observation } from './statuses/known-resource.ts';

/** The results of a run's rollouts. */
export interface RunResults extends ReadRewards {
  /** Unreadable rewards, which the mean leaves out. */
  readonly unreadable: number;
  /** The certainty of the mean; undefined if the run ended while its rewards were being read. */
  readonly certainty: Certainty | undefined;
  readonly snapshots: readonly RolloutSnapshot[];
  readonly unreadSnapshots: number;
  /** Why there are no snapshots, if they could not be read. */
  readonly statisticsError: string | undefined;
}

/** The observation from a run's rewards, with their mean and number if the ended run's record has none. */
export function observationOf(id: string, certainty: Certainty | undefined): Observation {
  const { isFinal = false, recorded = undefined, means: [mean] = [], rewards } = certainty ?? {};
  const isOnly = isFinal && recorded !== undefined && recorded.mean === undefined;
  return { kind: 'run', id, certainty, ...(isOnly && { mean, graded: rewards }) };
}

interface ResultsOptions {
  /** The number of rollouts with a reward, if known. Complete results are polled less often, or not at all. */
  readonly scored?: number | null | undefined;
  /** The listed rollouts. The results are settling while these have rewards that the results lack. */
  readonly rows?: readonly Trajectory[];
  /** The run's status and size, if the caller has just read them. */
  readonly extent?: RunExtent | undefined;
}

/** Keeps the read times while late rewards are expected, so that equal results count as unchanged. */
function withSameReads(certainty: Certainty, { readAfterEnd }: Partial<Certainty> = {}): Certainty {
  const isSame = readAfterEnd !== undefined && lateRewardsDue(certainty.readAfterEnd) !== undefined;
  return isSame ? { ...certainty, readAfterEnd } : certainty;
}

/** A run's rewards and statistics, read together so that they agree. Polled until `ended`. */
export function runResultsQuery(
  runId: string,
  ended: boolean,
  { scored, rows = [], extent }: ResultsOptions = {},
): LiveQuery<RunResults> {
  return {
    key: evaluationKeys.results(runId),
    observes: ({ certainty }) => observationOf(runId, certainty),
    activity: results => {
      if (!results) return ended ? 'settled' : 'running';
      const isWhole = scored == null || meanOfRewards(results.rewards).rewards >= scored;
      const { rewards } = results;
      const failed = failedOf(rows);
      const isOpen = !isWhole || lackRewards(rewards, rows) || mayFollow({ ...results, ...extent }, failed.length);
      if (ended) return isOpen ? 'settling' : 'settled';
      return isWhole && scored != null ? 'open' : 'running';
    },
    read: async context => {
      const { service, signal } = context;
      const [rewards, statistics, known] = await Promise.allSettled([
        readTrajectoryRewards(runId, context, ended),
        service.call('getRolloutStatistics', { params: { eval_run_id: runId } }, { signal }),
        extent ?? readExtent(runId, context),
      ]);
      if (rewards.status === 'rejected') throw rewards.reason;
      const read = statistics.status === 'fulfilled';
      const reported = withExtent(rewards.value, known.status === 'fulfilled' ? known.value : {});
      const results = await withMissing(runId, context, reported, hasEnded(reported.status) ? undefined : rows);
      // Rewards that were requested before the end may be incomplete.
      const isWhole = ended || !hasEnded(results.status);
      const certainty = isWhole ? certaintyNow(runId, results, context) : undefined;
      return {
        ...results,
        unreadable: unreadableIn(rewards.value),
        certainty: certainty && withSameReads(certainty, (context.previous as RunResults | undefined)?.certainty),
        snapshots: read ? statistics.value.snapshots : [],
        unreadSnapshots: read ? unreadableIn(statistics.value.snapshots) : 0,
        statisticsError: read ? undefined : errorMessage(statistics.reason),
      };
    },
  };
}

/**
 * The certainty of a run's mean. The rewards of an ended run are final, so they are read once, and their certainty is
 * remembered.
 *
 * @param known facts about the run that have just been read
 * @param rows its listed rollouts, if they have been read
 * @throws ServiceError
 */
export async function readCertainty(
  runId: string,
  context: QueryContext,
  known: Partial<RunExtent>,
  rows?: readonly Trajectory[],
): Promise<Certainty> {
  const range = context.compare?.rewardRange;
  const remembered = rememberedCertainty(context.memory, runId, known);
  const { recorded = { mean: undefined, graded: undefined } } = known;
  if (remembered && isSettled(remembered, recorded, range)) return remembered;
  const read = await readRunRewards(runId, context, known, rows);
  // Without the status or the total there is no interval, but the next read may find both.
  if (read.unread) throw read.unread;
  return read.certainty ?? certaintyOf(read.rewards, { ...read, range });
}

export function extentOfKnown(known: KnownResource): Partial<RunExtent> {
  const { status, total, mean, graded, certainty } = known;
  const isRecorded = !isOwnMean(certainty, { mean, graded });
  const recorded = isRecorded ? { mean, graded } : { mean: undefined, graded: undefined };
  return { status, total, recorded, endedAt: endInstant(known) };
}

/** The certainty of a running run's mean so far. It has no `about`, because the rewards may outlive the run. */
export const soFarQueryOf = (known: KnownResource): LiveQuery<Certainty> => ({
  key: evaluationKeys.soFar(known.id),
  observes: certainty => observationOf(known.id, certainty),
  activity: () => 'running',
  read: async context => {
    // Do not read the list of rollouts, because this query is sent often.
    const read = await readRunRewards(known.id, context, extentOfKnown(known), []);
    return certaintyNow(known.id, read, context);
  },
});

/** Reads only the certainty of the mean on screen, for lists of ended runs. */
export const certaintyQueryOf = (known: KnownResource): LiveQuery<Certainty> => ({
  key: evaluationKeys.certainty(known.id, { mean: known.mean, graded: known.graded }),
  about: { kind: 'run', id: known.id },
  observes: certainty => observationOf(known.id, certainty),
  activity: () => 'settled',
  read: context => readCertainty(known.id, context, extentOfKnown(known)),
});
