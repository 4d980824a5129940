/** The state and size of a run, as the statistics need it. */
import { hasEnded, statusMeaning } from '../contract/status.ts';
import type { RunEnd, RunTasks } from '../present/statistics/tasks.ts';
import type { RunExtent } from '../queries/run-extent.ts';

function endOf(status: string | null | undefined): RunEnd {
  const meaning = statusMeaning(status ?? '');
  if (meaning === 'unknown') return 'unreported';
  if (meaning === 'success') return 'complete';
  return hasEnded(status) ? 'stopped' : 'running';
}

/** A larger total must be an error. */
const mostRollouts = 1e9;

export const extentOf = ({
  total = Number.NaN,
  status,
  listed,
  nameless,
  samplesPerTask,
  isMeasuredAsChosen,
}: Partial<RunExtent> = {}): Omit<RunTasks, 'tasks'> => ({
  total: Number.isInteger(total) && total > 0 && total <= mostRollouts ? total : undefined,
  least: listed,
  nameless,
  samplesPerTask,
  end: endOf(status),
  isMeasuredAsChosen,
});
