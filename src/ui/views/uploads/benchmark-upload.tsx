/** A benchmark upload: the files, their progress, and the outcome. */
import { useState } from 'react';
import type { Agent } from '../../../contract/models.ts';
import { type Column, plainColumn } from '../../../present/column.ts';
import { numberColumn } from '../../../present/number-columns.ts';
import { benchmarks } from '../../../resources/benchmarks.ts';
import { listPlace, recordPlace } from '../../../resources/define.ts';
import { bytes, counted, percent } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { duration } from '../../../text/time.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { BenchmarkUpload, type UploadState } from '../../../uploads/benchmark-upload.ts';
import type { FileState } from '../../../uploads/file-table.ts';
import { errorLines } from '../../app/error-note.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useJob } from '../../data/use-uploads.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { type Binding, type KeyOf, useKeyOf } from '../../keys/router.tsx';
import { progressBar } from '../../widgets/bars.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { PlainFormWindow } from '../../windows/form-window.tsx';
import { uploadCommands } from '../commands.ts';
import { agentField, useAgents } from './agent-field.ts';
import { UploadPreview } from './preview.tsx';
import { UploadView } from './upload-view.tsx';

const sentShare = ({ sent, file, state }: FileState): number =>
  file.size === 0 ? Number(state === 'sent') : sent / file.size;

const columns: readonly Column<FileState>[] = [
  { id: 'path', title: 'FILE', width: { min: 16, max: 100, grow: 3 }, value: ({ file }) => file.path },
  { id: 'state', title: 'STATE', width: 10, value: ({ state }) => state, status: true },
  { ...numberColumn<FileState>('size', 'SIZE', ({ file }) => file.size, { text: bytes }), width: 9 },
  { ...numberColumn<FileState>('sent', 'SENT', sentShare, { text: percent }), width: 7 },
  plainColumn('error', 'ERROR', { min: 8, max: 80, grow: 2 }, ({ error }) => error, { cutAt: 'end', wide: true }),
];

const idOf = ({ file }: FileState): string => file.path;

/** The words for each phase, with the keys that continue from it. */
const phaseLabels = (start: string, open: string) =>
  ({
    waiting: `not sent yet: ${start} sends it`,
    reading: 'connecting, and reading the folder',
    uploading: 'sending',
    ingesting: 'all files are sent; the service is ingesting the benchmark',
    building: 'ingested; starting the build of its images',
    done: `uploaded; ${open} opens it`,
    failed: `it failed, but sent files are kept: ${start} continues where it stopped`,
    failedBefore: `it failed before any file was sent: ${start} tries again`,
    cancelledBefore: `stopped before any file was sent: ${start} sends it`,
    cancelled: `stopped, but sent files are kept: ${start} continues where it stopped`,
  }) as const satisfies Record<UploadState['phase'] | 'failedBefore' | 'cancelledBefore', string>;

/** The words for the current phase; only complete files count as sent. */
function describeUpload(job: BenchmarkUpload, keyOf: KeyOf): string {
  const { phase, sentFiles, plan, failedTasks } = job.state;
  const [start, open] = [keyOf(uploadCommands.start), keyOf(uploadCommands.open)];
  if (job.isTaken) return `it failed: ${keyOf(uploadCommands.startOver)} uploads the folder as a new benchmark`;
  if (phase === 'done' && failedTasks.length > 0) {
    return `uploaded without ${counted(failedTasks.length, 'task')}, see below; ${open} opens it`;
  }
  if (phase === 'waiting' && job.hasStarted) {
    const before = `${sentFiles} of ${counted(plan.files.length, 'file')} already sent: ${start} continues`;
    return sentFiles < plan.files.length ? `${before}; a partly sent file will be sent again` : before;
  }
  const isBefore = (phase === 'failed' || phase === 'cancelled') && sentFiles === 0;
  return phaseLabels(start, open)[isBefore ? (`${phase}Before` as const) : phase];
}

function describePace({ began, sent }: UploadState, total: number): string {
  if (!began || sent <= began.sent) return '';
  const seconds = Math.max(0.001, (Date.now() - began.at) / 1000);
  const rate = (sent - began.sent) / seconds;
  return `${bytes(rate)}/s  about ${duration(((total - sent) / rate) * 1000)} left`;
}

