/** The rewards of an evaluation run with its statistics, and how certain its mean is. */
import { errorMessage } from '../base/errors.ts';
import type { RolloutSnapshot } from '../contract/evaluations.ts';
import { unreadableIn } from '../contract/lists.ts';
import { hasEnded } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { evaluationKeys } from './evaluations.ts';
import type { RecordedMean, RunExtent } from './extent-of.ts';
import type { LiveQuery } from './live-query.ts';
import { failedOf, lackRewards } from './own-rows.ts';
import type { QueryContext } from './query-context.ts';
import { certaintyNow, type ReadRewards, readExtent, readRunRewards, withExtent, withMissing } from './run-extent.ts';
import { type Certainty, certaintyOf, isSettled, lateRewardsDue, mayFollow, rememberedCertainty } from './run-mean.ts';
import { meanOfRewards, readTrajectoryRewards } from './run-rewards.ts';
import type { Observation } from './statuses/known-resource.ts';

/** The results of a run's rollouts. */
export interface RunResults extends ReadRewards {
  /** Unreadable rewards, which the mean leaves out. */
  readonly unreadable: number;
  /** The certainty of the mean; undefined if the run ended while its rewards were read. */
  readonly certainty: Certainty | undefined;
  readonly snapshots: readonly RolloutSnapshot[];
  readonly unreadSnapshots: number;
  /** Why there are no snapshots, if they could not be read. */
  readonly statisticsError: string | undefined;
}

/**
 * The observation in the rewards of a run; with their mean and number, if the record of an ended run is known to have
 * none.
 */
export function observationOf(id: string, certainty: Certainty | undefined): Observation {
  const { isFinal = false, recorded = undefined, means: [mean] = [], rewards } = certainty ?? {};
  const isOnly = isFinal && recorded !== undefined && recorded.mean === undefined;
  return { kind: 'run', id, certainty, ...(isOnly && { mean, graded: rewards }) };
}

export interface ResultsOptions {
  /** The number of rollouts with a reward, if known: results that have all of them are read less often, or no more. */
  readonly scored?: number | null | undefined;
  /** The listed rollouts: while they have rewards that the results lack, the results are settling. */
  readonly rows?: readonly Trajectory[];
  /** The status and size of the run, if the caller has just read them. */
  readonly extent?: RunExtent | undefined;
}

/** While benchtop looks for late rewards, equal answers must keep their identity, so that they count as unchanged. */
function withSameReads(certainty: Certainty, { readAfterEnd }: Partial<Certainty> = {}): Certainty {
  const isSame = readAfterEnd !== undefined && lateRewardsDue(certainty.readAfterEnd) !== undefined;
  return isSame ? { ...certainty, readAfterEnd } : certainty;
}

/**
 * Rewards and statistics of a run, read together so that they agree, and polled until `ended`. The rewards are shown
 * even without statistics.
 */
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
        readTrajectoryRewards(runId, context),
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
 * The certainty of the mean of an ended run. Its rewards are final: they are read once, and their certainty is
 * remembered.
 *
 * @param known the run as just read
 * @throws ServiceError
 */
export async function readFinalCertainty(
  runId: string,
  context: QueryContext,
  known: Partial<RunExtent>,
): Promise<Certainty> {
  const range = context.compare?.rewardRange;
  const remembered = rememberedCertainty(context.memory, runId, known);
  const { recorded = { mean: undefined, graded: undefined } } = known;
  if (remembered && isSettled(remembered, recorded, range)) return remembered;
  const read = await readRunRewards(runId, context, known);
  // Without its status or total there is no interval, and this may change.
  if (read.unread) throw read.unread;
  return read.certainty ?? certaintyOf(read.rewards, { ...read, range });
}

/** The certainty of the mean so far of a running run, for lines of Watch and lists. Its rewards may outlive a run. */
export function runSoFarQuery(runId: string, known: Partial<RunExtent>): LiveQuery<Certainty> {
  return {
    key: evaluationKeys.soFar(runId),
    observes: certainty => observationOf(runId, certainty),
    activity: () => 'running',
    read: async context => {
      // Read often, so without the listed rollouts.
      const read = await readRunRewards(runId, context, known, []);
      return certaintyNow(runId, read, context);
    },
  };
}

/**
 * The certainty alone, for lists of ended runs.
 *
 * @param the mean on screen, from the service or from the rewards
 */
export function runCertaintyQuery(runId: string, of: RecordedMean, known: Partial<RunExtent>): LiveQuery<Certainty> {
  return {
    key: evaluationKeys.certainty(runId, of),
    about: { kind: 'run', id: runId },
    observes: certainty => observationOf(runId, certainty),
    activity: () => 'settled',
    read: context => readFinalCertainty(runId, context, known),
  };
}
