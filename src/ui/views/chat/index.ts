import type { ViewDefinition } from '../../app/view-definition.ts';
import { ChatView } from './chat.tsx';
import { chatCommands } from './commands.ts';

export const chatView: ViewDefinition = {
  name: 'chat',
  title: 'Chat',
  aliases: ['c', 'talk'],
  section: true,
  component: ChatView,
  commands: Object.values(chatCommands),
};
