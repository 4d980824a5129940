/** The organization's datasets: collections of trajectories. */
import { useState } from 'react';
import type { Dataset } from '../../contract/datasets.ts';
import { datasetCommands, datasets } from '../../resources/datasets.ts';
import type { TrajectoryRecord } from '../../store/trajectory-records.ts';
import { realPathOf, wholePath } from '../../uploads/local-files.ts';
import type { ViewProps } from '../app/registry.ts';
import { useShell } from '../app/shell-context.tsx';
import { useUnfinishedTrajectories } from '../data/use-uploads.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { PathPicker } from '../windows/path-picker.tsx';
import { describeUnfinished, useAdvise } from './list/advice.ts';
import { ResourceListView } from './list/list-view.tsx';
import { ownerReports } from './record/rollout-files.ts';
import { useRegradeBinding } from './runs/use-regrade-binding.tsx';
import { opensRollouts } from './tasks/rollout-bindings.ts';
import { useAgents } from './uploads/agent-field.ts';
import { describeSent, type OpenedFile, UploadForm } from './uploads/trajectory-form.tsx';

const rolloutsOf = ({ dataset_name: dataset }: Dataset) =>
  dataset ? { scope: { dataset }, label: dataset } : undefined;
const ofDataset = opensRollouts(rolloutsOf);

export function DatasetsView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  const advise = useAdvise();
  const unfinished = useUnfinishedTrajectories();
  const regrade = useRegradeBinding();
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
      notes={describeUnfinished(unfinished, uploadName, datasetCommands.resume, advise)}
      actions={rows => [regrade(datasets, rows)]}
      opens={ofDataset}
      texts={rolloutsOf}
      files={listed => ownerReports('datasets', listed, row => row.dataset_id)}
    />
  );
}

const uploadName = (record: TrajectoryRecord): string =>
  `${record.path} into ${record.dataset} (${describeSent(record)})`;

const isTrajectoryFile = (name: string): boolean => /\.(jsonl|ndjson|json)$/i.test(name);

interface UploadTrajectoriesWindowProps {
  /** An upload to resume; if missing, the user chooses a file. */
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
      title="Choose a trajectory file (JSON Lines)"
      choose="file"
      accepts={isTrajectoryFile}
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
