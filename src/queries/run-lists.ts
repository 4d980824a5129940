/** Lists of evaluation runs, with means for records that lack them. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { everyListedRun, listedRunsOf } from './evaluations.ts';
import { amendRows } from './lists/amended.ts';
import type { ListSource } from './lists/list-source.ts';
import type { QueryContext } from './query-context.ts';
import { extentOfRecord, readRunRewards } from './run-extent.ts';
import { type Certainty, isOfMean, mayHaveLateRewards, rememberedCertainty } from './run-mean.ts';
import { meanOfRewards, type RewardMean } from './run-rewards.ts';

const lacksMean = ({ status, reward_mean, reward_count }: EvalRun): boolean =>
  hasEnded(status) && reward_mean == null && reward_count !== 0;

/**
 * Whether a cancelled or failed run may have rewards although the list has no mean: some services compute it only for
 * successful runs.
 */
const mayHaveRewards = (run: EvalRun): boolean => lacksMean(run) && statusMeaning(run.status ?? '') !== 'success';

const withOutcome = (run: EvalRun, { mean, rewards }: RewardMean): EvalRun => ({
  ...run,
  reward_mean: mean ?? null,
  reward_count: rewards,
});

/** The certainty of a mean that the service does not report, if the rewards have been read after the run's end. */
function certaintyOfListed(run: EvalRun, { memory, compare }: QueryContext): Certainty | undefined {
  const certainty = lacksMean(run) ? rememberedCertainty(memory, run.eval_run_id, extentOfRecord(run)) : undefined;
  const recorded = { mean: undefined, graded: run.reward_count ?? undefined };
  return certainty && isOfMean(certainty, recorded, compare?.rewardRange) ? certainty : undefined;
}

/**
 * Adds the mean of the listed rewards if the service reports none, as `get` does. Reads the rewards once, plus a few
 * more times if some may be late, and remembers them.
 */
function withOutcomes(source: ListSource<EvalRun>): ListSource<EvalRun> {
  return {
    ...source,
    readPage: async context => {
      const page = await source.readPage(context);
      const outdated = new Set<string>();
      const known = page.items.map(run => {
        const certainty = certaintyOfListed(run, context);
        if (!certainty) return run;
        if (mayHaveLateRewards(certainty)) outdated.add(run.eval_run_id);
        return withOutcome(run, { mean: certainty.means[0], rewards: certainty.rewards });
      });
      const lacks = (run: EvalRun): boolean => mayHaveRewards(run) || outdated.has(run.eval_run_id);
      const ask = async (run: EvalRun): Promise<EvalRun> => {
        const listed = outdated.has(run.eval_run_id) ? { ...run, reward_mean: null, reward_count: null } : run;
        const read = await readRunRewards(run.eval_run_id, context, extentOfRecord(listed));
        return withOutcome(run, meanOfRewards(read.rewards));
      };
      return { ...page, items: [...(await amendRows(known, lacks, ask, context.signal))] };
    },
  };
}

export const runsOfBenchmark = (benchId: string): ListSource<EvalRun> => withOutcomes(listedRunsOf(benchId));

/** All benchmarks' runs, newest first. */
export const everyRun: ListSource<EvalRun> = withOutcomes(everyListedRun);
