/** How far a run got, as the statistics take it. */
import { hasEnded, statusMeaning } from '../contract/status.ts';
import type { RunEnd, RunTasks } from '../present/statistics/tasks.ts';
import type { RunExtent } from '../queries/run-extent.ts';

function endOf(status: string | null | undefined): RunEnd {
  const meaning = statusMeaning(status ?? '');
  if (meaning === 'unknown') return 'unsaid';
  if (meaning === 'success') return 'complete';
  return hasEnded(status) ? 'stopped' : 'running';
}

export const extentOf = (extent: Partial<RunExtent> = {}): Omit<RunTasks, 'tasks'> => ({
  total: extent.total,
  end: endOf(extent.status),
});
