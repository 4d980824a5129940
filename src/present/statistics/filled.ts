/** Fills in missing rewards with the lowest or the highest reward. */
import { maxOf, minOf } from '../../base/many.ts';
import { mean, withoutRounding } from '../../base/statistics.ts';
import { joinTallies, lowestIn, lowestMean, type Tally, tallyOf, tallyOfSame } from './tally.ts';
import {
  type Bounds,
  isListed,
  type Missing,
  planOf,
  type Range,
  type RunTasks,
  ratedRewards,
  type TaskRewards,
} from './tasks.ts';

export interface FillOptions {
  readonly missing: Missing;
  readonly range: Range;
}

/** The values of tasks, with every missing reward at its worst for one limit. */
export interface WorstCase {
  readonly certain: Tally;
  /** The values of tasks that may or may not count. In the worst case, exactly the tasks below the limit count. */
  readonly optional: Tally;
}

/**
 * The values for the lower limit, and the negated values for the upper limit: the upper limit is their negated lower
 * limit.
 */
export interface FilledValues {
  readonly low: WorstCase;
  readonly mirrored: WorstCase;
}

/**
 * How a run's missing rewards count. Rewards that are still pending, because the run is or may be running, are never
 * ignored.
 */
export const missingOf = ({ end }: Pick<RunTasks, 'end'>, { missing }: Pick<FillOptions, 'missing'>): Missing =>
  end === 'running' || end === 'unreported' ? 'bound' : missing;

/** A listed task's mean with every missing reward at the lowest, and at the highest. */
function boundsOf(rewards: TaskRewards, each: number, missing: Missing, [low, high]: Range): Bounds | undefined {
  const values = ratedRewards(rewards);
  const average = mean(values);
  if (missing === 'ignore') return average === undefined ? undefined : [average, average];
  if (average === undefined) return isListed(rewards) ? [low, high] : undefined;
  const share = 1 - values.length / Math.max(rewards.length, each);
  return [average + (low - average) * share, average + (high - average) * share];
}

/** One run's tasks with their values, and the tasks that its missing rollouts may change. */
function sideOf(run: RunTasks, filling: FillOptions) {
  const [{ each, reach, isAny }, missing] = [planOf(run), missingOf(run, filling)];
  return {
    tasks: run.tasks.map(rewards => ({
      bounds: boundsOf(rewards, each, missing, filling.range),
      rewards: ratedRewards(rewards),
      count: Math.max(rewards.length, each),
    })),
    reach: missing === 'ignore' ? 0 : reach,
    isAny: missing !== 'ignore' && isAny,
  };
}

type Side = ReturnType<typeof sideOf>;

/** The listed tasks, by whether they certainly count. */
interface ByCertainty {
  readonly certain: readonly Listed[];
  readonly optional: readonly Listed[];
  /** For each run, the tasks that only the other run lists. */
  readonly single: readonly [readonly Listed[], readonly Listed[]];
}

function byCertainty(one: Side, other: Side | undefined, range: Range): ByCertainty {
  const certain: Listed[] = [];
  const optional: Listed[] = [];
  const single: readonly [Listed[], Listed[]] = [[], []];
  for (const [index, mine] of one.tasks.entries()) {
    const its = other ? other.tasks[index] : mine;
    const bounds = (side: typeof mine | undefined): Bounds => side?.bounds ?? range;
    const task: Listed = {
      value: other
        ? differenceBounds(bounds(mine), bounds(its), [...mine.rewards, ...(its?.rewards ?? [])])
        : bounds(mine),
      parts: [mine, ...(other && its ? [its] : [])].map((side, at) => ({
        bounds: bounds(side),
        count: side.count,
        isAny: (at === 0 ? one : other)?.isAny === true,
      })),
    };
    if (mine.bounds && its?.bounds) (mine.rewards.length > 0 && its.rewards.length > 0 ? certain : optional).push(task);
    else if (other && (mine.bounds ?? its?.bounds)) single[mine.bounds ? 1 : 0].push(task);
  }
  return { certain, optional, single };
}

/**
 * The values of one run, or the differences (second minus first) between two runs with tasks in the same order. The
 * result holds for any distribution of the missing rollouts over the shared tasks. A task that lacks a reward in either
 * run counts only if that makes the result worse: it may not be shared, so the mean without it is also possible.
 */
export function filled([first, second]: readonly [RunTasks, RunTasks?], filling: FillOptions): FilledValues {
  const { range } = filling;
  const [one, other] = [sideOf(first, filling), second && sideOf(second, filling)];
  const { certain, optional, single } = byCertainty(one, other, range);
  const [least, most] = other ? differenceBounds(range, range) : range;
  const reaches = [one.reach, other?.reach ?? 0] as const;
  const [inBoth, all] = [other ? minOf(reaches) : one.reach, reaches[0] + reaches[1]];
  const isAny = one.isAny || other?.isAny === true;
  const lowestOf = (sign: 1 | -1, end: number): WorstCase => {
    const tally = (tasks: readonly Listed[]): Tally => tallyOf(tasks.map(({ value }) => worstOf(value, sign)));
    // Tasks that neither run lists are assumed to belong to both.
    const unknown = tallyOfSame(end, inBoth);
    if (!isAny) {
      const open = single.map((tasks, side) => lowestIn(tally(tasks), reaches[side] ?? 0)).reduce(joinTallies, unknown);
      return { certain: tally(certain), optional: joinTallies(tally(optional), lowestIn(open, all)) };
    }
    const falling = (tasks: readonly Listed[], first: number): FallingValues[] => {
      const steps = Math.min(all, Math.ceil(maxValues / tasks.length));
      return tasks.map(task => ({ first, values: fallingOf(task, steps, all, sign, range) }));
    };
    // This sample is a lower bound for every choice: below each limit it has as many values as any choice could put
    // there. If that gives more values than there are listed tasks, only the lowest are kept, which cannot raise the
    // limit.
    const ofBoth: FallingValues[] = Array.from({ length: Math.min(inBoth, certain.length) }, () => ({
      first: other ? 2 : 1,
      values: [end],
    }));
    const values = lowestOfEvery(
      [...falling(certain, 0), ...falling(single.filter((_, side) => reaches[side]).flat(), 1), ...ofBoth],
      all,
      certain.length,
    );
    return {
      certain: tallyOf(values),
      optional: tallyOf(lowestOfEvery(falling(optional, 0), all, optional.length)),
    };
  };
  return { low: lowestOf(1, least), mirrored: lowestOf(-1, -most) };
}

