import { idPatterns } from '../../../contract/ids.ts';
import { deploymentKeys } from '../../../queries/deployments.ts';
import { deploymentCommands } from '../../../resources/deployments.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';

export const deploymentsView: ViewDefinition = {
  name: 'deployments',
  title: 'Deployments',
  aliases: ['deployment', 'deploy', 'dep'],
  section: true,
  listKey: deploymentKeys.list,
  component: lateView(async () => (await import('./list.tsx')).DeploymentsView),
  commands: Object.values(deploymentCommands),
};

export const deploymentView: ViewDefinition = {
  name: 'deployment',
  title: 'Deployment',
  aliases: [],
  opens: { id: idPatterns.deployment, param: 'deployment_id' },
  under: 'deployments',
  crumb: params => params['slug'] ?? params['deployment_id'] ?? 'Deployment',
  component: lateView(async () => (await import('./deployment.tsx')).DeploymentView),
  commands: [],
};
