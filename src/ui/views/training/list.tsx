/**
 * The list of training runs, with steps and rewards from background polls, and columns for the options that differ
 * between runs.
 */
import { isDeepStrictEqual } from 'node:util';
import { useCallback, useMemo, useState } from 'react';
import { minOf } from '../../../base/many.ts';
import { hasEnded, isRunning, statusMeaning } from '../../../contract/status.ts';
import { overdueIntervals } from '../../../queries/freshness.ts';
import type { KnownResource } from '../../../queries/statuses/known-resource.ts';
import type { ProgressedRun } from '../../../queries/training.ts';
import { labelOf } from '../../../resources/define.ts';
import { describeHigher } from '../../../resources/describe-held-out.ts';
import { type LineState, statedFacts, stateOf } from '../../../resources/line-state.ts';
import { progressQuery } from '../../../resources/rotation.ts';
import { training } from '../../../resources/training.ts';
import { lacksTrainerReward, listColumns, type MeasuredTraining } from '../../../resources/training-columns.ts';
import { watchedLine } from '../../../resources/watch.ts';
import { age } from '../../../text/time.ts';
import { usePaceTime, useTime } from '../../app/clock.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { useBenchmarkNames } from '../../data/use-benchmark-names.ts';
import { useListedRows } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { type StatusJoin, useStatusJoin } from '../../data/use-status-join.ts';
import { useLineFinder } from '../../data/use-watched.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { ResourceListView } from '../list/list-view.tsx';
import { ownerReports } from '../record/rollout-files.ts';
import { nameWidth, stateColumn, wide } from '../watch-columns.ts';
import { TrainingPreview } from './preview.tsx';

/** Known data about a run besides its record. */
type KnownRun = Pick<KnownResource, 'status' | 'done' | 'total' | 'measured' | 'mean'>;

function measuredRun(row: ProgressedRun, known: KnownRun): MeasuredTraining {
  const { done, total, measured, mean: trainer_reward } = known;
  // Another poll may have seen the run end before the list is read again, and its status decides which actions are
  // possible.
  const status = hasEnded(known.status) ? known.status : row.status;
  const completed_steps = row.completed_steps ?? (statusMeaning(status ?? '') === 'success' ? undefined : done);
  return {
    ...row,
    status,
    completed_steps,
    total_steps: row.total_steps ?? total,
    held_out: measured ?? undefined,
    trainer_reward,
  };
}

/** Joins runs with their known steps and rewards. */
const knownRuns: StatusJoin<ProgressedRun, KnownRun, MeasuredTraining> = {
  kind: 'training',
  id: ({ training_run_id }) => training_run_id,
  pick: ({ status, done, total, measured, mean }) => ({ status, done, total, measured, mean }),
  join: measuredRun,
};

/** How old the oldest count of completed steps is, in words, if it is overdue. */
function useOldSteps(): string | undefined {
  const { statuses, poll } = useWorkbench();
  return useTime(
    useCallback(
      now => {
        const running = statuses
          .all()
          .filter(({ kind, status, gone }) => kind === 'training' && isRunning(status) && !gone);
        const oldest = minOf(running.flatMap(known => statuses.doneReadAt(known) ?? []));
        return now - oldest > overdueIntervals * poll.visibleMs && Number.isFinite(oldest)
          ? `completed steps are polled in turn, the oldest read ${age(now - oldest)} ago`
          : undefined;
      },
      [statuses, poll],
    ),
  );
}

/** A run with its state in Watch, if it has a line there or is in alarm. */
type RunWithState = MeasuredTraining & { readonly state?: LineState };

type Join = (rows: readonly MeasuredTraining[]) => readonly RunWithState[];

/**
 * Returns a function that adds the state and the held-out rewards from each run's line in Watch. A row stays the same
 * object until they change.
 */
function useStates(): Join {
  const now = usePaceTime();
  const lineOf = useLineFinder(now);
  const [stated] = useState(() => new WeakMap<MeasuredTraining, RunWithState>());
  return useCallback(
    rows =>
      rows.map(row => {
        const line = lineOf({ kind: 'training', id: row.training_run_id });
        // A run that ended before the program was opened has no line.
        if (!line) return row;
        const state = stateOf(line, now);
        const alarm = state.reasons?.join('; ');
        const next = { ...row, state, alarm, held_out: line.measured ?? undefined };
        const before = stated.get(row);
        if (before && before.held_out === next.held_out && isDeepStrictEqual(before.state, next.state)) return before;
        stated.set(row, next);
        return next;
      }),
    [lineOf, now, stated],
  );
}

/** A run's state in Watch; if it has no line there, the state that its record shows. */
function stateOfRow(row: RunWithState): LineState {
  const { training_run_id: id, status, state, created_at, completed_at, began_at: beganAt } = row;
  const times = { startedAt: created_at ?? undefined, endTime: completed_at ?? undefined, beganAt };
  const line = { ...watchedLine({ kind: 'training', id }, ''), status: status ?? undefined, ...times };
  return state ?? stateOf(line, Date.now());
}

export function TrainingListView({ place }: ViewProps<'list'>) {
  const workbench = useWorkbench();
  const { attention, width } = usePane('main');
  const [known, stated] = [useStatusJoin(knownRuns), useStates()];
  const join = useCallback<Join>(each => stated(known(each)), [known, stated]);
  const progress = useLive(
    useMemo(() => progressQuery(workbench), [workbench]),
    attention,
  );
  const old = useOldSteps();
  const [source] = useState(() => training.list(place.scope ?? {}));
  const rows = useListedRows(source);
  const { rewardRange } = workbench.compare;
  const nameOf = useBenchmarkNames();
  const { statuses } = workbench;
  const columns = useMemo(
    () =>
      listColumns(
        rows,
        rewardRange,
        nameOf,
        ({ training_run_id: id }, ofTrainer) => {
          const known = statuses.get({ kind: 'training', id });
          return ofTrainer ? !known || lacksTrainerReward(known) : known?.measured === undefined;
        },
        {
          state: stateColumn(width, stateOfRow, true),
          nameWidth: { min: nameWidth(width), max: 60, grow: 3 },
          isRoomy: width >= wide,
        },
      ),
    [rows, rewardRange, nameOf, statuses, width],
  );
  return (
    <ResourceListView<MeasuredTraining>
      resource={training}
      place={place}
      source={source}
      columns={columns}
      facts={row => statedFacts(training.facts(row), (row as RunWithState).state)}
      join={join}
      preview={TrainingPreview}
      below={({ held_out }) => held_out && describeHigher(held_out)}
      texts={row => ({ scope: { training: row.training_run_id }, label: labelOf(training, row) })}
      files={listed => ownerReports('training', listed, row => row.training_run_id)}
      notes={old === undefined ? [] : [old]}
      parts={[{ refresh: progress.refresh }]}
    />
  );
}
