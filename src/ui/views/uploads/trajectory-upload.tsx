/** A trajectory upload: each outcome, and saving the failed ones to a file. */

import { useMemo } from 'react';
import { errorMessage } from '../../../base/errors.ts';
import { type Column, plainColumn } from '../../../present/column.ts';
import { recordPlace } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { bytes, counted } from '../../../text/numbers.ts';
import { clean } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import {
  describeCounts,
  describeReason,
  describeReport,
  handledItems,
  type Outcome,
  otherWarnings,
  sentTimes,
} from '../../../uploads/trajectory-outcomes.ts';
import { TrajectoryUpload } from '../../../uploads/trajectory-upload.ts';
import { countsOfRun, sentNothing, type TrajectoryUploadState } from '../../../uploads/trajectory-upload-state.ts';
import { errorLines } from '../../app/error-note.tsx';
import type { Size } from '../../app/layout.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { type Shell, useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useJob } from '../../data/use-uploads.ts';
import type { Binding } from '../../keys/router.tsx';
import { useSiblings } from '../../navigation/memory.tsx';
import { progressBar } from '../../widgets/bars.ts';
import type { Table } from '../../widgets/table/use-table.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { uploadCommands } from '../commands.ts';
import { minTableLines } from '../list/list-table.ts';
import { UploadView } from './upload-view.tsx';

const columns: readonly Column<Outcome>[] = [
  { id: 'line', title: 'LINE', width: 6, align: 'right', value: row => row.line },
  { id: 'status', title: 'OUTCOME', width: 12, value: row => row.status, status: true },
  { id: 'id', title: 'TRAJECTORY', width: { min: 12, max: 40, grow: 1 }, value: row => row.trajectoryId },
  plainColumn('message', 'MESSAGE', { min: 12, max: 120, grow: 3 }, row => describeReason(row) || undefined, {
    cutAt: 'end',
  }),
  { id: 'trace', title: 'TRACE', width: { min: 10, max: 40, grow: 1 }, wide: true, value: row => row.traceId },
];

const idOf = ({ place }: Outcome): string => place;

const phaseLabels = {
  waiting: 'connecting',
  queued: 'waiting for another upload into this dataset to finish',
  uploading: 'sending',
  done: 'everything was sent',
  failed: 'it failed: progress is kept; upload the file again to continue',
  failedBefore: 'it failed: nothing was sent; upload the file again to retry',
  cancelled: 'stopped: progress is kept; upload the file again to continue',
  cancelledBefore: 'stopped: nothing was sent',
} as const satisfies Record<TrajectoryUploadState['phase'] | 'failedBefore' | 'cancelledBefore', string>;

function describeUpload(state: TrajectoryUploadState): string {
  const { phase, hasSent, sentBefore, isForgotten, counts } = state;
  if (isForgotten) return 'forgotten: upload the file again to send all of it';
  if (sentBefore && sentNothing(state)) return `nothing to send: everything was sent before (${sentTimes(sentBefore)})`;
  const before = sentBefore ? [`${sentBefore.count} skipped, sent before (${sentTimes(sentBefore)})`] : [];
  const unknown = counts.unknown > 0 ? [`${counts.unknown} unknown`] : [];
  if (phase === 'done' && before.length + unknown.length > 0) return ['sent', ...unknown, ...before].join('; ');
  return phaseLabels[(phase === 'failed' || phase === 'cancelled') && !hasSent ? (`${phase}Before` as const) : phase];
}

