/**
 * Draws runs with a known mean and counts how often the intervals of `src/present/statistics` miss it: at a single
 * look, and at any of several looks while the run goes on.
 */

import { filled } from '../../src/present/statistics/filled.ts';
import { type Evidence, evidenceFor, intervalDefaults } from '../../src/present/statistics/interval.ts';
import type { RunTasks, TaskRewards } from '../../src/present/statistics/tasks.ts';
import type { Random } from '../rig/random.ts';
import type { DrawnTask, Shape } from './statistics-shapes.ts';
import { studentLimits } from './student.ts';

const risk = (1 - intervalDefaults.confidence) / 2;

function runsOf(drawn: readonly DrawnTask[], { samplesPerTask }: Shape): readonly [RunTasks, RunTasks?] {
  const run = (tasks: readonly TaskRewards[]): RunTasks => ({ tasks, total: tasks.flat().length, end: 'complete' });
  const isLeftOut = drawn.some(({ listed }) => listed !== undefined);
  const fresh: RunTasks = {
    ...run(drawn.map(({ rewards, listed = rewards }) => listed)),
    ...(isLeftOut && { total: undefined, samplesPerTask }),
  };
  return drawn[0]?.base === undefined ? [fresh] : [run(drawn.map(({ base = [] }) => base)), fresh];
}

/** Promised limits: the share of intervals that miss the mean, and the share that are above it. */
export const promises = { missed: 0.06, tooHigh: 0.05 } as const;

/**
 * Whether a promise is broken: if it were just kept, only one in a thousand simulations would show so many misses.
 * Fewer misses may be chance.
 */
export function isBroken(misses: number, draws: number, promise: number): boolean {
  return misses > draws * promise + 3.09 * Math.sqrt(draws * promise * (1 - promise));
}

export interface Looked {
  readonly draws: number;
  /** The interval did not contain the mean; of several looks, in at least one. */
  readonly missed: number;
  /** The interval was above the mean, so that a verdict of "better" would be false. */
  readonly tooHigh: number;
}

export interface Once extends Looked {
  /** How often the t interval misses the mean. */
  readonly naiveMissed: number;
  /** The factor of tasks that the interval needs to be as narrow as the t interval. */
  readonly cost: number;
}

/**
 * Looks once at each of `draws` runs, or pairs of runs, of `tasks` tasks. Widths are measured on the first
 * `measured`; if it is 0, nothing is compared with the t interval.
 */
export function lookOnce(shape: Shape, tasks: number, draws: number, random: Random, measured: number): Once {
  let [missed, tooHigh, naiveMissed, width, naiveWidth] = [0, 0, 0, 0, 0];
  for (let draw = 0; draw < draws; draw++) {
    const runs = runsOf(
      Array.from({ length: tasks }, () => shape.draw(random)),
      shape,
    );
    const evidence = evidenceFor(runs, intervalDefaults);
    const side = missesOf(evidence, shape);
    if (side === 'above') tooHigh += 1;
    if (side !== undefined) missed += 1;
    if (measured === 0) continue;
    const values = filled(runs, { ...intervalDefaults, missing: 'ignore' });
    const [low, high] = studentLimits(values.low.certain, risk) ?? [Number.NaN, Number.NaN];
    // The t interval counts as a miss without a width and with a single task.
    if (!(low <= shape.mean + 1e-12 && high >= shape.mean - 1e-12)) naiveMissed += 1;
    if (draw >= measured || Number.isNaN(low)) continue;
    const limits = evidence.interval();
    width += limits === undefined ? 0 : limits.high - limits.low;
    naiveWidth += high - low;
  }
  return { draws, missed, tooHigh, naiveMissed, cost: (width / naiveWidth) ** 2 };
}

/** The side of the true mean on which the interval is, if it misses the mean. */
const missesOf = ({ shows }: Evidence, { mean }: Shape): 'above' | 'below' | undefined =>
  (['above', 'below'] as const).find(direction => shows(direction, mean, 1));

/** The order in which rollouts end. */
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

/**
 * The run after some of its rollouts. In a comparison, the other run names all tasks.
 *
 * @param samplesPerTask if all tasks have as many
 */
function runAfter(
  rollouts: readonly Rollout[],
  { total, known, samplesPerTask }: { total: number; known: number; samplesPerTask: number | undefined },
): RunTasks {
  const tasks = new Map<number, number[]>(Array.from({ length: known }, (_, task) => [task, []]));
  for (const { task, reward } of rollouts) tasks.set(task, [...(tasks.get(task) ?? []), reward]);
  return { tasks: [...tasks.values()], total, samplesPerTask, end: 'running' };
}

/**
 * Looks up to `looks` times during a run of `tasks` tasks, at most after every rollout, and at its end. The base of a
 * pair has already ended.
 */
export function lookAlways(shape: Shape, tasks: number, draws: number, looks: number, random: Random): Looked {
  let [missed, tooHigh] = [0, 0];
  for (let draw = 0; draw < draws; draw++) {
    const drawn = Array.from({ length: tasks }, () => shape.draw(random));
    const rollouts = ordered(drawn, orders[draw % orders.length] ?? 'random', random);
    const [base, fresh] = runsOf(drawn, shape);
    const samplesPerTask = shape.uneven ? undefined : rollouts.length / tasks;
    const sides = new Set<string | undefined>();
    const step = Math.max(1, rollouts.length / looks);
    for (let at = step; at < rollouts.length + step; at += step) {
      const seen = rollouts.slice(0, Math.min(rollouts.length, Math.round(at)));
      const run = runAfter(seen, { total: rollouts.length, known: fresh === undefined ? 0 : tasks, samplesPerTask });
      sides.add(missesOf(evidenceFor(fresh === undefined ? [run] : [base, run], intervalDefaults), shape));
    }
    if (sides.has('above')) tooHigh += 1;
    if (sides.has('above') || sides.has('below')) missed += 1;
  }
  return { draws, missed, tooHigh };
}
