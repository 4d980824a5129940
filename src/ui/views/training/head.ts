/** A training run's first lines: its status, progress and pace. */
import { useCallback, useMemo, useState } from 'react';
import { formatStatus, statusMeaning } from '../../../contract/status.ts';
import type { TrainingProgress, TrainingRun } from '../../../contract/training.ts';
import { agoOf } from '../../../present/times.ts';
import { freshnessAt, overdueIntervals } from '../../../queries/freshness.ts';
import { describePace, paceOf } from '../../../queries/pace.ts';
import type { LineState } from '../../../resources/line-state.ts';
import { paceHints } from '../../../resources/watch-reads.ts';
import { NetworkError, TimeoutError } from '../../../service/errors.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { parseTime } from '../../../text/time.ts';
import { useTime } from '../../app/clock.tsx';
import type { Live } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { progressBar } from '../../widgets/bars.ts';
import { noStatus, styledStatus } from '../../widgets/status.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';
import type { RecordWithParts } from '../record/record-with-parts.ts';
import type { LiveCurves } from './charted-runs.ts';

/** The status and the completed steps. */
export function statusLine(
  run: TrainingRun,
  done: number | undefined,
  total: number | null | undefined,
  width: number,
  theme: Theme,
  alarm?: LineState,
): string {
  const counts = done === undefined ? '' : `step ${done}${total == null ? '' : ` of ${total}`}`;
  const bar =
    done !== undefined && total ? progressBar(done / total, Math.max(8, Math.min(32, width - 48)), theme) : '';
  return [styledStatus(run.status, theme, noStatus, alarm), bar, counts].filter(Boolean).join('  ');
}

/** Replaces the status until the run has been read: the reason, and the last known status with its age. */
export function useLastStatus(id: string, { isRead, error }: RecordWithParts): string | undefined {
  const { statuses, remembered } = useWorkbench();
  const run = { kind: 'training', id };
  const seen = isRead || !error ? undefined : remembered.seen.find(run.kind, id);
  const at = statuses.lastRead(run)?.at || seen?.seenAt;
  const read = useTime(now => (isRead ? '' : agoOf(at, now)));
  if (isRead || !error) return undefined;
  const isDown = error instanceof NetworkError || error instanceof TimeoutError;
  const why = isDown ? 'The service cannot be reached' : 'The status could not be read';
  const status = statuses.get(run)?.status ?? seen?.status;
  return status == null ? why : `${why}; last status: ${formatStatus(sanitiseLine(status))}, read ${read}`;
}

/**
 * The completed steps as of the time the curve was read. Count and curve are separate requests. A newer count waits for
 * the next poll of a curve that lags behind it, if that is soon: a long curve is polled rarely.
 */
export function useStepsDone(
  counted: number | undefined,
  progress: Pick<Live<TrainingProgress>, 'freshness'>,
  curve: Pick<LiveCurves, 'trainer' | 'freshness'>,
  ended: boolean,
): number | undefined {
  const [shown, setShown] = useState(counted);
  const left = progress.freshness;
  const right = freshnessAt(curve.freshness, Date.now());
  const areFresh = left.kind === 'fresh' && right.kind === 'fresh';
  const isSoon = areFresh && (right.intervalMs ?? 0) <= (left.intervalMs ?? 0) * overdueIntervals;
  const waits = isSoon && right.at < left.at;
  const isBehind = curve.trainer.steps.length > 0 && curve.trainer.steps.length < (counted ?? 0);
  if (waits && isBehind && !ended && shown !== undefined) return shown;
  if (shown !== counted) setShown(counted);
  return counted;
}

/** A note that the run went back to a checkpoint, until it has caught up. */
export function useRestart(runId: string, ended: boolean): string | undefined {
  const restart = useWorkbench().restarts.of(runId);
  if (ended || !restart) return undefined;
  return `went back from step ${restart.from} to ${restart.step}: repeating the steps in between`;
}

/**
 * Pace and elapsed time, kept current until the run ends, then empty. The most important part comes first, in case the
 * line is cut.
 */
export function usePace(
  run: TrainingRun,
  { data: progress, freshness }: Live<TrainingProgress>,
  completed: number | undefined,
  ended: boolean,
): string {
  const { remembered, statuses } = useWorkbench();
  const { total_steps: total, waits_because: waits } = progress ?? {};
  const { status, training_run_id: runId } = run;
  const started = parseTime(run.created_at ?? undefined);
  const known = statuses.get({ kind: 'training', id: runId });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the points change with the responses, not with each tick
  const pace = useMemo(
    () => paceOf(remembered.progress.of(runId), paceHints(known)),
    [remembered, runId, progress, known],
  );
  return useTime(
    useCallback(
      now => {
        if (ended) return '';
        const seen = freshnessAt(freshness, now);
        const observedAt = seen.kind === 'fresh' ? now : 'at' in seen ? (seen.at ?? now) : now;
        const isWaiting = status != null && statusMeaning(status) === 'waiting';
        const elapsed = started === undefined || isWaiting ? '' : `started ${agoOf(started, now)}`;
        if (waits) return `waits: ${waits}`;
        const words = describePace(pace, { status, completed, total, startedAt: started, observedAt, now });
        return [words, elapsed].filter(Boolean).join('  ');
      },
      [pace, freshness, status, completed, total, waits, started, ended],
    ),
  );
}
