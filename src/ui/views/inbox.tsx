/** What ended, stalled or needs attention, until it is dismissed. */
import { useMemo } from 'react';
import { agoOf } from '../../present/times.ts';
import { type ListSource, wholePage } from '../../queries/lists/list-source.ts';
import { placeOfRef, resourceOfKind } from '../../resources/catalogue.ts';
import { eventWord, inboxColumns, numbersOf } from '../../resources/inbox.ts';
import { parseTime } from '../../text/time.ts';
import { type InboxEvent, nameOf } from '../../workbench/inbox.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { useInbox } from '../data/use-watched.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { inboxCommands } from './commands.ts';
import { ResourceList } from './list/resource-list.tsx';

/** The events come from the store of this machine: nothing is requested for them. */
const events: ListSource<InboxEvent> = {
  key: ['inbox'],
  id: nameOf,
  derived: true,
  readPage: async () => wholePage<InboxEvent>([]),
  activity: () => 'settled',
};

function dismiss(workbench: Workbench, rows: readonly InboxEvent[]): void {
  for (const row of rows) if (row.what === 'end') workbench.statuses.dismiss(row);
  workbench.inbox.dismiss(rows);
}

export function InboxView() {
  const workbench = useWorkbench();
  const { rewardRange } = workbench.compare;
  const rows = useInbox();
  const columns = useMemo(() => inboxColumns(rewardRange), [rewardRange]);
  return (
    <ResourceList<InboxEvent>
      name="inbox"
      source={events}
      rows={rows}
      columns={columns}
      emptyWords="Nothing new: what ends, fails or stalls is kept here until it is dismissed"
      open={placeOfRef}
      facts={row => [
        { label: 'name', value: row.label },
        { label: 'kind', value: resourceOfKind(row.kind)?.names[1] ?? row.kind },
        { label: 'id', value: row.id },
        { label: 'happened', value: `${eventWord(row)}, ${row.isExact ? '' : 'seen '}${agoOf(row.at)}` },
        { label: 'alarm', value: row.detail.alarm },
        { label: 'reason', value: row.detail.reason },
        { label: 'numbers', value: numbersOf(row, rewardRange) },
        { label: 'started', value: agoOf(parseTime(row.detail.startedAt)) },
      ]}
      serviceId={({ id }) => id}
      label={({ label }) => label}
      pin={({ kind, id, label }) => ({ kind, id, label })}
      actions={targets => [
        { command: inboxCommands.dismiss, enabled: targets.length > 0, run: () => dismiss(workbench, targets) },
        { command: inboxCommands.dismissAll, enabled: rows.length > 0, run: () => dismiss(workbench, rows) },
      ]}
    />
  );
}
