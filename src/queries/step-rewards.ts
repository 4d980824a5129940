/** The rewards of rollouts in training steps. Each step takes a request, so only some steps are read. */

import { lastAt } from '../base/binary-search.ts';
import { inParallel } from '../base/in-parallel.ts';
import { perObject } from '../base/memo.ts';
import { roundStep } from '../base/scale.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import type { TrainerCurve } from '../contract/trainer-curve.ts';
import { isGone } from '../service/errors.ts';
import type { LiveQuery } from './live-query.ts';
import type { QueryContext } from './query-context.ts';
import { eachOnce } from './run-rewards.ts';
import { trainingKeys } from './training.ts';

/** Maximum number of a run's steps to read. */
const maxStepsRead = 60;
/** The newest steps are always read. */
const newestSteps = 12;
/** Steps read per poll. */
const stepsAtOnce = 8;

/** A step's rollouts. */
export interface ReadStep {
  readonly step: number;
  readonly rewards: readonly TrajectoryReward[];
}

/** A curve's distinct steps, in order. */
export const stepsIn = perObject(({ steps }: Pick<TrainerCurve, 'steps'>): Float64Array => {
  // Loop by index: `every` takes ten times as long.
  let repeated = false;
  for (let index = 1; index < steps.length && !repeated; index += 1) repeated = steps[index - 1] === steps[index];
  return repeated ? steps.filter((step, index) => index === 0 || steps[index - 1] !== step) : steps;
});

/**
 * The steps to read, newest first: all of them if there are few, otherwise the newest and a sample of the others at
 * round intervals, so that the sample changes little while the run grows.
 */
export function stepsToRead(steps: Float64Array): readonly number[] {
  const newest = steps.subarray(-newestSteps);
  const older = steps.subarray(0, steps.length - newest.length);
  const room = maxStepsRead - newest.length;
  if (older.length <= room) return [...steps].reverse();
  const [first = 0, last = 0] = [older[0], older.at(-1)];
  let every = roundStep(Math.max(1, (last - first) / room));
  // Binary search for the first step at or after each multiple: there may be a million steps.
  const chosenBy = (distance: number): readonly number[] => {
    const chosen: number[] = [];
    const multipleAt = (index: number): number => Math.floor((older[index] as number) / distance);
    let at = 0;
    while (at < older.length) {
      chosen.push(older[at] as number);
      at = lastAt(older.length, multipleAt, multipleAt(at)) + 1;
    }
    return chosen;
  };
  while (chosenBy(every).length > room) every = roundStep(every * 1.5);
  return [...chosenBy(every), ...newest].reverse();
}

/** Reads a step's rollouts; none if the service does not have the step. @throws ServiceError */
async function readStep(
  training_run_id: string,
  step: number,
  { service, signal }: Pick<QueryContext, 'service' | 'signal'>,
): Promise<ReadStep> {
  try {
    const params = { training_run_id, step };
    const { trajectory_rewards } = await service.call('getStepTrajectoryRewards', { params }, { signal });
    return { step, rewards: eachOnce(trajectory_rewards) };
  } catch (error) {
    if (isGone(error)) return { step, rewards: [] };
    throw error;
  }
}

/**
 * Reads the rollouts of several steps, in order.
 *
 * @param onUnread called with the error for a step, which is then left out; by default, the error is thrown
 * @throws ServiceError
 */
export async function readSteps(
  runId: string,
  steps: readonly number[],
  context: QueryContext,
  onUnread: (error: unknown, step: number) => void = error => {
    throw error;
  },
): Promise<readonly ReadStep[]> {
  const read: ReadStep[] = [];
  await inParallel(steps, async step => {
    try {
      read.push(await readStep(runId, step, context));
    } catch (error) {
      onUnread(error, step);
    }
    context.progressed?.();
  });
  return read.sort((left, right) => left.step - right.step);
}

/**
 * The rollouts in the wanted steps of a run. Each poll reads a few more steps, each step once.
 *
 * @param known the result so far
 */
export function stepRewardsQuery(
  runId: string,
  wanted: readonly number[],
  known: () => readonly ReadStep[] | undefined,
): LiveQuery<readonly ReadStep[]> {
  const isWanted = new Set(wanted);
  const unread = (read: readonly ReadStep[] = []): readonly number[] => {
    const steps = new Set(read.map(({ step }) => step));
    return wanted.filter(step => !steps.has(step));
  };
  const kept = (read: readonly ReadStep[] = []): readonly ReadStep[] => read.filter(({ step }) => isWanted.has(step));
  return {
    key: trainingKeys.stepsRead(runId),
    share: (_, answer) => answer,
    // Steps may become unwanted: a run that restarts from a checkpoint repeats the steps after it.
    activity: read => (unread(read).length > 0 || kept(read).length < (read?.length ?? 0) ? 'running' : 'settled'),
    read: async context => {
      const before = kept(known());
      const read = await readSteps(runId, unread(before).slice(0, stepsAtOnce), context);
      return [...before, ...read].sort((left, right) => left.step - right.step);
    },
  };
}
