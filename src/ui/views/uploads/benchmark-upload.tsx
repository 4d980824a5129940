/** The upload of a benchmark: what will be sent, how each file gets on, and what came of it. */
import { useMemo } from 'react';
import { benchmarkKeys } from '../../../queries/benchmarks.ts';
import { BenchmarkUpload, type FileState, type UploadState } from '../../../queries/uploads/benchmark-upload.ts';
import { useJob } from '../../../queries/use-job.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { bytes, percent } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { duration } from '../../../text/time.ts';
import { truncate } from '../../../text/width.ts';
import { Panes, usePane } from '../../app/panes.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { ViewProps } from '../../app/view-definition.ts';
import type { Binding } from '../../keys/router.tsx';
import { progressBar } from '../../widgets/bars.ts';
import type { Column } from '../../widgets/table/column.ts';
import { TableView } from '../../widgets/table/table-view.tsx';
import { useTable } from '../../widgets/table/use-table.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { faultLines } from '../shared/fault-note.tsx';
import { Lines } from '../shared/lines.tsx';
import { uploadCommands } from './commands.ts';
import { UploadPreview } from './preview.tsx';

const columns: readonly Column<FileState>[] = [
  { id: 'path', title: 'FILE', width: { min: 16, max: 100, grow: 3 }, value: ({ file }) => file.path },
  { id: 'state', title: 'STATE', width: 10, value: ({ state }) => state, status: true },
  {
    id: 'size',
    title: 'SIZE',
    width: 9,
    align: 'right',
    value: ({ file }) => file.size,
    text: ({ file }) => bytes(file.size),
  },
  {
    id: 'sent',
    title: 'SENT',
    width: 7,
    align: 'right',
    value: ({ sent, file, state }) => (file.size === 0 ? Number(state === 'sent') : sent / file.size),
    text: ({ sent, file, state }) => percent(file.size === 0 ? Number(state === 'sent') : sent / file.size),
  },
  { id: 'fault', title: 'FAULT', width: { min: 8, max: 80, grow: 2 }, wide: true, value: ({ fault }) => fault },
];

const phaseWords = {
  waiting: 'not sent yet: enter sends it',
  uploading: 'sending',
  ingesting: 'all is sent; the service takes it in',
  building: 'taken in; its images begin to be built',
  done: 'uploaded; enter opens it',
  failed: 'stopped by a fault; enter goes on where it stopped',
  cancelled: 'stopped; what was sent is kept. Upload the folder again to go on',
} as const satisfies Record<UploadState['phase'], string>;

function paceWords({ began, sent }: UploadState, total: number): string {
  if (!began || sent <= began.sent) return '';
  const seconds = Math.max(0.001, (Date.now() - began.at) / 1000);
  const rate = (sent - began.sent) / seconds;
  return `${bytes(rate)}/s  about ${duration(((total - sent) / rate) * 1000)} left`;
}

function headLines(job: BenchmarkUpload, width: number, theme: Theme): string[] {
  const { plan, state } = job;
  const { styles } = theme;
  const done = state.files.filter(each => each.state === 'sent').length;
  const share = plan.bytes === 0 ? 1 : state.sent / plan.bytes;
  const phase = state.phase === 'done' ? styles.success : state.phase === 'failed' ? styles.danger : styles.strong;
  const pace = state.phase === 'uploading' ? paceWords(state, plan.bytes) : '';
  return [
    styles.title(truncate(sanitiseLine(plan.name), width)),
    phase(truncate(phaseWords[state.phase], width)),
    `${progressBar(share, Math.max(10, Math.min(40, width - 40)), theme)}  ${done} of ${plan.files.length} files  ${bytes(state.sent)} of ${bytes(plan.bytes)}`,
    styles.muted(
      truncate([`${plan.taskCount} tasks`, sanitiseLine(plan.folder), pace].filter(Boolean).join('  '), width),
    ),
    ...plan.notes.map(note => styles.muted(truncate(sanitiseLine(note), width))),
    ...(state.fault ? faultLines(state.fault, width, theme).slice(0, 6) : []),
    '',
  ].map(line => ` ${line}`);
}

export function BenchmarkUploadView({ location }: ViewProps) {
  const shell = useShell();
  const workbench = useWorkbench();
  const theme = useTheme();
  const pane = usePane('main');
  const job = useJob(location.params['job'] ?? '', BenchmarkUpload);
  const head = job
    ? headLines(job, pane.width - 2, theme)
    : [' The program was started anew since. Upload the folder again: what was sent is kept.', ''];
  const rows = job?.state.files ?? noFiles;
  const table = useTable({ rows, columns, id: row => row.file.path, height: Math.max(4, pane.height - head.length) });
  const bindings = useMemo((): readonly Binding[] => {
    if (!job) return [];
    const { phase, benchId } = job.state;
    const run = async (): Promise<void> => {
      await job.run(workbench.service);
      void workbench.cache.invalidateQueries({ queryKey: benchmarkKeys.all });
    };
    return [
      { command: uploadCommands.start, enabled: phase === 'waiting' || phase === 'failed', run: () => void run() },
      { command: uploadCommands.cancel, enabled: job.busy, run: () => job.cancel() },
      {
        command: uploadCommands.preview,
        run: () => shell.showOverlay({ id: 'preview', render: close => <UploadPreview job={job} onClose={close} /> }),
      },
      {
        command: uploadCommands.open,
        enabled: phase === 'done' && benchId !== undefined,
        run: () =>
          benchId &&
          shell.navigate({
            kind: 'go',
            trail: [
              { view: 'benchmarks', params: {} },
              { view: 'benchmark', params: { bench_id: benchId, label: job.plan.name } },
            ],
          }),
      },
    ];
  }, [job, job?.state, shell, workbench]);
  return (
    <Panes
      bindings={bindings}
      main={
        <>
          <Lines lines={head} width={pane.width} height={head.length} />
          <TableView
            table={table}
            columns={columns}
            id={row => row.file.path}
            width={pane.width}
            focused={pane.focused}
            total={rows.length}
            emptyWords="The folder has no files besides its manifest"
          />
        </>
      }
    />
  );
}

const noFiles: readonly FileState[] = [];
