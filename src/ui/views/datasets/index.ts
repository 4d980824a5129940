import { datasetKeys } from '../../../queries/datasets.ts';
import { datasetCommands } from '../../../resources/datasets.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';

export const datasetsView: ViewDefinition = {
  name: 'datasets',
  title: 'Datasets',
  aliases: ['dataset', 'ds'],
  section: true,
  listKey: datasetKeys.list,
  component: lateView(async () => (await import('./list.tsx')).DatasetsView),
  commands: Object.values(datasetCommands),
};
