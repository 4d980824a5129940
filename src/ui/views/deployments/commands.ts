/** What can be done with a deployment. */
import type { CommandTable } from '../../keys/command.ts';

const group = 'Deployment';

export const deploymentCommands = {
  deploy: { id: 'deployment.deploy', title: 'deploy a checkpoint', keys: ['D'], group, hint: 'deploy', writes: true },
  chat: { id: 'deployment.chat', title: 'chat with it', keys: ['t'], group, hint: 'chat' },
  promote: { id: 'deployment.promote', title: 'let it answer for its slug', keys: ['e'], group, writes: true },
  unpromote: { id: 'deployment.unpromote', title: 'let it answer no more', keys: ['u'], group, writes: true },
  undeploy: { id: 'deployment.undeploy', title: 'undeploy', keys: ['d'], group, writes: true, destructive: true },
} as const satisfies CommandTable;
