/** One benchmark: whether it can be launched, and its evaluation runs. */
import { useMemo } from 'react';
import { benchmarkQuery, imagesQuery, readinessQuery } from '../../../queries/benchmarks.ts';
import { runsOfBenchmark } from '../../../queries/evaluations.ts';
import { useLive } from '../../../queries/use-live.ts';
import { benchmarkCommands } from '../../../resources/benchmarks.ts';
import { runColumns, runFacts } from '../../../resources/runs.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { usePane } from '../../app/panes.tsx';
import type { ViewProps } from '../../app/view-definition.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { useRunActions } from '../runs/use-run-actions.tsx';
import { useAdvise } from '../shared/advice.ts';
import { Lines } from '../shared/lines.tsx';
import { runPlace } from '../shared/places.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { readinessLines } from './readiness.ts';
import { useBenchmarkActions } from './use-benchmark-actions.tsx';

export function BenchmarkView({ location }: ViewProps) {
  const benchId = location.params['bench_id'] ?? '';
  const pane = usePane('main');
  const theme = useTheme();
  const benchmark = useLive(benchmarkQuery(benchId), pane.attention);
  const readiness = useLive(readinessQuery(benchId), pane.attention);
  const images = useLive(imagesQuery(benchId), pane.attention);
  const source = useMemo(() => runsOfBenchmark(benchId), [benchId]);
  const benchmarkActions = useBenchmarkActions();
  const runActions = useRunActions();
  const advise = useAdvise();
  const shown = benchmark.data ?? { bench_id: benchId, label: location.params['label'] };

  const built = images.data?.images.filter(image => image.build_status === 'ready').length;
  const lines = [
    theme.styles.title(truncate(sanitiseLine(shown.label ?? benchId), pane.width - 2)),
    ...(shown.description ? [truncate(sanitiseLine(shown.description), pane.width - 2)] : []),
    ...readinessLines(readiness.data, theme, advise),
    ...(images.data ? [theme.styles.muted(`images ${built}/${images.data.images.length} ready`)] : []),
    '',
  ].map(line => ` ${line}`);
  return (
    <ResourceList
      source={source}
      columns={runColumns}
      emptyWords="No runs yet"
      emptyAdvice={{ command: benchmarkCommands.evaluate, words: 'evaluates a model on this benchmark' }}
      open={runPlace}
      facts={runFacts}
      header={{ height: lines.length, node: <Lines lines={lines} width={pane.width} height={lines.length} /> }}
      bindings={benchmarkActions([shown])}
      thing={{
        id: benchId,
        json: shown,
        pin: { kind: 'benchmark', id: benchId, label: shown.label ?? benchId },
        siblings: 'benchmark',
      }}
      actions={runActions}
    />
  );
}
