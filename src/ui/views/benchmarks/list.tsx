/** The benchmarks of the organization. */
import { Box } from 'ink';
import { readinessQuery } from '../../../queries/benchmarks.ts';
import { useLive } from '../../../queries/use-live.ts';
import { benchmarkCommands, benchmarks } from '../../../resources/benchmarks.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Pane } from '../../app/view.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { useAdvise } from '../shared/advice.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Lines } from '../shared/lines.tsx';
import { ResourceListView } from '../shared/resource-views.tsx';
import { readinessLines } from './readiness.ts';
import { useBenchmarkActions } from './use-benchmark-actions.tsx';

const StartBenchmarkUpload = lazyWindow(
  async () => (await import('../uploads/start-benchmark.tsx')).StartBenchmarkUpload,
);

/** Whether the benchmark can be launched, kept live while it is in the inspector. */
function ReadinessNote({ benchId, pane }: { benchId: string; pane: Pane }) {
  const theme = useTheme();
  const readiness = useLive(readinessQuery(benchId), 'visible');
  const advise = useAdvise();
  const height = Math.max(0, pane.height - 1);
  const lines = readinessLines(readiness.data, theme, advise);
  return (
    <Box marginTop={1}>
      {readiness.error && !readiness.data ? (
        <ErrorNote error={readiness.error} width={pane.width} height={height} />
      ) : (
        <Lines lines={lines} width={pane.width} height={Math.min(lines.length, height)} />
      )}
    </Box>
  );
}

export function BenchmarksView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  const actions = useBenchmarkActions();
  return (
    <ResourceListView
      resource={benchmarks}
      place={place}
      details={(row, pane) => row && <ReadinessNote key={row.bench_id} benchId={row.bench_id} pane={pane} />}
      bindings={[
        {
          command: benchmarkCommands.upload,
          run: () => shell.showOverlay({ id: 'upload', render: close => <StartBenchmarkUpload onClose={close} /> }),
        },
      ]}
      actions={actions}
    />
  );
}
