/** The deployments of the organization. */
import { deploymentList } from '../../../queries/deployments.ts';
import { useShell } from '../../app/shell-context.tsx';
import { ResourceList } from '../shared/resource-list.tsx';
import { deploymentColumns } from './columns.ts';
import { deploymentCommands } from './commands.ts';
import { DeployWindow } from './deploy.tsx';
import { deploymentFacts, deploymentPlace } from './facts.ts';
import { useDeploymentActions } from './use-deployment-actions.tsx';

export function DeploymentsView() {
  const shell = useShell();
  const actions = useDeploymentActions();
  return (
    <ResourceList
      source={deploymentList}
      columns={deploymentColumns}
      emptyWords="No deployments yet: D on a training run deploys its last checkpoint"
      open={deploymentPlace}
      facts={deploymentFacts}
      pin={row => ({ kind: 'deployment', id: row.deployment_id, label: row.model_slug ?? row.deployment_id })}
      bindings={[
        {
          command: deploymentCommands.deploy,
          run: () =>
            shell.showOverlay({ id: 'deploy', render: close => <DeployWindow name="" given="" onClose={close} /> }),
        },
      ]}
      actions={actions}
    />
  );
}
