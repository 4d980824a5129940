/** How certain the mean reward of an evaluation run is: its interval by task, and what missing rewards could change. */
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { endedByItself, hasEnded } from '../contract/status.ts';
import { evidenceFor, type Interval, intervalDefaults } from '../present/statistics/interval.ts';
import { type Range, type RunTasks, type TaskMean, taskMean } from '../present/statistics/tasks.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { meanOfRewards, readRunRewards, rewardsByTask } from '../queries/run-rewards.ts';
import { counted, reward } from '../text/numbers.ts';
import { intervalLabel } from './comparison.ts';

export interface RunMean extends TaskMean {
  readonly interval: Interval | undefined;
  /** The range that a reward lies outside of, so that there is no interval. */
  readonly outside: Range | undefined;
  /** Some rewards name no task: their rollouts count as tasks of their own. */
  readonly hasNameless: boolean;
}

export interface RunMeanOptions {
  readonly status: string | null | undefined;
  /** Rollouts of the run, if known. */
  readonly total?: number | null | undefined;
  readonly range?: Range | undefined;
}

/** A rollout of no known task counts as a task of its own. */
export function runMeanOf(rewards: readonly TrajectoryReward[], { status, total, range }: RunMeanOptions): RunMean {
  const final = endedByItself(status);
  const { tasks, nameless } = rewardsByTask({ rewards, total: Math.max(final ? (total ?? 0) : 0, rewards.length) });
  const run: RunTasks = {
    tasks: [
      ...[...tasks.values()].map(({ listed, unlisted }) => ({ rewards: listed.map(each => each.reward), unlisted })),
      ...nameless.listed.map(each => ({ rewards: [each.reward], unlisted: 0 })),
      ...Array.from({ length: nameless.unlisted }, () => ({ rewards: [], unlisted: 1 })),
    ],
    final,
  };
  const options = { ...intervalDefaults, ...(range && { range }) };
  const { interval, reason } = evidenceFor([run], options);
  return {
    ...taskMean(run, options.range),
    interval: interval(),
    outside: reason === 'outside' ? options.range : undefined,
    hasNameless: nameless.listed.length > 0,
  };
}

/** A run as far as it was seen: its end, and the mean that the service says. */
interface SeenRun {
  readonly id: string;
  readonly status: string | undefined;
  readonly mean: number | undefined;
}

/**
 * Reads how certain the mean of a run is, with the mean that this is about: while the run continues, that of the same
 * rewards; of an ended run, what the service says.
 *
 * @throws ServiceError
 */
export async function readCertainty({ id, status, mean }: SeenRun, context: QueryContext) {
  const { rewards, total } = await readRunRewards(id, endedByItself(status), context);
  const listed = meanOfRewards(rewards);
  return {
    mean: (hasEnded(status) ? mean : undefined) ?? listed.mean,
    graded: listed.rewards,
    certainty: runMeanOf(rewards, { status, total, range: context.compare?.rewardRange }),
  };
}

/**
 * `95% between 0.460 and 0.880 by 28 tasks`, and `0.610 to 0.750 whatever the 4 were`: the interval holds for each of
 * them. Empty where nothing is rated.
 */
export function certaintyWords(run: RunMean): string {
  const { mean, tasks, rated, rollouts, bounds, interval, outside } = run;
  if (mean === undefined) return '';
  if (outside) return `no interval: rewards lie outside of ${outside.join('..')}`;
  const missing = rollouts - rated;
  const units = run.hasNameless ? `${counted(rated, 'rollout')} as if of different tasks` : counted(tasks, 'task');
  return [
    interval && `${intervalLabel(interval)} between ${reward(interval.low)} and ${reward(interval.high)} by ${units}`,
    bounds && `${reward(bounds[0])} to ${reward(bounds[1])} whatever the ${missing} ${missing === 1 ? 'was' : 'were'}`,
  ]
    .filter(Boolean)
    .join('; ');
}

/** The same for machines. */
export const certaintyFields = ({ bounds, interval }: RunMean) => ({
  interval: interval ?? null,
  mean_bounds: bounds ? { low: bounds[0], high: bounds[1] } : null,
});
