/** Everything pinned or running, and what has ended since the program was started: a line each. */
import { useMemo } from 'react';
import { ageOf } from '../../../present/times.ts';
import { useWatched } from '../../../queries/watch/use-watched.ts';
import { type WatchedThing, watchList } from '../../../queries/watch/watch.ts';
import { useWorkbench, type Workbench } from '../../../queries/workbench.tsx';
import { reward } from '../../../text/numbers.ts';
import { useTime } from '../../app/clock.tsx';
import { usePane } from '../../app/panes.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { sparkline } from '../../widgets/bars.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { placeOf } from '../shared/places.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { statusWords, watchColumns } from './columns.ts';
import { watchCommands } from './commands.ts';

/** How often the words of the pace are made again: a silence grows also where no answer says anything new. */
const paceMs = 5_000;

/** Cells of the pane from which on a curve has room for many points. */
const wideFrom = 80;

const paceTick = (now: number): number => Math.floor(now / paceMs);

function whyWatched({ pinned, endedAt }: WatchedThing): string {
  if (pinned) return 'because it is pinned';
  return endedAt === undefined ? 'because it runs' : 'because it ended while you were here';
}

/** When the line was read that was read longest ago; epoch milliseconds. */
function oldestRead({ statuses }: Workbench, rows: readonly WatchedThing[]): number | undefined {
  const times = rows.flatMap(row => statuses.lastRead(row)?.at || []);
  return times.length === 0 ? undefined : Math.min(...times);
}

export function WatchView() {
  const workbench = useWorkbench();
  const { focus } = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const attention = focus === 'sections' ? 'visible' : 'focused';
  const source = useMemo(() => watchList(workbench, attention), [workbench, attention]);
  const rows = useWatched(useTime(paceTick));
  const sparkWidth = pane.width < wideFrom ? 8 : 16;
  const columns = useMemo(
    () => watchColumns((values, width) => sparkline(values, width, theme), sparkWidth),
    [theme, sparkWidth],
  );
  return (
    <ResourceList<WatchedThing>
      source={source}
      rows={rows}
      rowsAt={oldestRead(workbench, rows)}
      columns={columns}
      emptyWords="Nothing runs and nothing is pinned: p pins anything"
      open={placeOf}
      facts={row => [
        { label: 'name', value: row.label },
        { label: 'kind', value: row.kind },
        { label: 'id', value: row.id },
        { label: 'status', value: statusWords(row) },
        { label: 'progress', value: row.done === undefined ? undefined : `${row.done} of ${row.total ?? '?'}` },
        { label: 'mean', value: row.mean === undefined ? undefined : reward(row.mean) },
        { label: 'pace', value: row.pace },
        { label: 'started', value: ageOf(row.startedAt) },
        { label: 'watched', value: whyWatched(row) },
        { label: 'unreachable', value: row.fault },
      ]}
      pin={({ kind, id, label }) => ({ kind, id, label })}
      actions={targets => {
        const ended = targets.filter(row => row.endedAt !== undefined);
        return [
          {
            command: watchCommands.dismiss,
            enabled: ended.length > 0,
            run: () => {
              for (const row of ended) workbench.statuses.dismiss(row);
            },
          },
        ];
      }}
    />
  );
}
