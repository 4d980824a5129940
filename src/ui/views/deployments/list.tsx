/** The deployments of the organization. */
import { deploymentList, deploymentSummaryQuery } from '../../../queries/deployments.ts';
import { useLive } from '../../../queries/use-live.ts';
import { deploymentColumns, deploymentCommands, deploymentFacts } from '../../../resources/deployments.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { usePane } from '../../app/panes.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Lines } from '../shared/lines.tsx';
import { deploymentPlace } from '../shared/places.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { DeployWindow } from './deploy.tsx';
import { useDeploymentActions } from './use-deployment-actions.tsx';

/** Deployments by status, where the service counts them: `3: 2 DEPLOYED, 1 FAILED, 1 active`. */
export function summaryWords(summary: Readonly<Record<string, unknown>> | undefined): string {
  const { total, active, by_status: byStatus } = summary ?? {};
  if (typeof total !== 'number' || typeof byStatus !== 'object' || byStatus === null) return '';
  const counts = Object.entries(byStatus).map(([status, count]) => `${String(count)} ${sanitiseLine(status)}`);
  return `${total} in all${counts.length === 0 ? '' : `: ${counts.join(', ')}`}${typeof active === 'number' ? `; ${active} active` : ''}`;
}

export function DeploymentsView() {
  const shell = useShell();
  const actions = useDeploymentActions();
  const pane = usePane('main');
  const theme = useTheme();
  const summary = useLive(deploymentSummaryQuery, 'visible');
  const words = summaryWords(summary.data);
  return (
    <ResourceList
      source={deploymentList}
      columns={deploymentColumns}
      emptyWords="No deployments yet"
      emptyAdvice={{ command: deploymentCommands.deploy, words: 'on a training run deploys its last checkpoint' }}
      open={deploymentPlace}
      facts={deploymentFacts}
      {...(words === ''
        ? {}
        : {
            header: {
              height: 1,
              node: <Lines lines={[theme.styles.muted(` ${words}`)]} width={pane.width} height={1} />,
            },
          })}
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
