import { useWatchedCount } from '../../../queries/watch/use-watched.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';
import { watchCommands } from './commands.ts';

export const watchView: ViewDefinition = {
  name: 'watch',
  title: 'Watch',
  aliases: ['w', 'pins'],
  section: true,
  useCount: useWatchedCount,
  component: lateView(async () => (await import('./list.tsx')).WatchView),
  commands: Object.values(watchCommands),
};
