/** A run's state and size, as the service reports them and as the statistics need them. */
import { hasEnded, statusMeaning } from '../contract/status.ts';
import type { RunEnd, RunTasks } from '../present/statistics/tasks.ts';

/** A run's mean reward, and its number of rewards, as reported by the service. */
export interface RecordedMean {
  readonly mean: number | undefined;
  readonly graded: number | undefined;
}

/** The number of rollouts per task, from a run's options. */
export interface SamplesPerTask {
  readonly each: number;
  /** Whether it is from the options that benchtop sent, because the service returns none. It may have ignored them. */
  readonly isSent: boolean;
}

type Counted = 'nameless' | 'unreadable' | 'failed' | 'isPartOpen' | 'isMeasuredAsChosen';

/** A run's totals, as reported by the service. */
export interface RunExtent extends Pick<RunTasks, Counted> {
  readonly status: string | null | undefined;
  /** How many rollouts the complete run will have; undefined if the service does not report it. */
  readonly total: number | undefined;
  /** How many rollouts the list of rewards contains, including unreadable ones. */
  readonly listed?: number | undefined;
  /** Read only if rollouts are missing, or the service reports no total. */
  readonly samplesPerTask?: SamplesPerTask | undefined;
  /** From the run's record, if it was read. */
  readonly recorded?: RecordedMean | undefined;
  /** When the run ended, if known; in epoch milliseconds. */
  readonly endedAt?: number | undefined;
  /** Why the run's status or total could not be read. */
  readonly unread?: Error | undefined;
}

function endOf(status: string | null | undefined): RunEnd {
  const meaning = statusMeaning(status ?? '');
  if (meaning === 'unknown') return 'unreported';
  if (meaning === 'success') return 'complete';
  return hasEnded(status) ? 'stopped' : 'running';
}

/** A larger total must be an error. */
const maxRollouts = 1e9;

export const extentOf = ({
  total = Number.NaN,
  status,
  listed,
  nameless,
  unreadable,
  failed,
  samplesPerTask,
  isPartOpen,
  isMeasuredAsChosen,
}: Partial<RunExtent> = {}): Omit<RunTasks, 'tasks'> => {
  const known = Number.isInteger(total) && total > 0 && total <= maxRollouts ? total : undefined;
  // Without a total, the options sent still show that rollouts may be missing. With a total, ignore them: if the
  // service ignored them too, the run would seem to have fewer tasks.
  const isUsed = known === undefined || samplesPerTask?.isSent === false;
  return {
    total: known,
    least: listed,
    nameless,
    unreadable,
    failed,
    samplesPerTask: isUsed ? samplesPerTask?.each : undefined,
    end: endOf(status),
    isPartOpen,
    isMeasuredAsChosen,
  };
};
