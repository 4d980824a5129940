/** The list of benchmarks. */
import { Box } from 'ink';
import { readinessQuery } from '../../../queries/benchmarks.ts';
import { benchmarkCommands, benchmarks } from '../../../resources/benchmarks.ts';
import { labelOf } from '../../../resources/define.ts';
import { ErrorNote } from '../../app/error-note.tsx';
import { lazyWindow } from '../../app/lazy.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Pane } from '../../app/view.tsx';
import { useLive } from '../../data/use-live.ts';
import { useUnfinishedUploads } from '../../data/use-uploads.ts';
import { Lines } from '../../widgets/lines.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { describeUnfinished, useAdvise } from '../list/advice.ts';
import { ResourceListView } from '../list/list-view.tsx';
import { readinessLines } from './readiness.ts';

const StartBenchmarkUpload = lazyWindow(
  async () => (await import('../uploads/start-benchmark.tsx')).StartBenchmarkUpload,
);

/** The benchmark's readiness in the inspector, kept current. */
function ReadinessNote({ benchId, pane }: { benchId: string; pane: Pane }) {
  const theme = useTheme();
  const readiness = useLive(readinessQuery(benchId), 'visible');
  const advise = useAdvise();
  const height = Math.max(0, pane.height - 1);
  const lines = readinessLines(readiness.data, pane.width, theme, advise);
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
  const advise = useAdvise();
  const unfinished = useUnfinishedUploads();
  const [last] = unfinished;
  const upload = (folder?: string) => () =>
    shell.showOverlay('upload', close => <StartBenchmarkUpload folder={folder} onClose={close} />);
  return (
    <ResourceListView
      resource={benchmarks}
      place={place}
      texts={row => ({ scope: { benchmark: row.bench_id }, label: labelOf(benchmarks, row) })}
      details={(row, pane) => row && <ReadinessNote key={row.bench_id} benchId={row.bench_id} pane={pane} />}
      bindings={[
        { command: benchmarkCommands.upload, run: upload() },
        {
          command: benchmarkCommands.resume,
          why: last ? undefined : 'There is no unfinished upload',
          run: upload(last?.folder),
        },
      ]}
      notes={describeUnfinished(unfinished, ({ folder }) => folder, benchmarkCommands.resume, advise)}
    />
  );
}
