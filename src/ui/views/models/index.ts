import { modelKeys } from '../../../queries/models.ts';
import type { ViewDefinition } from '../../app/view-definition.ts';
import { ModelsView } from './list.tsx';

export const modelsView: ViewDefinition = {
  name: 'models',
  title: 'Models',
  aliases: ['model', 'm'],
  section: true,
  listKey: modelKeys.list,
  component: ModelsView,
  commands: [],
};
