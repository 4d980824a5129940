/** One deployment: where it is on its way, with times, and what it is. */
import { stripVTControlCharacters } from 'node:util';
import type { Deployment } from '../../../contract/deployments.ts';
import { deploymentQuery } from '../../../queries/deployments.ts';
import { useLive } from '../../../queries/use-live.ts';
import { deploymentFacts } from '../../../resources/deployments.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { duration, parseTime } from '../../../text/time.ts';
import { Panes, usePane } from '../../app/panes.tsx';
import { useFreshnessReport, useShell } from '../../app/shell-context.tsx';
import type { ViewProps } from '../../app/view-definition.ts';
import { factLines } from '../../widgets/facts.ts';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { statusStyle, statusText } from '../../widgets/status.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { faultLines, useFaultBindings } from '../shared/fault-note.tsx';
import { useThingBindings } from '../shared/use-thing-bindings.tsx';
import { useDeploymentActions } from './use-deployment-actions.tsx';

const way = ['PENDING', 'MERGING', 'DEPLOYING', 'DEPLOYED'] as const;

/** The way of a deployment: what is behind it, where it is, what is to come. */
export function lifecycleLine(status: string, theme: Theme): string {
  const { styles, glyphs } = theme;
  const at = (way as readonly string[]).indexOf(status);
  if (at === -1) return statusStyle(status, theme)(statusText(status, theme));
  return way
    .map((step, index) => {
      if (index === at) return statusStyle(step, theme)(statusText(step, theme));
      return index < at ? `${glyphs.check} ${step}` : styles.muted(`${glyphs.circle} ${step}`);
    })
    .join(styles.muted(` ${glyphs.crumb} `));
}

function tookWords({ created_at, completed_at }: Deployment): string {
  const [from, to] = [parseTime(created_at ?? undefined), parseTime(completed_at ?? undefined)];
  return from === undefined || to === undefined
    ? ''
    : `deployed ${duration(Math.max(0, to - from))} after it was requested`;
}

export function DeploymentView({ location }: ViewProps) {
  const deploymentId = location.params['deployment_id'] ?? '';
  const shell = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const live = useLive(deploymentQuery(deploymentId), pane.attention);
  useFreshnessReport(live.freshness);
  const actions = useDeploymentActions({ onRemoved: () => shell.navigate({ kind: 'up' }) });
  const shown: Deployment = live.data ?? { deployment_id: deploymentId, model_slug: location.params['slug'] };
  const room = pane.width - 2;
  const took = tookWords(shown);
  const lines = [
    theme.styles.title(sanitiseLine(shown.model_slug ?? deploymentId)),
    ...(live.data ? [lifecycleLine(sanitiseLine(shown.status ?? 'unknown'), theme)] : []),
    ...(took === '' ? [] : [theme.styles.muted(took)]),
    ...(live.fault ? faultLines(live.fault, room, theme) : []),
    '',
    ...factLines(deploymentFacts(shown), room, theme),
  ].map(line => ` ${line}`);
  const plainAt = (line: number): string => stripVTControlCharacters(lines[line] ?? '');
  const scroll = useScroll({
    lineCount: lines.length,
    textAt: plainAt,
    height: pane.height - scrollViewLines,
  });
  const bindings = useThingBindings({
    thing: { id: deploymentId, json: shown },
    pin: { kind: 'deployment', id: deploymentId, label: shown.model_slug ?? deploymentId },
    title: shown.model_slug ?? deploymentId,
    refresh: live.refresh,
    siblings: 'deployment',
    actions: actions([shown]),
  });
  return (
    <Panes
      bindings={[...bindings, ...useFaultBindings(live.fault)]}
      main={
        <ScrollView
          scroll={scroll}
          textAt={plainAt}
          drawnAt={line => lines[line] ?? ''}
          width={pane.width}
          focused={pane.focused}
        />
      }
    />
  );
}
