/** Queries for a training run's curves: the trainer's reward at each step, and the held-out rewards. */
import { isDeepStrictEqual } from 'node:util';
import type { EvalRun } from '../contract/evaluations.ts';
import { unreadableIn } from '../contract/lists.ts';
import { lastReward, type TrainerCurve } from '../contract/trainer-curve.ts';
import type { TrainerCurveReader } from '../contract/trainer-curve-reader.ts';
import type { HeldOutReward } from '../contract/training.ts';
import { decidingSplit, evenCurve, failedRounds, hasOutstanding, heldOutMeans, otherSplits } from './held-out.ts';
import { type LiveQuery, shareWhole } from './live-query.ts';
import type { QueryContext } from './query-context.ts';
import { readPart } from './remembered-fallback.ts';
import { trainingKeys, trainingRunQuery } from './training.ts';

/** Each curve's reader. It keeps the rows, because most of the next response repeats them. */
const readers = new WeakMap<TrainerCurve, TrainerCurveReader>();

/** Limits the traffic for long curves, which are always read in full, to 700 KB per second at 35 bytes per point. */
const maxPointsPerSecond = 20_000;

/**
 * @param steps the number of finished steps, if known. A curve that covers them is not read again until there are more
 */
export function trainerRewardsQuery(runId: string, ended: boolean, steps?: number | null): LiveQuery<TrainerCurve> {
  return {
    key: trainingKeys.trainerRewards(runId),
    share: shareWhole,
    observes: curve => ({
      ...{ kind: 'training', id: runId, mean: lastReward(curve) },
      curve: evenCurve(curve.steps, curve.rewards),
    }),
    activity: curve => {
      if (ended) return curve && curve.steps.length < (steps ?? 0) ? 'settling' : 'settled';
      if (!curve || steps == null || curve.steps.length < steps) return 'running';
      return curve.steps.length === steps ? 'settled' : 'open';
    },
    leastMs: curve => ((curve?.steps.length ?? 0) / maxPointsPerSecond) * 1_000,
    read: async context => {
      const params = { training_run_id: runId };
      const { TrainerCurveReader } = await import('../contract/trainer-curve-reader.ts');
      const previous = context.previous as TrainerCurve | undefined;
      let known = previous && readers.get(previous);
      // Use a reader only once: a cancelled read and its successor must not share it, and a lost response may leave
      // rows in it.
      if (previous) readers.delete(previous);
      let reader = new TrainerCurveReader();
      const begin = (): TrainerCurveReader => {
        reader = known ?? new TrainerCurveReader();
        known = undefined;
        return reader;
      };
      const options = { signal: context.signal, longList: { name: 'trainer_rewards', begin } };
      const answer = await readPart('getTrainerRewards', trainingRunQuery(runId), context, () =>
        context.service.call('getTrainerRewards', { params }, options),
      );
      // Some services wrap the list differently, so that it is not read as a stream.
      for (const row of answer.trainer_rewards) reader.add(row);
      const curve = shareWhole(previous, reader.curve(unreadableIn(answer.trainer_rewards)));
      readers.set(curve, reader);
      return curve;
    },
  };
}

/**
 * A run's held-out rewards on the tasks of the deciding split, see `decidingSplit`.
 *
 * @param isFinal whether an ended run's rewards are final, apart from incomplete rounds
 */
export function heldOutRewardsQuery(
  runId: string,
  ended: boolean,
  isFinal: () => boolean = () => true,
): LiveQuery<readonly HeldOutReward[]> {
  return {
    key: trainingKeys.heldOutRewards(runId),
    measures: { kind: 'training', id: runId },
    share: (previous, answer) =>
      isDeepStrictEqual(otherSplits(previous ?? []), otherSplits(answer)) ? shareWhole(previous, answer) : answer,
    observes: rewards => ({
      kind: 'training',
      id: runId,
      measured: heldOutMeans(rewards) ?? null,
      failedRounds: failedRounds(rewards),
    }),
    // New rewards arrive only every few steps. The last rounds may finish after the run has ended.
    activity: rewards => {
      if (!ended) return 'building';
      if (rewards && hasOutstanding(rewards)) return 'open';
      return rewards && !isFinal() ? 'settling' : 'settled';
    },
    read: async context => {
      const params = { training_run_id: runId };
      const answer = await readPart('getHeldOutRewards', trainingRunQuery(runId), context, () =>
        context.service.call('getHeldOutRewards', { params }, { signal: context.signal }),
      );
      return decidingSplit(answer.held_out_rewards);
    },
  };
}

/** The held-out split of the training run that produced the evaluated checkpoint, if it can be read. */
export async function readHeldOutSplit(
  { parent_checkpoint_id, training_run_id, split }: EvalRun,
  context: QueryContext,
): Promise<string | undefined> {
  if (!parent_checkpoint_id || !training_run_id || split == null) return undefined;
  const read = heldOutRewardsQuery(training_run_id, true).read(context);
  const rewards = await read.catch((error: unknown) => {
    if (context.signal.aborted) throw error;
  });
  return heldOutMeans(rewards ?? [])?.best.split;
}