/** Reports that do not fit above the rows are only counted. */
function headLines(job: TrajectoryUpload, { width, height }: Size, theme: Theme): string[] {
  const { state } = job;
  const { counts, before, others } = countsOfRun(state);
  const lines = [
    theme.styles.title(truncate(clean`${job.path} into ${job.dataset}`, width)),
    truncate(describeUpload(state), width),
    `${progressBar(job.share, Math.max(10, Math.min(40, width - 40)), theme)}  ${counted(handledItems(state.counts), 'trajectory', 'trajectories')}  ${bytes(state.handled)} of ${bytes(state.size)}`,
    describeCounts(counts, before)
      .map(words => (/^[^0].* (failed|unknown)$/.test(words) ? theme.styles.danger(words) : words))
      .join('  '),
    ...(counts.unknown > 0 && !job.busy
      ? [theme.styles.muted(truncate('Unknown: may be stored, so not sent again automatically.', width))]
      : []),
    ...otherWarnings(others).flatMap(words => wrap(words, width).map(theme.styles.warning)),
    ...(job.outcomes.some(({ status }) => status === 'counted')
      ? [theme.styles.muted(truncate('Counted: the service does not report which are stored.', width))]
      : []),
    ...(state.error ? errorLines(state.error, width, theme, 6) : []),
  ];
  const texts = [...job.reports.map(describeReport), ...(job.busy ? [] : job.notes)];
  const reports = reportLines(texts, width, theme);
  const room = height - lines.length - 1 - minTableLines;
  const { length } = texts;
  const words = `${counted(length, 'report')} ${length === 1 ? 'needs' : 'need'} a larger terminal`;
  if (reports.length > room && room < 1) lines[1] = truncate(`${lines[1]}; ${words}`, width);
  else if (reports.length > room) reports.splice(room - 1, reports.length, theme.styles.muted(truncate(words, width)));
  return [...lines, ...(room < 1 ? [] : reports), ''];
}

/** Maximum number of reports on whole requests and of notes on the file; the others are counted. */
const shownReports = 3;

function reportLines(texts: readonly string[], width: number, { styles }: Theme): string[] {
  const more = texts.length - shownReports;
  return [
    ...texts.slice(0, shownReports).flatMap(words => wrap(words, width).slice(0, 3).map(styles.warning)),
    ...(more > 0 ? [styles.muted(truncate(`and ${more} more`, width))] : []),
  ];
}

function uploadBindings(job: TrajectoryUpload, shell: Shell): readonly Binding[] {
  const saveAs = (name: string): void => {
    job.saveFailures(name).then(
      path => shell.toast({ kind: 'success', text: `Saved ${path}` }),
      (error: unknown) => {
        const reason = errorMessage(error);
        shell.toast({ kind: 'danger', text: `Nothing was saved: ${reason}` });
      },
    );
  };
  const save = (): void => {
    const stamp = new Date().toISOString().replaceAll(/[^\d]/g, '').slice(0, 14);
    const file = `${job.path}.failed-${stamp}.jsonl`;
    shell.showOverlay('save', close => (
      <FileWindow title="Save the failed ones" file={file} onChoose={saveAs} onClose={close} />
    ));
  };
  return [
    { command: uploadCommands.cancel, enabled: job.busy, run: () => job.cancel() },
    {
      command: uploadCommands.discard,
      enabled: !job.busy && job.hasStarted,
      run: () => {
        job.startOver();
        shell.toast({ kind: 'info', text: 'Forgotten: the next upload sends all of it. The file is unchanged' });
      },
    },
    { command: uploadCommands.saveFailures, enabled: job.failures > 0, run: save },
  ];
}

export function TrajectoryUploadView({ place }: ViewProps<'trajectory-upload'>) {
  const shell = useShell();
  const theme = useTheme();
  const pane = usePane('main');
  const job = useJob(place.jobId, TrajectoryUpload);
  const head = job
    ? headLines(job, { width: pane.width - 2, height: pane.height }, theme)
    : ['This upload is no longer shown here. Progress is kept: upload the file again to continue.', ''];
  const siblings = useSiblings();
  const openRow = ({ trajectoryId }: Outcome, table: Table<Outcome>): void => {
    if (!trajectoryId) return;
    const ids = table.arranged.rows.flatMap(row => row.trajectoryId ?? []);
    const placeAt = (index: number): Place | undefined =>
      ids[index] === undefined ? undefined : recordPlace(trajectories, ids[index]);
    siblings.remember('trajectories', { ids, placeAt });
    shell.open(recordPlace(trajectories, trajectoryId));
  };
  const bindings = useMemo(() => (job ? uploadBindings(job, shell) : []), [job, job?.state, shell]);
  return (
    <UploadView
      head={head}
      rows={job?.outcomes ?? noOutcomes}
      columns={columns}
      id={idOf}
      emptyText="No outcomes yet"
      bindings={bindings}
      error={job?.state.error}
      onOpen={openRow}
    />
  );
}

const FileWindow = lazyWindow(async () => (await import('../record/export-window.tsx')).FileWindow);
const noOutcomes: readonly Outcome[] = [];
