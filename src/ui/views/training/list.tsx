/**
 * The list of training runs with their completed steps, which the records lack: background polls read the progress of
 * running ones.
 */
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { isRunning } from '../../../contract/status.ts';
import { overdueIntervals } from '../../../queries/freshness.ts';
import type { KnownResource } from '../../../queries/statuses/store.ts';
import type { ProgressedRun } from '../../../queries/training.ts';
import { progressQuery } from '../../../resources/rotation.ts';
import { training } from '../../../resources/training.ts';
import { age } from '../../../text/time.ts';
import { useTime } from '../../app/clock.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { ResourceListView } from '../list/list-view.tsx';

/** Adds the completed steps to the rows of running runs. The function stays the same until some of them change. */
function useSteps(): (rows: readonly ProgressedRun[]) => readonly ProgressedRun[] {
  const { statuses } = useWorkbench();
  const steps = useSyncExternalStore(statuses.subscribe, () => {
    const known = statuses
      .all()
      .filter(({ kind, done, total }) => kind === 'training' && (done ?? total) !== undefined);
    return JSON.stringify(known.map(({ id, done, total }) => [id, { done, total }]));
  });
  return useCallback(
    rows => {
      const known = new Map(JSON.parse(steps) as [string, Partial<Pick<KnownResource, 'done' | 'total'>>][]);
      return rows.map(row => {
        const { done, total } = known.get(row.training_run_id) ?? {};
        const completed_steps = row.completed_steps ?? (isRunning(row.status) ? done : undefined);
        const total_steps = row.total_steps ?? total;
        const isSame = completed_steps === row.completed_steps && total_steps === row.total_steps;
        return isSame ? row : { ...row, completed_steps, total_steps };
      });
    },
    [steps],
  );
}

/** The age of the oldest completed steps, once it exceeds the poll interval. */
function useOldSteps(): string | undefined {
  const { statuses, poll } = useWorkbench();
  return useTime(
    useCallback(
      now => {
        const running = statuses
          .all()
          .filter(({ kind, status, gone }) => kind === 'training' && isRunning(status) && !gone);
        const oldest = Math.min(...running.flatMap(known => statuses.doneReadAt(known) ?? []));
        return now - oldest > overdueIntervals * poll.visibleMs && Number.isFinite(oldest)
          ? `completed steps are polled in turn, the oldest read ${age(now - oldest)} ago`
          : undefined;
      },
      [statuses, poll],
    ),
  );
}

export function TrainingListView({ place }: ViewProps<'list'>) {
  const workbench = useWorkbench();
  const { attention } = usePane('main');
  const progress = useLive(
    useMemo(() => progressQuery(workbench), [workbench]),
    attention,
  );
  const old = useOldSteps();
  return (
    <ResourceListView
      resource={training}
      place={place}
      join={useSteps()}
      notes={old === undefined ? [] : [old]}
      parts={[{ refresh: progress.refresh }]}
    />
  );
}
