import { watchKeys } from '../../../queries/watch.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';

export const watchView: ViewDefinition = {
  name: 'watch',
  title: 'Watch',
  aliases: ['w', 'pins'],
  section: true,
  listKey: watchKeys.list,
  component: lateView(async () => (await import('./list.tsx')).WatchView),
  commands: [],
};
