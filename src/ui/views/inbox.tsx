/** Everything that ended, stalled or needs attention, until it is dismissed. */
import { useEffect, useMemo, useState } from 'react';
import type { Fact } from '../../present/fact.ts';
import { agoOf } from '../../present/times.ts';
import type { LiveQuery } from '../../queries/live-query.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../queries/training-curves.ts';
import { hintOfCurves } from '../../resources/audit.ts';
import { placeOfRef, resourceOfKind } from '../../resources/catalogue.ts';
import { alarmOf, describeEventKind, eventNames, inboxColumns, numbersOf, reasonOf } from '../../resources/inbox.ts';
import { inboxList } from '../../resources/rotation.ts';
import { referencesOf } from '../../resources/watch.ts';
import { counted } from '../../text/numbers.ts';
import { parseTime } from '../../text/time.ts';
import type { InboxEvent } from '../../workbench/inbox.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { usePaceTime } from '../app/clock.tsx';
import { useShell } from '../app/shell-context.tsx';
import { usePane } from '../app/view.tsx';
import { useInbox } from '../data/use-watched.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { useKeyOf } from '../keys/router.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { inboxCommands } from './commands.ts';
import { ResourceList } from './list/resource-list.tsx';
import { useDescribeHint } from './training/preview.tsx';
import { narrow } from './watch-columns.ts';

/** Dismisses events, and undoes the last dismissal. */
function useDismissal() {
  const workbench = useWorkbench();
  const { inbox, statuses } = workbench;
  const shell = useShell();
  const keyOf = useKeyOf();
  const [last, setLast] = useState<readonly InboxEvent[]>([]);
  const dismiss = (rows: readonly InboxEvent[]): void => {
    for (const row of rows) if (row.what === 'end') statuses.dismiss(row);
    const isSaved = inbox.dismiss(rows);
    setLast(rows);
    const undo = `  <${keyOf(inboxCommands.undo)}> undo`;
    const unsaved = 'Dismissed only for this session: the dismissal could not be saved';
    const text = isSaved ? `${counted(rows.length, 'event')} dismissed` : unsaved;
    shell.toast({ kind: isSaved ? 'info' : 'warning', text, tail: undo });
  };
  const restore = (): void => {
    inbox.restore(last);
    for (const row of last) if (row.what === 'end') statuses.noteEnd(row, row.at);
    shell.toast({ kind: 'info', text: `${counted(last.length, 'event')} restored` });
    setLast([]);
  };
  return { dismiss, undo: { command: inboxCommands.undo, enabled: last.length > 0, run: restore } };
}

/** The audit's finding in an ended training run's curves, if they have been read. */
function hintOf({ kind, id, what }: InboxEvent, { cache, compare }: Workbench): string | undefined {
  if (kind !== 'training' || what !== 'end') return undefined;
  const known = <Data,>({ key }: LiveQuery<Data>): Data | undefined => cache.getQueryData<Data>(key);
  return hintOfCurves(known(trainerRewardsQuery(id, true)), known(heldOutRewardsQuery(id, true)), compare.rewardRange);
}

type DescribeHint = ReturnType<typeof useDescribeHint>;

function eventFacts(row: InboxEvent, workbench: Workbench, describeHint: DescribeHint): readonly Fact[] {
  const { rewardRange } = workbench.compare;
  const event = describeEventKind(row, workbench.statuses.doneReadAt(row));
  return [
    { label: 'name', value: row.label },
    { label: 'kind', value: resourceOfKind(row.kind)?.names[1] ?? row.kind },
    { label: 'id', value: row.id },
    { label: 'event', value: `${event}, ${row.isExact ? '' : 'seen '}${agoOf(row.at)}` },
    { label: 'alarm', value: alarmOf(row) },
    { label: 'reason', value: row.detail.reason },
    { label: 'audit', value: describeHint(hintOf(row, workbench)) },
    { label: 'numbers', value: numbersOf(row, rewardRange) },
    { label: 'started', value: agoOf(parseTime(row.detail.startedAt)) },
    ...referencesOf(workbench, { ...row, parent: row.detail.parent }),
  ];
}

const nothingNew = 'Nothing new: anything that ends, fails or stalls stays here until you dismiss it';
const notKept = 'What ended earlier is not known: history cannot be saved. benchtop doctor shows why';

export function InboxView() {
  const workbench = useWorkbench();
  const pane = usePane('main');
  const isNarrow = pane.width < narrow;
  const { rewardRange } = workbench.compare;
  const source = useMemo(() => inboxList(workbench), [workbench]);
  const rows = useInbox();
  // Redraws the ages in the facts.
  usePaceTime();
  const { dismiss, undo } = useDismissal();
  const describeHint = useDescribeHint();
  const { inbox, statuses, remembered } = workbench;
  const { glyphs } = useTheme();
  // Events that are new when the inbox is opened stay marked until the user leaves; the first time, all are new.
  const [since] = useState(() => inbox.newSince);
  useEffect(() => {
    inbox.opened();
    return () => inbox.opened();
  }, [inbox]);
  const events = rows.map(row => describeEventKind(row, statuses.doneReadAt(row))).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: a column grows with the words for the events
  const columns = useMemo(
    () =>
      inboxColumns(
        rewardRange,
        row => (since !== undefined && inbox.isNew(row, since) ? `${glyphs.bullet} ` : ''),
        eventNames(remembered, rows, isNarrow),
        isNarrow,
        row => statuses.doneReadAt(row),
      ),
    [rewardRange, inbox, statuses, since, glyphs, isNarrow, events, remembered, rows],
  );
  return (
    <ResourceList<InboxEvent>
      name="inbox"
      source={source}
      rows={rows}
      columns={columns}
      emptyText={remembered.file.problem === undefined ? nothingNew : notKept}
      open={placeOfRef}
      below={row => reasonOf(row, rewardRange)}
      facts={row => eventFacts(row, workbench, describeHint)}
      refOf={row => row}
      bindings={[undo]}
      actions={(targets, { arranged: { rows: found } }) => [
        { command: inboxCommands.dismiss, enabled: targets.length > 0, run: () => dismiss(targets) },
        { command: inboxCommands.dismissAll, enabled: found.length > 0, run: () => dismiss(found) },
      ]}
    />
  );
}
