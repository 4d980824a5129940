/** The list of deployments. */
import { useMemo } from 'react';
import { perObject } from '../../../base/memo.ts';

import type { Deployment } from '../../../contract/deployments.ts';
import { describePartlyRead } from '../../../contract/lists.ts';
import { formatStatus } from '../../../contract/status.ts';
import type { Fact } from '../../../present/fact.ts';
import { deploymentSummaryQuery } from '../../../queries/deployments.ts';
import { deploymentCommands, deploymentFacts, deployments, tracedColumns } from '../../../resources/deployments.ts';
import { servedBefore, type TracedDeployment, traceDeployments } from '../../../resources/origins.ts';
import { isWhole } from '../../../store/lists.ts';
import { asReceived } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useListed } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { useOrigins } from '../../data/use-origins.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { ResourceListView } from '../list/list-view.tsx';
import { DeployWindow } from './deploy.tsx';

/** Deployments by status, if the service counts them: `3 in all: 2 deployed, 1 failed; 1 active`. */
export function describeSummary(summary: Readonly<Record<string, unknown>> | undefined): string {
  const { total, active, by_status: byStatus, ...rest } = summary ?? {};
  if (typeof total !== 'number') return '';
  // Later generations count each status in addition to the total.
  const statuses = typeof byStatus === 'object' && byStatus !== null ? byStatus : rest;
  const counts = Object.entries(statuses)
    .filter(([, count]) => Number.isFinite(count) && Number(count) > 0)
    .map(([status, count]) => `${count} ${sanitiseLine(formatStatus(status))}`);
  const inAll = `${asReceived(total)} in all${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`;
  return `${inAll}${typeof active === 'number' ? `; ${asReceived(active)} active` : ''}`;
}

/** The same summary, counted from a complete list; undefined for an empty one. */
export function summaryOf(rows: readonly Deployment[]): Readonly<Record<string, unknown>> | undefined {
  const byStatus = new Map<string, number>();
  for (const { status } of rows) if (status != null) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  const active = rows.filter(row => row.is_active).length;
  return rows.length === 0 ? undefined : { total: rows.length, active, by_status: Object.fromEntries(byStatus) };
}

const none: readonly Deployment[] = [];

/** The listed deployments' origins: searched for in the background, and shown once known. */
function useTraced(rows: readonly Deployment[]) {
  const { attention } = usePane('main');
  const { remembered, compare } = useWorkbench();
  const { searchedAt, isDone, refresh } = useOrigins(rows, attention);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the search adds to what is remembered
  const join = useMemo(() => {
    const tracedRow = perObject((row: Deployment) => traceDeployments([row], remembered)[0] ?? row);
    return (each: readonly Deployment[]) => each.map(tracedRow);
  }, [remembered, searchedAt]);
  const columns = useMemo(
    () =>
      tracedColumns(
        compare.rewardRange,
        ({ checkpoint_id, from_run }) => checkpoint_id != null && from_run === undefined && !isDone,
      ),
    [compare.rewardRange, isDone],
  );
  const facts = (row: TracedDeployment): readonly Fact[] => {
    const before = servedBefore(row, rows);
    return deploymentFacts(row, before && traceDeployments([before], remembered)[0], compare.rewardRange);
  };
  return { columns, facts, join, refresh };
}

export function DeploymentsView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  const theme = useTheme();
  const listed = useListed(deployments.list({}));
  const whole = isWhole(listed) && describePartlyRead(listed?.rows ?? []) === undefined;
  // If the list is complete, count its rows, so that the summary agrees with them.
  const { data } = useLive(deploymentSummaryQuery, listed && !whole ? 'visible' : 'hidden');
  const { rows = none } = listed ?? {};
  const { columns, facts, join, refresh } = useTraced(rows);
  const words = describeSummary(whole && listed ? summaryOf(listed.rows) : data);
  return (
    <ResourceListView<TracedDeployment>
      resource={deployments}
      place={place}
      columns={columns}
      facts={facts}
      join={join}
      parts={[{ refresh }]}
      header={words === '' ? [] : [theme.styles.muted(words)]}
      bindings={[
        {
          command: deploymentCommands.deploy,
          run: () => shell.showOverlay('deploy', close => <DeployWindow onClose={close} />),
        },
      ]}
    />
  );
}
