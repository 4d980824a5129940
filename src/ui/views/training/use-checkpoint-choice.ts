/**
 * Reads the checkpoints that a form offers: those of one training run, or those of the newest runs and of the run that
 * the user types.
 */
import { useState } from 'react';
import { perInputs } from '../../../base/memo.ts';
import { hasEnded } from '../../../contract/status.ts';
import type { Checkpoint, HeldOutReward, TrainingRun } from '../../../contract/training.ts';
import { unreadCheckpoints } from '../../../queries/checkpoint-names.ts';
import { checkpointTimesQuery } from '../../../queries/checkpoints.ts';
import type { ListSource } from '../../../queries/lists/list-source.ts';
import { heldOutRewardsQuery } from '../../../queries/training-curves.ts';
import { useList } from '../../data/use-list.ts';
import { useLives } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useRunsOf } from '../runs/use-means.ts';
import {
  type CheckpointChoice,
  chosenOf,
  nameProblem,
  type OfferedCheckpoint,
  offeredOf,
  readingsAmong,
} from './checkpoint-field.ts';

/** Each run takes two requests. The user can type other runs' checkpoints. */
const maxRuns = 5;

/** A training run and its preset checkpoint, if there is one. */
export interface CheckpointOrigin {
  readonly run: TrainingRun;
  readonly checkpoint?: Checkpoint | undefined;
}

interface CheckpointChoiceOptions {
  /** The training runs that the form was opened from, with their checkpoints if any. */
  readonly from: readonly CheckpointOrigin[];
  /** The runs to choose among. */
  readonly source: ListSource<TrainingRun>;
  /** The benchmark whose evaluations count. */
  readonly benchId?: string | undefined;
  readonly value: string;
  /** Whether the user has focused the field: nothing is read before that. */
  readonly isSeen: boolean;
  readonly model?: string | undefined;
}

const noCheckpoints: readonly Checkpoint[] = [];
const noRewards: readonly HeldOutReward[] = [];

const checkpointsOfRun = (run: TrainingRun) => checkpointTimesQuery(run.training_run_id, hasEnded(run.status));

export function useCheckpointChoice(options: CheckpointChoiceOptions): CheckpointChoice {
  const { from, source, benchId, value, isSeen, model } = options;
  const { rewardRange } = useWorkbench().compare;
  const own = [...new Map(from.map(({ run }) => [run.training_run_id, run])).values()];
  const isRead = isSeen || own.length > 0;
  const ofOwn = useLives(own.map(checkpointsOfRun), 'visible');
  const presets = from.map(({ checkpoint }) => checkpoint);
  const isOwn = [...presets, ...ofOwn.flatMap(({ data = [] }) => data)].some(each => each?.checkpoint_id === value);
  const isListed = isSeen && !isOwn;
  const list = useList(source, isListed ? 'visible' : 'hidden');
  const evaluations = useRunsOf(benchId, isRead ? 'visible' : 'hidden');
  const ownIds = new Set(own.map(run => run.training_run_id));
  const known = [...own, ...list.rows.filter(run => !ownIds.has(run.training_run_id))];
  const readings = readingsAmong(known)(value);
  const named = readings.length === 1 ? readings[0]?.run : undefined;
  const first = own.length > 0 ? own : known.slice(0, maxRuns);
  const runs = isRead ? [...first, ...(named && !first.includes(named) ? [named] : [])] : [];
  const checkpointsOf = useLives(runs.map(checkpointsOfRun), 'visible');
  const heldOutOf = useLives(
    runs.map(run => heldOutRewardsQuery(run.training_run_id, hasEnded(run.status))),
    'visible',
  );
  // The intervals in the rows take time.
  const [made] = useState(() => perInputs<TrainingRun, readonly OfferedCheckpoint[]>());
  const read = runs.flatMap((run, index) => {
    const checkpoints = checkpointsOf[index]?.data ?? noCheckpoints;
    const answers = [checkpoints, heldOutOf[index]?.data ?? noRewards, evaluations, rewardRange] as const;
    return made(run, answers, () => offeredOf(run, ...answers));
  });
  const preset = from.flatMap(({ run, checkpoint: row }): OfferedCheckpoint[] =>
    row && !chosenOf(read, row.checkpoint_id) ? [{ run, row, called: [] }] : [],
  );
  return {
    offered: [...preset, ...read],
    runs: known,
    isOfOne: own.length === 1 && known.length === 1,
    model,
    problem: word =>
      nameProblem(word, known, list, run => {
        const at = runs.indexOf(run);
        if (at < 0) return undefined;
        const [checkpoints, heldOut] = [checkpointsOf[at], heldOutOf[at]];
        const data = checkpoints?.data;
        const heldOutError = heldOut?.data ? undefined : (heldOut?.error ?? undefined);
        return {
          isRead: data !== undefined && (heldOut?.data !== undefined || heldOutError !== undefined),
          error: checkpoints?.error,
          heldOutError,
          unread: data && unreadCheckpoints(data),
        };
      }),
  };
}