const worstOf = ([low, high]: Bounds, sign: 1 | -1): number => (sign === 1 ? low : -high);

/** A task: its value, and its value in each run. */
interface Listed {
  readonly value: Bounds;
  readonly parts: readonly { readonly bounds: Bounds; readonly count: number; readonly isAny: boolean }[];
}

/**
 * Maximum number of values to compute over all tasks if there are loose rollouts: unlisted ones that may belong to any
 * task.
 */
const maxValues = 30_000;

/** A task's values with `first`, `first + 1`, … loose rollouts, descending. */
export interface FallingValues {
  readonly first: number;
  readonly values: readonly number[];
}

/**
 * A task's lowest values with 0 to `most` loose rollouts, each placed in the run where it lowers the value most. This
 * is optimal, because each further rollout in a run lowers the value less. If `all` is more than `most`, one further
 * value assumes that loose rollouts replace all the others.
 */
function fallingOf({ value, parts }: Listed, most: number, all: number, sign: 1 | -1, range: Bounds): number[] {
  // The second run's value, or the only run's, counts positively.
  const placed = parts.map(({ bounds, count, isAny }, index) => {
    const side = index === parts.length - 1 ? sign : sign === 1 ? -1 : 1;
    return { value: worstOf(bounds, side), end: worstOf(range, side), count, isAny };
  });
  const values = [worstOf(value, sign)];
  while (values.length <= most) {
    const drops = placed.map(part => (part.isAny ? (part.value - part.end) / (part.count + 1) : 0));
    const drop = maxOf(drops);
    const part = placed[drops.indexOf(drop)];
    if (!part || !(drop > 0)) break;
    part.value -= drop;
    part.count += 1;
    values.push((values.at(-1) ?? 0) - drop);
  }
  const last = placed.reduce((sum, part) => sum + (part.isAny ? part.end : part.value), 0);
  return values.length > most && all > most ? [...values, last] : values;
}

/**
 * The lowest values, at most `size`: below each limit, as many as `budget` loose rollouts, of any tasks, can push
 * there. The cheapest tasks give the most values. From one limit to the next, a task costs one rollout less. The total
 * cost is updated rather than summed again, because there may be thousands of limits and costs.
 */
export function lowestOfEvery(tasks: readonly FallingValues[], budget: number, size: number): number[] {
  const steps = tasks.flatMap(({ first, values }) =>
    values.map((value, at) => ({ value, cost: first + at, isFirst: at === values.length - 1 })),
  );
  steps.sort((one, next) => one.value - next.value || next.cost - one.cost);
  const highest = maxOf(
    steps.map(({ cost }) => cost),
    0,
  );
  /** By number of loose rollouts: how many tasks need that many to reach the limit. */
  const costs = new Int32Array(highest + 2);
  // All tasks that need at most `each` are affordable: their number, and their total cost.
  let [each, count, spent] = [0, 0, 0];
  const change = (cost: number, by: 1 | -1): void => {
    costs[cost] = (costs[cost] ?? 0) + by;
    if (cost > each) return;
    count += by;
    spent += by * cost;
  };
  const lowest: number[] = [];
  for (const [index, { value, cost, isFirst }] of steps.entries()) {
    if (!isFirst) change(cost + 1, -1);
    change(cost, 1);
    for (; spent > budget; each--) {
      count -= costs[each] ?? 0;
      spent -= each * (costs[each] ?? 0);
    }
    for (; each < highest && spent + (each + 1) * (costs[each + 1] ?? 0) <= budget; each++) {
      count += costs[each + 1] ?? 0;
      spent += (each + 1) * (costs[each + 1] ?? 0);
    }
    if (steps[index + 1]?.value === value) continue;
    const more = each < highest ? Math.floor((budget - spent) / (each + 1)) : 0;
    while (lowest.length < Math.min(count + more, size)) lowest.push(value);
    if (lowest.length === size) break;
  }
  return lowest;
}

/** The lowest and the highest mean of these values. */
export const meansOf = ({ low, mirrored }: FilledValues): Bounds => [
  lowestMean(low.certain, low.optional),
  -lowestMean(mirrored.certain, mirrored.optional),
];

/** The bounds of a difference, second minus first, without the rewards' rounding errors. */
const differenceBounds = (first: Bounds, second: Bounds, rewards: readonly number[] = []): Bounds => [
  withoutRounding(second[0] - first[1], rewards),
  withoutRounding(second[1] - first[0], rewards),
];
