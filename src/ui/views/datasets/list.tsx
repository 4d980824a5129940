/** The datasets of the organization: collections of trajectories. */
import { datasetList } from '../../../queries/datasets.ts';
import { datasetColumns, datasetCommands, datasetFacts } from '../../../resources/datasets.ts';
import { useShell } from '../../app/shell-context.tsx';
import { ResourceList } from '../shared/resource-list.tsx';
import { UploadTrajectoriesWindow } from './upload.tsx';

export function DatasetsView() {
  const shell = useShell();
  return (
    <ResourceList
      source={datasetList}
      columns={datasetColumns}
      emptyWords="No datasets yet"
      emptyAdvice={{ command: datasetCommands.upload, words: 'uploads trajectories, and evaluations record theirs' }}
      open={row => ({
        view: 'trajectories',
        params: { dataset_name: row.dataset_name ?? '', name: row.display_name ?? row.dataset_name ?? '' },
      })}
      facts={datasetFacts}
      bindings={[
        {
          command: datasetCommands.upload,
          run: () => shell.showOverlay({ id: 'upload', render: close => <UploadTrajectoriesWindow onClose={close} /> }),
        },
      ]}
    />
  );
}
