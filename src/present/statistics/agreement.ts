/** Measures how far two graders agree on which rollouts pass. Pure. */

/** A rollout that both graders have graded. */
export interface Judged {
  readonly task: string;
  readonly first: boolean;
  readonly second: boolean;
}

export interface Agreement {
  readonly count: number;
  readonly agreed: number;
  /** Passed the first grader and failed the second. */
  readonly lost: number;
  /** Failed the first grader and passed the second. */
  readonly gained: number;
  /** Undefined if the agreement expected by chance is 1. */
  readonly kappa: number | undefined;
  readonly interval: { readonly low: number; readonly high: number } | undefined;
}

/** Counts of rollouts that passed both graders, only the first, only the second, neither. */
type Cells = readonly [both: number, first: number, second: number, neither: number];

function kappaOf([both, first, second, neither]: Cells): number | undefined {
  const count = both + first + second + neither;
  if (count === 0) return undefined;
  const observed = (both + neither) / count;
  const chance = ((both + first) * (both + second) + (neither + first) * (neither + second)) / count ** 2;
  return chance === 1 ? undefined : (observed - chance) / (1 - chance);
}

const cellsOf = (judged: readonly Judged[]): Cells => {
  const count = (first: boolean, second: boolean): number =>
    judged.filter(each => each.first === first && each.second === second).length;
  return [count(true, true), count(true, false), count(false, true), count(false, false)];
};

/** With fewer tasks, the jackknife is unreliable. */
const fewestTasks = 10;
/** The quantile of the normal distribution for 95%. */
const normal95 = 1.959964;

export function agreementOf(judged: readonly Judged[]): Agreement {
  const cells = cellsOf(judged);
  const [both, lost, gained, neither] = cells;
  const kappa = kappaOf(cells);
  const agreed = both + neither;
  return { count: judged.length, agreed, lost, gained, kappa, interval: intervalOf(judged, cells, kappa) };
}

function intervalOf(judged: readonly Judged[], cells: Cells, kappa: number | undefined): Agreement['interval'] {
  const [, lost, gained] = cells;
  const tasks = [...Map.groupBy(judged, ({ task }) => task).values()].map(cellsOf);
  if (kappa === undefined || tasks.length < fewestTasks || lost + gained === 0) return undefined;
  const without = tasks.map(([both, first, second, neither]) =>
    kappaOf([cells[0] - both, cells[1] - first, cells[2] - second, cells[3] - neither]),
  );
  const values = without.filter(value => value !== undefined);
  if (values.length < without.length) return undefined;
  const middle = values.reduce((sum, each) => sum + each, 0) / values.length;
  const squares = values.reduce((sum, each) => sum + (each - middle) ** 2, 0);
  const error = Math.sqrt((squares * (values.length - 1)) / values.length);
  if (error === 0) return undefined;
  return { low: Math.max(-1, kappa - normal95 * error), high: Math.min(1, kappa + normal95 * error) };
}
