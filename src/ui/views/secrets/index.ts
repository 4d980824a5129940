import { secretKeys } from '../../../queries/secrets.ts';
import { secretCommands } from '../../../resources/secrets.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';

export const secretsView: ViewDefinition = {
  name: 'secrets',
  title: 'Secrets',
  aliases: ['secret', 'sec'],
  section: true,
  listKey: secretKeys.list,
  component: lateView(async () => (await import('./list.tsx')).SecretsView),
  commands: Object.values(secretCommands),
};
