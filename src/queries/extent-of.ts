/** The state and size of a run, as reported by the service and as needed by the statistics. */
import { hasEnded, statusMeaning } from '../contract/status.ts';
import type { RunEnd, RunTasks } from '../present/statistics/tasks.ts';

/** The mean reward of a run, and the number of its rewards, as reported by the service. */
export interface RecordedMean {
  readonly mean: number | undefined;
  readonly graded: number | undefined;
}

/** The number of rollouts per task, from the options of a run. */
export interface SamplesPerTask {
  readonly each: number;
  /** From the options that benchtop sent, because the service returns none. It may have ignored them. */
  readonly isSent: boolean;
}

/** The totals of a run, as reported by the service. */
export interface RunExtent {
  readonly status: string | null | undefined;
  /** The number of rollouts of the complete run; undefined if the service does not report it. */
  readonly total: number | undefined;
  /** The number of rollouts in the list of rewards, including unreadable ones. */
  readonly listed?: number | undefined;
  /**
   * The number of listed rollouts that are unreadable, or have a reward but no readable task. Rollouts without a reward
   * count as missing instead.
   */
  readonly nameless?: number | undefined;
  /** The number of listed rollouts that are known to have failed without a reward. */
  readonly failed?: number | undefined;
  /** Read only if rollouts are missing, or the service reports no total. */
  readonly samplesPerTask?: SamplesPerTask | undefined;
  /** From the record of the run, if it was read. */
  readonly recorded?: RecordedMean | undefined;
  /** When the run ended, if known; epoch milliseconds. */
  readonly endedAt?: number | undefined;
  /** Whether the missing rewards of one of several pooled runs cannot be counted. */
  readonly isPartOpen?: boolean | undefined;
  /** Why its status or total could not be read. */
  readonly unread?: Error | undefined;
  /** Whether its tasks are known to equal those of the held-out curve by which its checkpoint may have been chosen. */
  readonly isMeasuredAsChosen?: boolean | undefined;
}

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
  failed,
  samplesPerTask,
  isPartOpen,
  isMeasuredAsChosen,
}: Partial<RunExtent> = {}): Omit<RunTasks, 'tasks'> => {
  const known = Number.isInteger(total) && total > 0 && total <= mostRollouts ? total : undefined;
  // Without a total, sent options still show that rollouts may be missing. With a total, ignore them: if the service
  // did too, the run would seem to have fewer tasks.
  const isUsed = known === undefined || samplesPerTask?.isSent === false;
  return {
    total: known,
    least: listed,
    nameless,
    failed,
    samplesPerTask: isUsed ? samplesPerTask?.each : undefined,
    end: endOf(status),
    isPartOpen,
    isMeasuredAsChosen,
  };
};
