/** The datasets of the organization: collections of trajectories. */
import type { Dataset } from '../../../contract/datasets.ts';
import { datasetList } from '../../../queries/datasets.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Column } from '../../widgets/table/column.ts';
import { ageOf, instant } from '../shared/ages.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { datasetCommands } from './commands.ts';
import { UploadTrajectoriesWindow } from './upload.tsx';

const columns: readonly Column<Dataset>[] = [
  {
    id: 'name',
    title: 'DATASET',
    width: { min: 14, max: 60, grow: 3 },
    value: row => row.display_name ?? row.dataset_name ?? row.dataset_id,
  },
  { id: 'source', title: 'SOURCE', width: 11, value: row => row.source ?? undefined },
  {
    id: 'updated',
    title: 'UPDATED',
    width: 8,
    align: 'right',
    value: row => instant(row.updated_at),
    text: row => ageOf(row.updated_at),
  },
  {
    id: 'dataset_name',
    title: 'NAME',
    width: { min: 12, max: 40, grow: 1 },
    wide: true,
    value: row => row.dataset_name ?? undefined,
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.dataset_id },
];

export function DatasetsView() {
  const shell = useShell();
  return (
    <ResourceList
      source={datasetList}
      columns={columns}
      emptyWords="No datasets yet: u uploads trajectories, and evaluations record theirs"
      open={row => ({
        view: 'trajectories',
        params: { dataset_name: row.dataset_name ?? '', name: row.display_name ?? row.dataset_name ?? '' },
      })}
      facts={row => [
        { label: 'dataset', value: row.display_name },
        { label: 'name', value: row.dataset_name },
        { label: 'id', value: row.dataset_id },
        { label: 'source', value: row.source },
        { label: 'stored', value: row.gcs_prefix },
        { label: 'created', value: ageOf(row.created_at) },
        { label: 'updated', value: ageOf(row.updated_at) },
      ]}
      bindings={[
        {
          command: datasetCommands.upload,
          run: () => shell.showOverlay({ id: 'upload', render: close => <UploadTrajectoriesWindow onClose={close} /> }),
        },
      ]}
    />
  );
}