function headLines(job: BenchmarkUpload, width: number, theme: Theme, keyOf: KeyOf): string[] {
  const { state } = job;
  const { plan } = state;
  const { styles } = theme;
  const done = state.failedTasks.length > 0 ? styles.warning : styles.success;
  const phase = state.phase === 'done' ? done : state.phase === 'failed' ? styles.danger : styles.strong;
  const pace = state.phase === 'uploading' ? describePace(state, plan.bytes) : '';
  return [
    styles.title(truncate(sanitiseLine(plan.name), width)),
    phase(truncate(describeUpload(job, keyOf), width)),
    `${progressBar(job.share, Math.max(10, Math.min(40, width - 40)), theme)}  ${state.sentFiles} of ${counted(plan.files.length, 'file')}  ${bytes(state.sent)} of ${bytes(plan.bytes)}`,
    styles.muted(
      truncate([counted(plan.taskCount, 'task'), sanitiseLine(plan.folder), pace].filter(Boolean).join('  '), width),
    ),
    ...(state.agent === undefined ? [] : [styles.muted(truncate(`agent ${sanitiseLine(state.agent)}`, width))]),
    ...[...plan.notes, ...state.notes].flatMap(note => wrap(sanitiseLine(note), width).map(line => styles.muted(line))),
    ...(state.error ? errorLines(state.error, width, theme, 6) : []),
    '',
  ];
}

export function BenchmarkUploadView({ place }: ViewProps<'benchmark-upload'>) {
  const theme = useTheme();
  const pane = usePane('main');
  const keyOf = useKeyOf();
  const job = useJob(place.jobId, BenchmarkUpload);
  const head = job
    ? headLines(job, pane.width - 2, theme, keyOf)
    : ['This upload is no longer shown here. Upload the folder again: sent files are kept.', ''];
  return (
    <UploadView
      head={head}
      rows={job?.files ?? noFiles}
      columns={columns}
      id={idOf}
      emptyText="The folder has no files except its manifest"
      bindings={useUploadBindings(job)}
      error={job?.state.error}
    />
  );
}

function useUploadBindings(job: BenchmarkUpload | undefined): readonly Binding[] {
  const shell = useShell();
  const workbench = useWorkbench();
  const agents = useAgents();
  if (!job) return [];
  const { phase, benchId, plan } = job.state;
  // `run` never rejects.
  const run = (): void => void job.run(workbench.service);
  const runAnew = (): void => {
    job.startOver();
    run();
  };
  const discard = (): void => {
    job.startOver();
    shell.toast({ kind: 'info', text: 'Forgotten: the upload cannot be resumed. The folder is unchanged' });
  };
  const chooseAgent = (): void =>
    shell.showOverlay('agent', close => <AgentWindow job={job} agents={agents} onClose={close} />);
  const preview = (): void => shell.showOverlay('preview', close => <UploadPreview job={job} onClose={close} />);
  const open = (id: string): void =>
    shell.navigate({ kind: 'go', trail: [listPlace(benchmarks), recordPlace(benchmarks, id, plan.name)] });
  const isDone = phase === 'done';
  const isStopped = !job.busy && (phase === 'failed' || phase === 'cancelled');
  return [
    { command: uploadCommands.start, run, enabled: phase === 'waiting' || (isStopped && !job.isTaken) },
    { command: uploadCommands.startOver, run: runAnew, enabled: isStopped && benchId !== undefined },
    { command: uploadCommands.discard, run: discard, enabled: !job.busy && !isDone && job.hasStarted },
    { command: uploadCommands.agent, run: chooseAgent, enabled: !job.busy && !isDone },
    { command: uploadCommands.cancel, run: () => job.cancel(), enabled: job.busy },
    { command: uploadCommands.preview, run: preview },
    { command: uploadCommands.open, run: () => benchId && open(benchId), enabled: isDone && benchId !== undefined },
  ];
}

const noFiles: readonly FileState[] = [];

interface AgentWindowProps {
  readonly job: BenchmarkUpload;
  readonly agents: readonly Agent[];
  readonly onClose: () => void;
}

function AgentWindow({ job, agents, onClose }: AgentWindowProps) {
  // A later list must not replace the user's input.
  const [fields] = useState(() => [agentField(agents, job.state.agent)]);
  return (
    <PlainFormWindow
      title="Which agent owns the benchmark?"
      fields={fields}
      onSubmit={values => job.setAgent(values['agent']?.trim() || undefined)}
      onClose={onClose}
    />
  );
}
