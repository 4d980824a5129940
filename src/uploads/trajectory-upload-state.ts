/** The state of a trajectory upload, and its counts in words. Pure. */
import type { UploadCounts } from '../store/sent-record.ts';
import type { JobState } from '../workbench/jobs.ts';
import { describeCounts, type SentBefore, totalOf } from './trajectory-outcomes.ts';

export interface TrajectoryUploadState extends JobState {
  /** `queued` while another upload into the dataset is running. */
  readonly phase: 'waiting' | 'queued' | 'uploading' | 'done' | 'failed' | 'cancelled';
  /** The file's size in bytes, and the position up to which it has been sent. */
  readonly size: number;
  readonly handled: number;
  /** Includes the earlier run that this one continues. */
  readonly counts: UploadCounts;
  /** The counts for this run only. */
  readonly sent: Pick<UploadCounts, 'stored' | 'skipped'>;
  /** Whether the service may have stored an item, in this or an earlier run. */
  readonly hasSent: boolean;
  /** Items that earlier runs stored or skipped, and this run did not send again. */
  readonly sentBefore: SentBefore | undefined;
  /** Whether the user has asked to send the whole file next time. */
  readonly isForgotten: boolean;
  readonly error: Error | undefined;
}

/** Whether the upload is done without having sent anything, because all items were sent before. */
export const sentNothing = ({ phase, sentBefore, counts }: TrajectoryUploadState): boolean =>
  phase === 'done' && sentBefore?.count === counts.stored + counts.skipped + counts.failed + counts.unknown;

/** The counts for this run, for items sent before, and for items sent only for another agent or with another key. */
export function countsOfRun({ counts, sent, sentBefore }: TrajectoryUploadState) {
  const { others = {} } = sentBefore ?? {};
  const before = counts.stored + counts.skipped - sent.stored - sent.skipped - totalOf(others);
  return { counts: { ...counts, ...sent }, before, others };
}

/** The counts for this run, e.g. `1 stored`, `2 skipped`…, and the number of items that were sent before. */
export function describeRunCounts(state: TrajectoryUploadState): string[] {
  const { counts, before, others } = countsOfRun(state);
  return describeCounts(counts, before, others);
}
