/**
 * Draws runs of a known mean and counts how often the intervals of `src/present/statistics` miss it, for who looks once
 * and for who looks after every task.
 */
import { logWealth, stakes } from '../../src/present/statistics/bounded-mean.ts';
import { evidenceFor, intervalDefaults, manyTasks, shareOf } from '../../src/present/statistics/interval.ts';
import { studentLimits } from '../../src/present/statistics/student.ts';
import { tallyOf } from '../../src/present/statistics/tally.ts';
import { filledLevels, type Range, type RunTasks } from '../../src/present/statistics/tasks.ts';
import type { Random } from '../torture/random.ts';
import type { DrawnTask, Shape } from './statistics-shapes.ts';

const risk = (1 - intervalDefaults.confidence) / 2;

/** Where the mean of a shape may be. */
const rangeOf = (isPair: boolean): Range => (isPair ? [-1, 1] : [0, 1]);

function runsOf(drawn: readonly DrawnTask[], final = true): readonly [RunTasks, RunTasks?] {
  const run = (rewardsOf: (task: DrawnTask) => readonly number[]): RunTasks => ({
    tasks: drawn.map(task => ({ rewards: rewardsOf(task), unlisted: 0 })),
    final,
  });
  const fresh = run(({ rewards }) => rewards);
  return drawn[0]?.base === undefined ? [fresh] : [run(({ base = [] }) => base), fresh];
}

/** What the module promises: of intervals, how many may miss the mean, and how many may be above it. */
export const promises = { missed: 0.06, tooHigh: 0.05 } as const;

/**
 * Whether a promise is broken: more misses than all but one in a thousand simulations would show if it were just kept.
 * Fewer say nothing: they may be luck.
 */
export function isBroken(misses: number, draws: number, promise: number): boolean {
  return misses > draws * promise + 3.09 * Math.sqrt(draws * promise * (1 - promise));
}

export interface Once {
  readonly draws: number;
  /** The mean is not in the interval. */
  readonly missed: number;
  /** The interval is above the mean: a verdict of "better" than that would be false. */
  readonly tooHigh: number;
  /** The same of the t interval. */
  readonly naiveMissed: number;
  /** How many times the tasks the interval needs to be as narrow as the t interval. */
  readonly cost: number;
}

/** How many tasks a shape needs to have an interval. */
export const fewestTasks = ({ unbounded }: Shape): number => (unbounded ? manyTasks : 1);

/** Looks once, at `draws` pairs of runs of `tasks` tasks; the widths are those of the first `measured`. */
export function lookOnce(shape: Shape, tasks: number, draws: number, random: Random, measured: number): Once {
  let [missed, tooHigh, naiveMissed, width, naiveWidth] = [0, 0, 0, 0, 0];
  for (let draw = 0; draw < draws; draw++) {
    const runs = runsOf(Array.from({ length: tasks }, () => shape.draw(random)));
    const { shows, interval } = evidenceFor(runs, intervalDefaults);
    const isTooHigh = shows('above', shape.mean, 1);
    if (isTooHigh) tooHigh += 1;
    if (isTooHigh || shows('below', shape.mean, 1)) missed += 1;
    const [values] = filledLevels(runs, 'ignore', intervalDefaults.range);
    const [low, high] = (values && studentLimits(values.low, risk)) ?? [Number.NaN, Number.NaN];
    // Without a width, and with one task, the t interval says nothing true.
    if (!(low <= shape.mean + 1e-12 && high >= shape.mean - 1e-12)) naiveMissed += 1;
    if (draw >= measured || Number.isNaN(low)) continue;
    const limits = interval();
    width += limits === undefined ? 0 : limits.high - limits.low;
    naiveWidth += high - low;
  }
  return { draws, missed, tooHigh, naiveMissed, cost: (width / naiveWidth) ** 2 };
}

export interface Always {
  readonly draws: number;
  /** The mean was outside of the interval at one look at least. */
  readonly missed: number;
  readonly tooHigh: number;
  /** How many times the tasks the interval needs at the last look to be as narrow as the t interval there. */
  readonly cost: number;
}

/** The wealth for each stake against one mean, value by value: `logWealth` computes the same at once. */
class Gamblers {
  readonly #wealth = new Float64Array(stakes.length).fill(1);
  readonly #floor: number;
  readonly #point: number;
  /** The highest mean wealth so far, and the one now. */
  most = 0;
  mean = 1;

  constructor(floor: number, point: number) {
    this.#floor = floor;
    this.#point = point;
  }

  add(value: number): void {
    const gain = (value - this.#floor) / (this.#point - this.#floor) - 1;
    let sum = 0;
    for (let index = 0; index < stakes.length; index++) {
      const wealth = (this.#wealth[index] ?? 0) * (1 + (stakes[index] ?? 0) * gain);
      this.#wealth[index] = wealth;
      sum += wealth;
    }
    this.mean = sum / stakes.length;
    this.most = Math.max(this.most, this.mean);
  }
}

/**
 * Looks after every task, up to `tasks` of them. Each level of rollouts is a game of its own.
 *
 * @throws Error if the games differ from `logWealth`
 */
export function lookAlways(shape: Shape, tasks: number, draws: number, random: Random, measured: number): Always {
  let [missed, tooHigh, width, naiveWidth] = [0, 0, 0, 0];
  for (let draw = 0; draw < draws; draw++) {
    const drawn = Array.from({ length: tasks }, () => shape.draw(random));
    const [low, high] = rangeOf(drawn[0]?.base !== undefined);
    const count = Math.max(
      ...drawn.map(({ rewards, base }) => Math.min(rewards.length, base?.length ?? rewards.length)),
    );
    const levels = Math.floor(Math.log2(count)) + 1;
    let [above, below] = [false, false];
    for (let level = 0; level < levels; level++) {
      const limit = 1 / (risk * shareOf(level, levels));
      const firstOnes = (rewards: readonly number[]): number =>
        rewards.slice(0, 2 ** level).reduce((sum, each) => sum + each, 0) / 2 ** level;
      const values = drawn
        .filter(({ rewards }) => rewards.length >= 2 ** level)
        .map(({ rewards, base }) => firstOnes(rewards) - (base ? firstOnes(base) : 0));
      const [rising, falling] = [new Gamblers(low, shape.mean), new Gamblers(-high, -shape.mean)];
      for (const value of values) {
        rising.add(value);
        falling.add(-value);
      }
      above ||= rising.most >= limit;
      below ||= falling.most >= limit;
      if (draw === 0) {
        const log = logWealth(tallyOf(values), low, shape.mean);
        if (Math.abs(Math.log(rising.mean) - log) > 1e-6 && rising.mean > 1e-250)
          throw new Error(`${shape.name}: ${Math.log(rising.mean)} is not ${log}`);
      }
    }
    if (above) tooHigh += 1;
    if (above || below) missed += 1;
    if (draw >= measured) continue;
    const limits = evidenceFor(runsOf(drawn, false), intervalDefaults).interval();
    const [values] = filledLevels(runsOf(drawn), 'ignore', intervalDefaults.range);
    const naive = values && studentLimits(values.low, risk);
    if (!limits || !naive) continue;
    width += limits.high - limits.low;
    naiveWidth += naive[1] - naive[0];
  }
  return { draws, missed, tooHigh, cost: (width / naiveWidth) ** 2 };
}
