/** Distributions of rewards with their true means: typical evaluations, and the hardest cases for an interval. */
import type { Random } from '../rig/random.ts';

/** The rewards of a task's rollouts, in one run or in two. */
export interface DrawnTask {
  readonly base?: readonly number[];
  readonly rewards: readonly number[];
  /** The rewards that the service lists, if it leaves out failed rollouts and does not say how many there are. */
  readonly listed?: readonly number[];
}

export interface Shape {
  readonly name: string;
  /** The mean reward of a task, or the mean difference to the base. */
  readonly mean: number;
  readonly draw: (random: Random) => DrawnTask;
  /** Tasks have different numbers of rollouts. */
  readonly uneven?: boolean;
  /** Rollouts of each task, if the options of the run say so. */
  readonly samplesPerTask?: number;
}

const one = (reward: number): DrawnTask => ({ rewards: [reward] });
const pair = (base: number, reward: number): DrawnTask => ({ base: [base], rewards: [reward] });

const binary = (chance: number): Shape => ({
  name: `0 or 1, ${chance} are 1`,
  mean: chance,
  draw: random => one(random.chance(chance) ? 1 : 0),
});

/** A standard normal value (Box and Muller). */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** A gamma value of a shape that is a multiple of 1/2, as the beta distributions below need. */
function gamma(random: Random, shape: number): number {
  let sum = 0;
  for (let left = shape; left >= 1; left--) sum -= Math.log(1 - random.next());
  return shape % 1 === 0 ? sum : sum + normal(random) ** 2 / 2;
}

function beta(random: Random, left: number, right: number): number {
  const [one, other] = [gamma(random, left), gamma(random, right)];
  return one + other === 0 ? 0.5 : one / (one + other);
}

const betaShape = (left: number, right: number, words: string): Shape => ({
  name: `beta ${left}, ${right}: ${words}`,
  mean: left / (left + right),
  draw: random => one(beta(random, left, right)),
});

/** Values with their probabilities. */
const several = (name: string, ...choices: readonly (readonly [chance: number, value: number])[]): Shape => ({
  name,
  mean: choices.reduce((sum, [chance, value]) => sum + chance * value, 0),
  draw: random => one(random.weighted(choices)),
});

/** Pairs of runs: the rewards in base and new, with their probabilities. */
const pairs = (
  name: string,
  ...choices: readonly (readonly [chance: number, base: number, reward: number])[]
): Shape => ({
  name: `pairs: ${name}`,
  mean: choices.reduce((sum, [chance, base, reward]) => sum + chance * (reward - base), 0),
  draw: random => {
    const [base, reward] = random.weighted(choices.map(([chance, ...rewards]) => [chance, rewards] as const));
    return pair(base, reward);
  },
});

/** Several 0/1 rollouts of a task, whose chance of 1 varies between tasks; or one of these numbers of rollouts. */
const clustered = (
  name: string,
  mean: number,
  rollouts: number | readonly number[],
  chanceOf: (random: Random) => number,
): Shape => ({
  name: `clusters: ${name}`,
  mean,
  uneven: typeof rollouts !== 'number',
  draw: random => {
    const chance = chanceOf(random);
    const count = typeof rollouts === 'number' ? rollouts : random.pick(rollouts);
    return { rewards: many(count, () => (random.chance(chance) ? 1 : 0)) };
  },
});

const many = (count: number, draw: () => number): number[] => Array.from({ length: count }, draw);

export const shapes: readonly Shape[] = [
  ...[0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999].map(binary),
  several('all equal', [1, 0.4]),
  { name: 'uniform', mean: 0.5, draw: random => one(random.next()) },
  { name: 'uniform from 0.4 to 0.6', mean: 0.5, draw: random => one(0.4 + random.next() / 5) },
  betaShape(0.5, 0.5, 'U-shaped'),
  betaShape(1, 12, 'close to 0'),
  betaShape(12, 1, 'close to 1'),
  betaShape(20, 20, 'peaked'),
  several('0, half or 1', [0.3, 0], [0.4, 0.5], [0.3, 1]),
  several('0.9, and rarely 0', [0.98, 0.9], [0.02, 0]),
  several('0.1, and rarely 1', [0.99, 0.1], [0.01, 1]),
  {
    name: 'close to one of two points',
    mean: 0.41,
    draw: random => one((random.chance(0.7) ? 0.2 : 0.9) + (random.next() - 0.5) / 50),
  },
  {
    name: 'share of 8 tests',
    mean: 0.75,
    draw: random => one(many(8, () => (random.chance(0.75) ? 1 : 0)).reduce((sum, each) => sum + each, 0) / 8),
  },
  { name: 'heavy skew', mean: 1 / 11, draw: random => one(random.next() ** 10) },
  pairs('nothing changes', [1, 0.5, 0.5]),
  pairs('10% gain, none loses', [0.1, 0, 1], [0.9, 1, 1]),
  pairs('2% gain, none loses', [0.02, 0, 1], [0.98, 1, 1]),
  pairs('as many gain as lose', [0.2, 0, 1], [0.2, 1, 0], [0.6, 1, 1]),
  pairs('few gain or lose', [0.03, 0, 1], [0.03, 1, 0], [0.94, 0, 0]),
  pairs('15% gain, 5% lose', [0.15, 0, 1], [0.05, 1, 0], [0.8, 0, 0]),
  pairs('small gains hide a rare loss', [0.9, 0.9, 1], [0.1, 0.9, 0]),
  pairs('tiny gains hide a very rare loss', [0.99, 0.99, 1], [0.01, 0.99, 0]),
  pairs('small losses hide a rare gain', [0.95, 0.05, 0], [0.05, 0.05, 1]),
  {
    name: 'pairs: noise around no change',
    mean: 0,
    draw: random => {
      const level = 0.2 + 0.6 * random.next();
      return pair(level + (random.next() - 0.5) / 5, level + (random.next() - 0.5) / 5);
    },
  },
  {
    name: 'pairs: independent uniform runs',
    mean: 0,
    draw: random => pair(random.next(), random.next()),
  },
  {
    name: 'pairs: 4 rollouts a task each',
    mean: 0,
    draw: random => {
      const chance = beta(random, 1, 1);
      const run = () => many(4, () => (random.chance(chance) ? 1 : 0));
      return { base: run(), rewards: run() };
    },
  },
  clustered('8 rollouts, tasks all or nothing', 0.3, 8, random => (random.chance(0.3) ? 1 : 0)),
  clustered('4 rollouts, tasks differ', 0.5, 4, random => beta(random, 0.5, 0.5)),
  clustered('4 rollouts, tasks alike', 0.6, 4, () => 0.6),
  clustered('1 to 16 rollouts, unequal', 0.5, [1, 1, 2, 5, 16], random => beta(random, 1, 1)),
  {
    name: 'pairs: half of 4 rollouts fail, and are left out',
    mean: 0,
    draw: random => {
      const listed = many(4, () => 1).filter(() => random.chance(0.5));
      const base = many(4, () => (random.chance(0.5) ? 1 : 0));
      return { base, rewards: [...listed, ...many(4 - listed.length, () => 0)], listed };
    },
  },
  {
    name: 'left out: 3 of 4 rollouts often fail',
    mean: 0.25 + 0.75 * 0.4,
    draw: random => {
      const listed = [1, ...many(3, () => 1).filter(() => random.chance(0.4))];
      return { rewards: [...listed, ...many(4 - listed.length, () => 0)], listed };
    },
    samplesPerTask: 4,
  },
];
