/** A benchmark: its readiness, and its evaluation runs. */
import { useMemo } from 'react';
import { benchmarkQuery, imageList, readinessQuery, taskCountQuery } from '../../../queries/benchmarks.ts';
import { listQuery } from '../../../queries/lists/list-query.ts';
import { benchmarkActions, benchmarks } from '../../../resources/benchmarks.ts';
import { runs } from '../../../resources/runs.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { useAdvise } from '../list/advice.ts';
import { useListProps } from '../list/list-view.tsx';
import { ResourceList } from '../list/resource-list.tsx';
import { useActions } from '../record/use-actions.tsx';
import { useRunList } from '../runs/use-run-list.ts';
import { imageLines, readinessLines, taskLines } from './readiness.ts';

const evaluates = { command: benchmarkActions.evaluate, words: 'evaluates a model on this benchmark' };

export function BenchmarkView({ place }: ViewProps<'record'>) {
  const benchId = place.id;
  const pane = usePane('main');
  const theme = useTheme();
  const benchmark = useLive(benchmarkQuery(benchId), pane.attention);
  const readiness = useLive(readinessQuery(benchId), pane.attention);
  const images = useLive(listQuery(useWorkbench(), imageList(benchId)), pane.attention);
  const tasks = useLive(taskCountQuery(benchId), pane.attention);
  const source = useMemo(() => runs.list({ benchmark: benchId }), [benchId]);
  const benchmarkBindings = useActions(benchmarks);
  const advise = useAdvise();
  const shown = benchmark.data ?? { bench_id: benchId, label: place.label };

  const lines = [
    theme.styles.title(truncate(sanitiseLine(shown.label ?? benchId), pane.width - 2)),
    ...(shown.description ? [truncate(sanitiseLine(shown.description), pane.width - 2)] : []),
    ...readinessLines(readiness.data, pane.width - 2, theme, advise),
    ...taskLines(tasks.data, theme),
    ...imageLines(images.data, theme),
    '',
  ];
  return (
    <ResourceList
      {...useListProps(runs, evaluates)}
      {...useRunList(true)}
      source={source}
      header={lines}
      texts={{ scope: { benchmark: benchId }, label: shown.label ?? benchId }}
      bindings={benchmarkBindings([shown])}
      whole={{
        json: shown,
        pin: { kind: 'benchmark', id: benchId, label: shown.label ?? benchId },
      }}
    />
  );
}
