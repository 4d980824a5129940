/** Everything pinned or running, a line each. */
import { useMemo } from 'react';
import { type WatchedThing, watchList } from '../../../queries/watch.ts';
import { reward } from '../../../text/numbers.ts';
import { sparkline } from '../../widgets/bars.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { ageOf } from '../shared/ages.ts';
import { placeOf } from '../shared/places.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { watchColumns } from './columns.ts';

export function WatchView() {
  const theme = useTheme();
  const columns = useMemo(() => watchColumns((values, width) => sparkline(values, width, theme)), [theme]);
  return (
    <ResourceList<WatchedThing>
      source={watchList}
      columns={columns}
      emptyWords="Nothing runs and nothing is pinned: p pins anything"
      open={placeOf}
      facts={row => [
        { label: 'name', value: row.label },
        { label: 'kind', value: row.kind },
        { label: 'id', value: row.id },
        { label: 'status', value: row.status },
        { label: 'progress', value: row.done === undefined ? undefined : `${row.done} of ${row.total ?? '?'}` },
        { label: 'mean', value: row.mean === undefined ? undefined : reward(row.mean) },
        { label: 'pace', value: row.pace },
        { label: 'started', value: ageOf(row.startedAt) },
        { label: 'watched', value: row.pinned ? 'because it is pinned' : 'because it runs' },
        { label: 'unreachable', value: row.fault },
      ]}
      pin={({ kind, id, label }) => ({ kind, id, label })}
    />
  );
}
