/**
 * Draws runs of a known mean and counts how often the intervals of `src/present/statistics` miss it, for who looks once
 * and for who looks after every task.
 */
import { type Evidence, evidenceFor, intervalDefaults } from '../../src/present/statistics/interval.ts';
import { filled, type RunTasks, type TaskRewards } from '../../src/present/statistics/tasks.ts';
import type { Random } from '../rig/random.ts';
import type { DrawnTask, Shape } from './statistics-shapes.ts';
import { studentLimits } from './student.ts';

const risk = (1 - intervalDefaults.confidence) / 2;

function runsOf(drawn: readonly DrawnTask[]): readonly [RunTasks, RunTasks?] {
  const run = (tasks: readonly TaskRewards[]): RunTasks => ({ tasks, end: 'complete' });
  const fresh = run(drawn.map(({ rewards }) => rewards));
  return drawn[0]?.base === undefined ? [fresh] : [run(drawn.map(({ base = [] }) => base)), fresh];
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

/** Looks once, at `draws` pairs of runs of `tasks` tasks; the widths are those of the first `measured`. */
export function lookOnce(shape: Shape, tasks: number, draws: number, random: Random, measured: number): Once {
  let [missed, tooHigh, naiveMissed, width, naiveWidth] = [0, 0, 0, 0, 0];
  for (let draw = 0; draw < draws; draw++) {
    const runs = runsOf(Array.from({ length: tasks }, () => shape.draw(random)));
    const evidence = evidenceFor(runs, intervalDefaults);
    const side = missesOf(evidence, shape);
    if (side === 'above') tooHigh += 1;
    if (side !== undefined) missed += 1;
    const values = filled(runs, { ...intervalDefaults, missing: 'ignore' });
    const [low, high] = studentLimits(values.low, risk) ?? [Number.NaN, Number.NaN];
    // Without a width, and with one task, the t interval says nothing true.
    if (!(low <= shape.mean + 1e-12 && high >= shape.mean - 1e-12)) naiveMissed += 1;
    if (draw >= measured || Number.isNaN(low)) continue;
    const limits = evidence.interval();
    width += limits === undefined ? 0 : limits.high - limits.low;
    naiveWidth += high - low;
  }
  return { draws, missed, tooHigh, naiveMissed, cost: (width / naiveWidth) ** 2 };
}

/** On which side of the true mean the interval is that misses it. */
const missesOf = ({ shows }: Evidence, { mean }: Shape): 'above' | 'below' | undefined =>
  (['above', 'below'] as const).find(direction => shows(direction, mean, 1));

/** In which order rollouts end: at random, or so that one side of the truth is seen first. */
const orders = ['random', 'highest first', 'lowest first', 'task by task'] as const;
type Order = (typeof orders)[number];

interface Rollout {
  readonly task: number;
  readonly reward: number;
}

const positions: Readonly<Record<Order, (rollout: Rollout, random: Random) => number>> = {
  random: (_, random) => random.next(),
  'highest first': ({ reward }) => -reward,
  'lowest first': ({ reward }) => reward,
  'task by task': ({ task }) => task,
};

function ordered(drawn: readonly DrawnTask[], order: Order, random: Random): Rollout[] {
  return drawn
    .flatMap(({ rewards }, task) => rewards.map(reward => ({ task, reward })))
    .map(rollout => ({ rollout, position: positions[order](rollout, random) }))
    .sort((one, other) => one.position - other.position)
    .map(({ rollout }) => rollout);
}

/** The run after some of its rollouts; the tasks of a run that is compared are known by the other one. */
function runAfter(rollouts: readonly Rollout[], total: number, known: number): RunTasks {
  const tasks = new Map<number, number[]>(Array.from({ length: known }, (_, task) => [task, []]));
  for (const { task, reward } of rollouts) tasks.set(task, [...(tasks.get(task) ?? []), reward]);
  return { tasks: [...tasks.values()], total, end: 'running' };
}

export interface Always {
  readonly draws: number;
  /** The mean was outside of the interval at one look at least. */
  readonly missed: number;
  readonly tooHigh: number;
}

/**
 * Looks up to `looks` times while a run of so many tasks goes on, and at its end: at every rollout if there are no more.
 * The base of a pair has ended before.
 */
export function lookAlways(shape: Shape, tasks: number, draws: number, looks: number, random: Random): Always {
  let [missed, tooHigh] = [0, 0];
  for (let draw = 0; draw < draws; draw++) {
    const drawn = Array.from({ length: tasks }, () => shape.draw(random));
    const rollouts = ordered(drawn, orders[draw % orders.length] ?? 'random', random);
    const [base, fresh] = runsOf(drawn);
    const sides = new Set<string | undefined>();
    const step = Math.max(1, rollouts.length / looks);
    for (let at = step; at < rollouts.length + step; at += step) {
      const seen = rollouts.slice(0, Math.min(rollouts.length, Math.round(at)));
      const run = runAfter(seen, rollouts.length, fresh === undefined ? 0 : tasks);
      sides.add(missesOf(evidenceFor(fresh === undefined ? [run] : [base, run], intervalDefaults), shape));
    }
    if (sides.has('above')) tooHigh += 1;
    if (sides.has('above') || sides.has('below')) missed += 1;
  }
  return { draws, missed, tooHigh };
}
