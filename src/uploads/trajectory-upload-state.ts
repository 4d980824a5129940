/** The state of an upload of trajectories, and its counts in words. Pure. */
import type { UploadCounts } from '../store/sent-record.ts';
import type { JobState } from '../workbench/jobs.ts';
import { countWords, type SentBefore, totalOf } from './trajectory-outcomes.ts';

export interface TrajectoryUploadState extends JobState {
  /** `queued` while another upload into the dataset runs. */
  readonly phase: 'waiting' | 'queued' | 'uploading' | 'done' | 'failed' | 'cancelled';
  /** Size of the file in bytes, and the position up to which it was sent. */
  readonly size: number;
  readonly handled: number;
  /** Includes the earlier run that this one continues. */
  readonly counts: UploadCounts;
  /** The counts of what this run sent. */
  readonly sent: Pick<UploadCounts, 'stored' | 'skipped'>;
  /** Whether any of it may be on the service, from this or an earlier run. */
  readonly hasSent: boolean;
  /** The stored and skipped ones that an earlier run sent, and that were not sent again. */
  readonly sentBefore: SentBefore | undefined;
  /** Whether the user wants the next upload to send all of it. */
  readonly isForgotten: boolean;
  readonly error: Error | undefined;
}

/** Whether an upload that is done sent nothing, because all was sent before. */
export const sentNothing = ({ phase, sentBefore, counts }: TrajectoryUploadState): boolean =>
  phase === 'done' && sentBefore?.count === counts.stored + counts.skipped + counts.failed + counts.unknown;

/** The counts of this run, of items sent before, and of those sent only for others. */
export function countsOfRun({ counts, sent, sentBefore }: TrajectoryUploadState) {
  const { others = {} } = sentBefore ?? {};
  const before = counts.stored + counts.skipped - sent.stored - sent.skipped - totalOf(others);
  return { counts: { ...counts, ...sent }, before, others };
}

/** `1 stored`, `2 skipped`… of this run, and how many were sent before. */
export function runWords(state: TrajectoryUploadState): string[] {
  const { counts, before, others } = countsOfRun(state);
  return countWords(counts, before, others);
}
