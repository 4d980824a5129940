/** A deployment: its lifecycle, with times, and its facts. */
import { useMemo } from 'react';
import type { Deployment } from '../../../contract/deployments.ts';
import { formatStatus } from '../../../contract/status.ts';
import { deploymentQuery } from '../../../queries/deployments.ts';
import { deploymentFacts, deployments } from '../../../resources/deployments.ts';
import { servedBefore, traceDeployments } from '../../../resources/origins.ts';
import { duration, parseTime } from '../../../text/time.ts';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { useListed } from '../../data/use-list.ts';
import { useLastAnswer } from '../../data/use-live.ts';
import { useOrigins } from '../../data/use-origins.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { statusStyle, statusText, styledStatus } from '../../widgets/status.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { RecordView } from '../record/record-view.tsx';

const deploymentStages = ['PENDING', 'MERGING', 'DEPLOYING', 'DEPLOYED'] as const;

/** The lifecycle: past, current and future states. */
export function lifecycleLine(status: Deployment['status'], theme: Theme): string {
  const { styles, glyphs } = theme;
  const at = (deploymentStages as readonly string[]).indexOf(status ?? '');
  if (at === -1) return styledStatus(status, theme);
  return deploymentStages
    .map((step, index) => {
      if (index === at) return statusStyle(step, theme)(statusText(step, theme));
      const words = formatStatus(step);
      return index < at ? `${glyphs.check} ${words}` : styles.muted(`${glyphs.circle} ${words}`);
    })
    .join(styles.muted(` ${glyphs.crumb} `));
}

function describeDeployTime({ created_at, completed_at }: Deployment): string {
  const [from, to] = [parseTime(created_at ?? undefined), parseTime(completed_at ?? undefined)];
  return from === undefined || to === undefined ? '' : `deployed in ${duration(Math.max(0, to - from))}`;
}

export function DeploymentView({ place }: ViewProps<'record'>) {
  const theme = useTheme();
  const { attention } = usePane('main');
  const { remembered, compare } = useWorkbench();
  const read = useLastAnswer()(deploymentQuery(place.id));
  const listed = useListed(deployments.list({}))?.rows;
  const before = read && servedBefore(read, listed ?? []);
  useOrigins(
    useMemo(() => [read, before].filter(row => row !== undefined), [read, before]),
    attention,
  );
  return (
    <RecordView<Deployment>
      resource={deployments}
      place={place}
      facts={row => {
        const [whole = row, earlier] = traceDeployments(before ? [row, before] : [row], remembered);
        return deploymentFacts(whole, earlier, compare.rewardRange);
      }}
      unread={{ deployment_id: place.id, model_slug: place.label }}
      head={deployment => {
        const took = describeDeployTime(deployment);
        return [lifecycleLine(deployment.status, theme), ...(took === '' ? [] : [theme.styles.muted(took)])];
      }}
    />
  );
}
