/** The datasets of the organization: collections of trajectories. */
import { basename } from 'node:path';
import { useState } from 'react';
import type { Dataset } from '../../contract/datasets.ts';
import { agentFields } from '../../contract/generation.ts';
import type { Agent } from '../../contract/models.ts';
import { type Action, action } from '../../queries/action.ts';
import { datasetCommands, datasets } from '../../resources/datasets.ts';
import type { TrajectoryRecord } from '../../store/trajectory-records.ts';
import { counted } from '../../text/numbers.ts';
import { clean } from '../../text/sanitise.ts';
import { realPathOf, wholePath } from '../../uploads/local-files.ts';
import { countWords, sendTrajectories, TrajectoryUpload } from '../../uploads/trajectory-upload.ts';
import type { Service } from '../../workbench/workbench.ts';
import type { ViewProps } from '../app/registry.ts';
import { useShell } from '../app/shell-context.tsx';
import { trajectoryJobId, useUnfinishedTrajectories } from '../data/use-uploads.ts';
import { useWorkbench } from '../data/workbench.tsx';
import type { FieldSpec } from '../widgets/form/form-state.ts';
import { FormWindow } from '../windows/form-window.tsx';
import { PathPicker } from '../windows/path-picker.tsx';
import { useAdvise } from './list/advice.ts';
import { ResourceListView } from './list/list-view.tsx';
import { ownerReport } from './record/rollout-files.ts';
import { opensRollouts } from './tasks/rollout-doors.ts';
import { agentField, useAgents } from './uploads/agent-field.ts';

const ofDataset = opensRollouts<Dataset>(({ dataset_name: dataset }) =>
  dataset ? { scope: { dataset }, label: dataset } : undefined,
);

export function DatasetsView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  const advise = useAdvise();
  const unfinished = useUnfinishedTrajectories();
  const [last] = unfinished;
  const upload = (from?: TrajectoryRecord) => () =>
    shell.showOverlay('upload', close => <UploadTrajectoriesWindow from={from} onClose={close} />);
  return (
    <ResourceListView
      resource={datasets}
      place={place}
      bindings={[
        { command: datasetCommands.upload, run: upload() },
        { command: datasetCommands.resume, why: last ? undefined : 'There is no unfinished upload', run: upload(last) },
      ]}
      notes={unfinishedWords(unfinished, advise)}
      opens={ofDataset}
      files={({ current }) => (current?.dataset_id ? ownerReport('datasets', current.dataset_id, current) : [])}
    />
  );
}

/** The outcomes of an upload so far. */
const sentWords = ({ counts }: TrajectoryRecord): string => countWords(counts).join(', ');

/** Names the unfinished upload, and the key that resumes it. */
function unfinishedWords(
  [last, ...others]: readonly TrajectoryRecord[],
  advise: ReturnType<typeof useAdvise>,
): readonly string[] {
  if (!last) return [];
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'other')}`;
  const words = clean`The upload of ${last.path} into ${last.dataset} (${sentWords(last)})${more} was not finished`;
  return [`${words}${advise({ command: datasetCommands.resume, words: 'resumes it' })}`];
}

/** The question about trajectories that were sent without an answer, if any. */
function resendField(unknown: number): FieldSpec[] {
  if (unknown === 0) return [];
  return [
    {
      kind: 'choice',
      name: 'resend',
      label: 'Send the unknown ones again',
      options: [
        { value: 'no', label: 'no' },
        { value: 'yes', label: 'yes, they may be stored twice' },
      ],
      initial: 'no',
      help: 'They were sent, but the service did not say whether it stored them.',
    },
  ];
}

/** Stands for the trajectories of the file, which are read during the upload. */
const example = { '…': 'each trajectory of the file, up to 100 per request' };

const isTrajectoryFile = (name: string): boolean => /\.(jsonl|ndjson|json)$/i.test(name);

interface ChosenFile {
  readonly path: string;
  readonly dataset: string;
  readonly agent: string | undefined;
  readonly resendUnknown: boolean;
}

/** A file whose form is open. */
interface OpenedFile {
  readonly path: string;
  readonly begun: TrajectoryRecord | undefined;
  /** As listed when the form opened: a later answer must not replace the user's input. */
  readonly agents: readonly Agent[];
}

export interface UploadTrajectoriesWindowProps {
  /** An upload to resume; without one, the user chooses a file. */
  readonly from?: TrajectoryRecord | undefined;
  readonly onClose: () => void;
}

function UploadTrajectoriesWindow({ from, onClose }: UploadTrajectoriesWindowProps) {
  const { trajectoryUploads } = useWorkbench().remembered;
  const listed = useAgents();
  const [file, setFile] = useState<OpenedFile | undefined>(from && { path: from.path, begun: from, agents: [] });
  if (file) return <UploadForm file={file} onClose={onClose} />;
  return (
    <PathPicker
      title="Choose a file of trajectories (JSON Lines)"
      choose="file"
      wanted={isTrajectoryFile}
      onChoose={chosen => {
        const path = wholePath(chosen);
        const real = realPathOf(path);
        const begun = trajectoryUploads.unfinished().find(record => record.path === real);
        setFile({ path, begun, agents: listed });
      }}
      onClose={onClose}
    />
  );
}

/** Starts the upload of a file, or finds the running one. */
function useUpload(): Action<ChosenFile, TrajectoryUpload> {
  const workbench = useWorkbench();
  const [upload] = useState(() =>
    action(
      async (_: Service, { path, dataset, agent, resendUnknown }: ChosenFile) => {
        const id = trajectoryJobId({ path, dataset, agent });
        const known = workbench.jobs.get(id);
        if (known instanceof TrajectoryUpload && known.busy) return known;
        const records = workbench.remembered.trajectoryUploads;
        const job = new TrajectoryUpload(id, path, dataset, { agent, records, resendUnknown });
        workbench.jobs.add(job);
        // It continues off screen and never rejects; its view shows how it ends.
        void job.run(workbench.service);
        return job;
      },
      { touches: [] },
    ),
  );
  return upload;
}

function UploadForm({ file: { path, begun, agents }, onClose }: { file: OpenedFile; onClose: () => void }) {
  const shell = useShell();
  const upload = useUpload();
  const [fields] = useState<readonly FieldSpec[]>(() => [
    {
      kind: 'text',
      name: 'dataset',
      label: 'Into the dataset',
      initial: begun?.dataset ?? basename(path).replace(/\.\w+$/, ''),
      help: begun
        ? clean`Sent before into ${begun.dataset}: ${sentWords(begun)}. Choose the same dataset to send the rest.`
        : 'A new dataset is created if none has this name.',
      check: value => (value.trim() === '' ? 'Name a dataset' : undefined),
    },
    agentField(agents, begun?.agent),
    ...resendField(begun?.counts.unknown ?? 0),
  ]);
  return (
    <FormWindow
      title={`Upload ${basename(path)}`}
      fields={fields}
      action={upload}
      inputOf={values => ({
        path,
        dataset: values['dataset']?.trim() ?? '',
        agent: values['agent']?.trim() || undefined,
        resendUnknown: values['resend'] === 'yes',
      })}
      describe={(service, { dataset, agent }) =>
        sendTrajectories(service, {
          dataset,
          trajectories: [example],
          agent: agent === undefined ? undefined : agentFields(agent),
        })
      }
      onClose={onClose}
      onDone={job => shell.open({ view: 'trajectory-upload', jobId: job.id, dataset: job.dataset })}
    />
  );
}
