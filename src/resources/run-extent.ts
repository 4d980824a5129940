/** How far a run got, as the statistics need it. */
import { hasEnded, statusMeaning } from '../contract/status.ts';
import type { RunEnd, RunTasks } from '../present/statistics/tasks.ts';
import type { RunExtent } from '../queries/run-extent.ts';

function endOf(status: string | null | undefined): RunEnd {
  const meaning = statusMeaning(status ?? '');
  if (meaning === 'unknown') return 'unsaid';
  if (meaning === 'success') return 'complete';
  return hasEnded(status) ? 'stopped' : 'running';
}

/** No run has more rollouts; a larger number is wrong. */
const mostRollouts = 1e9;

export const extentOf = ({
  total = Number.NaN,
  status,
  listed,
  nameless,
  isMeasuredAsChosen,
}: Partial<RunExtent> = {}): Omit<RunTasks, 'tasks'> => ({
  total: Number.isInteger(total) && total > 0 && total <= mostRollouts ? total : undefined,
  least: listed,
  nameless,
  end: endOf(status),
  isMeasuredAsChosen,
});
