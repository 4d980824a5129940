import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';
import { chatCommands } from './commands.ts';

export const chatView: ViewDefinition = {
  name: 'chat',
  title: 'Chat',
  aliases: ['c', 'talk'],
  section: true,
  component: lateView(async () => (await import('./chat.tsx')).ChatView),
  commands: Object.values(chatCommands),
};
