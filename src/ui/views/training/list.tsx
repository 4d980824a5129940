/** The list of training runs, with how far those are that run: their records do not say it, the rounds that follow them do. */
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { isRunning } from '../../../contract/status.ts';
import { overdueIntervals } from '../../../queries/freshness.ts';
import type { ProgressedRun } from '../../../queries/training.ts';
import { progressQuery } from '../../../resources/following.ts';
import { training } from '../../../resources/training.ts';
import { age } from '../../../text/time.ts';
import { useTime } from '../../app/clock.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { ResourceListView } from '../list/list-view.tsx';

/** Adds the steps that were read to the rows of runs that run; the same function until some of them change. */
function useSteps(): (rows: readonly ProgressedRun[]) => readonly ProgressedRun[] {
  const { statuses } = useWorkbench();
  const steps = useSyncExternalStore(statuses.subscribe, () => {
    const known = statuses.all().filter(({ kind, done }) => kind === 'training' && done !== undefined);
    return JSON.stringify(known.map(({ id, done }) => [id, done]));
  });
  return useCallback(
    rows => {
      const done = new Map(JSON.parse(steps) as [string, number][]);
      return rows.map(row => {
        const completed_steps = isRunning(row.status) ? done.get(row.training_run_id) : undefined;
        return completed_steps === undefined || row.completed_steps != null ? row : { ...row, completed_steps };
      });
    },
    [steps],
  );
}

/** The age of the steps that were read longest ago, in words, once they are older than what is polled. */
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
          ? `steps done are read in turn, the oldest ${age(now - oldest)} ago`
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
