/** Lists of evaluation runs, with the means of those whose records lack them. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { everyListedRun, listedRunsOf } from './evaluations.ts';
import { amended } from './lists/amended.ts';
import type { ListSource } from './lists/list-source.ts';
import type { QueryContext } from './query-context.ts';
import { extentOfRecord, readRunRewards } from './run-extent.ts';
import { isSettled, rememberedCertainty } from './run-mean.ts';
import { meanOfRewards, type RewardMean } from './run-rewards.ts';

const lacksMean = ({ status, reward_mean, reward_count }: EvalRun): boolean =>
  hasEnded(status) && reward_mean == null && reward_count !== 0;

/**
 * Whether a run was cancelled or failed and has no mean in the list, although it may have rewards: some services
 * compute it only for completed runs.
 */
const mayHaveRewards = (run: EvalRun): boolean => lacksMean(run) && statusMeaning(run.status ?? '') !== 'success';

const withOutcome = (run: EvalRun, { mean, rewards }: RewardMean): EvalRun => ({
  ...run,
  ...{ reward_mean: mean ?? null, reward_count: rewards },
});

/** The mean and the number of its rewards, if somebody has read them since its end. */
function recalled(run: EvalRun, { memory, compare }: QueryContext): EvalRun {
  if (!lacksMean(run)) return run;
  const certainty = rememberedCertainty(memory, run.eval_run_id, run.status);
  const recorded = { mean: undefined, graded: run.reward_count ?? undefined };
  if (!certainty || !isSettled(certainty, recorded, compare?.rewardRange)) return run;
  const { means, rewards } = certainty;
  return withOutcome(run, { mean: means[0], rewards });
}

/** Adds the mean of the listed rewards where the service reports none, as `get` does. It is read once, and remembered. */
function withOutcomes(source: ListSource<EvalRun>): ListSource<EvalRun> {
  return {
    ...source,
    readPage: async context => {
      const page = await source.readPage(context);
      const known = page.items.map(run => recalled(run, context));
      const ask = async (run: EvalRun): Promise<EvalRun> => {
        const read = await readRunRewards(run.eval_run_id, context, extentOfRecord(run));
        return withOutcome(run, meanOfRewards(read.rewards));
      };
      return { ...page, items: [...(await amended(known, mayHaveRewards, ask, context.signal))] };
    },
  };
}

export const runsOfBenchmark = (benchId: string): ListSource<EvalRun> => withOutcomes(listedRunsOf(benchId));

/** The runs of all benchmarks, newest first. */
export const everyRun: ListSource<EvalRun> = withOutcomes(everyListedRun);
