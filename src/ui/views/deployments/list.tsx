/** The deployments of the organization. */

import { deploymentSummaryQuery } from '../../../queries/deployments.ts';
import { useLive } from '../../../queries/use-live.ts';
import { deploymentCommands, deployments } from '../../../resources/deployments.ts';
import { asReceived } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Lines } from '../shared/lines.tsx';
import { ResourceListView } from '../shared/resource-views.tsx';
import { DeployWindow } from './deploy.tsx';
import { useDeploymentActions } from './use-deployment-actions.tsx';

/** Deployments by status, if the service counts them: `3: 2 DEPLOYED, 1 FAILED, 1 active`. */
export function summaryWords(summary: Readonly<Record<string, unknown>> | undefined): string {
  const { total, active, by_status: byStatus, ...rest } = summary ?? {};
  if (typeof total !== 'number') return '';
  // Later generations count each status as well as the total.
  const statuses = typeof byStatus === 'object' && byStatus !== null ? byStatus : rest;
  const counts = Object.entries(statuses)
    .filter(([, count]) => Number.isFinite(count) && Number(count) > 0)
    .map(([status, count]) => `${count} ${sanitiseLine(status)}`);
  const inAll = `${asReceived(total)} in all${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`;
  return `${inAll}${typeof active === 'number' ? `; ${asReceived(active)} active` : ''}`;
}

export function DeploymentsView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  const actions = useDeploymentActions();
  const pane = usePane('main');
  const theme = useTheme();
  const summary = useLive(deploymentSummaryQuery, 'visible');
  const words = summaryWords(summary.data);
  return (
    <ResourceListView
      resource={deployments}
      place={place}
      {...(words === ''
        ? {}
        : {
            header: {
              height: 1,
              node: <Lines lines={[theme.styles.muted(` ${words}`)]} width={pane.width} height={1} />,
            },
          })}
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
