/**
 * Measures how well two graders agree on which rollouts pass. Pure. The interval for kappa contains every value that at
 * least one of two tests accepts: the chi-squared distance of the counts from the closest table with that kappa, and
 * their likelihood ratio (Agresti, Categorical Data Analysis, 2013, inverts both). Each test alone gives too narrow an
 * interval for some tables, and so does a standard error: the jackknife's interval contained kappa in 89% of samples of
 * 25 tasks.
 */
import { minOf } from '../../base/many.ts';
import { crossing } from './root.ts';

/** A rollout that both graders have graded. */
export interface GradedPair {
  readonly task: string;
  readonly first: boolean;
  readonly second: boolean;
}

interface Agreement {
  readonly count: number;
  readonly agreed: number;
  /** Passed by the first grader and failed by the second. */
  readonly lost: number;
  /** Failed by the first grader and passed by the second. */
  readonly gained: number;
  /** Undefined if the agreement expected by chance is 1. */
  readonly kappa: number | undefined;
  readonly interval: { readonly low: number; readonly high: number } | undefined;
}

/** The numbers of rollouts that both graders passed, only the first, only the second, or neither. */
type Cells = readonly [both: number, first: number, second: number, neither: number];

function kappaOf([both, first, second, neither]: Cells): number | undefined {
  const count = both + first + second + neither;
  if (count === 0) return undefined;
  const observed = (both + neither) / count;
  const chance = ((both + first) * (both + second) + (neither + first) * (neither + second)) / count ** 2;
  return chance === 1 ? undefined : (observed - chance) / (1 - chance);
}

const cellsOf = (judged: readonly GradedPair[]): Cells => {
  const count = (first: boolean, second: boolean): number =>
    judged.filter(each => each.first === first && each.second === second).length;
  return [count(true, true), count(true, false), count(false, true), count(false, false)];
};

export function agreementOf(judged: readonly GradedPair[]): Agreement {
  const cells = cellsOf(judged);
  const [both, lost, gained, neither] = cells;
  const kappa = kappaOf(cells);
  const agreed = both + neither;
  return { count: judged.length, agreed, lost, gained, kappa, interval: intervalOf(judged, cells, kappa) };
}

/** With fewer tasks, almost any kappa is plausible. */
const minTasks = 5;
/** The 95% quantile of chi-squared with one degree of freedom. */
const chiSquared95 = 3.841459;
const tolerance = 5e-4;

function intervalOf(judged: readonly GradedPair[], cells: Cells, kappa: number | undefined): Agreement['interval'] {
  const sizes = [...Map.groupBy(judged, ({ task }) => task).values()].map(({ length }) => length);
  // A task's rollouts may be alike, so they count as one. Tasks of unequal size count as fewer (Kish 1965).
  const size = judged.length ** 2 / sizes.reduce((sum, each) => sum + each ** 2, 0);
  if (kappa === undefined || size < minTasks) return undefined;
  const shares = cells.map(each => each / judged.length);
  // Within 1% of the squared quantile of Student's t with size - 1 degrees of freedom.
  const limit = (chiSquared95 * size) / (size - 2.5);
  const end = (sign: 1 | -1): number => {
    const excess = (at: number): number => distanceTo(sign * at, shares, size) - limit;
    return sign * (excess(1) < 0 ? 1 : crossing(excess, sign * kappa, 1, tolerance));
  };
  return { low: end(-1), high: end(1) };
}

/** How far the observed shares of `size` tasks are from the closest table with this kappa, by the more lenient test. */
function distanceTo(kappa: number, shares: readonly number[], size: number): number {
  const closest = (distance: (seen: number, expected: number) => number): number =>
    // A table is given by kappa, the mean of both graders' pass rates, and the difference between them.
    lowestOf(0, 1, rate => {
      const most = 2 * Math.min(rate, 1 - rate);
      return lowestOf(-most, most, difference => {
        const table = tableOf(kappa, rate, difference);
        const lacking = minOf(table);
        // No such table exists: make the distance decrease towards the nearest one that does.
        if (lacking < -1e-12) return 1e9 * (1 - lacking);
        return table.reduce((sum, share, cell) => sum + distance(shares[cell] ?? 0, Math.max(share, 1e-15)), 0);
      });
    });
  const pearson = closest((seen, expected) => (seen - expected) ** 2 / expected);
  const likelihood = closest((seen, expected) => (seen === 0 ? 0 : 2 * seen * Math.log(seen / expected)));
  return size * Math.min(pearson, likelihood);
}

function tableOf(kappa: number, rate: number, difference: number): Cells {
  const split = (1 - kappa) * (rate * (1 - rate) + difference ** 2 / 4);
  const both = rate - split;
  return [both, split + difference / 2, split - difference / 2, 1 - rate - split];
}

const goldenRatio = (Math.sqrt(5) - 1) / 2;
/** A few rounds are enough, because the functions are flat near their minimum. */
const goldenRounds = 16;

/** The minimum of a function that falls and then rises, by golden-section search. */
function lowestOf(low: number, high: number, value: (at: number) => number): number {
  let [from, width] = [low, high - low];
  let [left, right] = [value(high - goldenRatio * width), value(low + goldenRatio * width)];
  for (let round = 0; round < goldenRounds; round++) {
    width *= goldenRatio;
    if (left < right) [left, right] = [value(from + (1 - goldenRatio) * width), left];
    else {
      from += (width / goldenRatio) * (1 - goldenRatio);
      [left, right] = [right, value(from + goldenRatio * width)];
    }
  }
  return Math.min(left, right);
}
