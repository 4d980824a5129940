import { modelKeys } from '../../../queries/models.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';

export const modelsView: ViewDefinition = {
  name: 'models',
  title: 'Models',
  aliases: ['model', 'm'],
  section: true,
  listKey: modelKeys.list,
  component: lateView(async () => (await import('./list.tsx')).ModelsView),
  commands: [],
};
