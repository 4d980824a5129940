/** The benchmarks of the organization. */
import { Box } from 'ink';
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { benchmarkList, readinessQuery } from '../../../queries/benchmarks.ts';
import { useLive } from '../../../queries/use-live.ts';
import type { Pane } from '../../app/panes.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { Fact } from '../../widgets/facts.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { ageOf } from '../shared/ages.ts';
import { faultLines } from '../shared/fault-note.tsx';
import { Lines } from '../shared/lines.tsx';
import { ResourceList } from '../shared/resource-list.tsx';
import { StartBenchmarkUpload } from '../uploads/start-benchmark.tsx';
import { benchmarkColumns } from './columns.ts';
import { benchmarkCommands } from './commands.ts';
import { readinessLines } from './readiness.ts';
import { useBenchmarkActions } from './use-benchmark-actions.tsx';

export function benchmarkFacts(benchmark: Benchmark): readonly Fact[] {
  return [
    { label: 'name', value: benchmark.label },
    { label: 'id', value: benchmark.bench_id },
    { label: 'family', value: benchmark.family },
    { label: 'visibility', value: benchmark.visibility },
    { label: 'runs', value: benchmark.eval_run_count ?? 0 },
    { label: 'created', value: ageOf(benchmark.created_at) },
    { label: 'updated', value: ageOf(benchmark.updated_at) },
    { label: 'about', value: benchmark.description },
  ];
}

/** Whether the benchmark can be launched, kept live while it is in the inspector. */
function ReadinessNote({ benchId, pane }: { benchId: string; pane: Pane }) {
  const theme = useTheme();
  const readiness = useLive(readinessQuery(benchId), 'visible');
  const lines =
    readiness.data || !readiness.fault
      ? readinessLines(readiness.data, theme)
      : faultLines(readiness.fault, pane.width, theme);
  return (
    <Box marginTop={1}>
      <Lines lines={lines} width={pane.width} height={Math.max(0, Math.min(lines.length, pane.height - 1))} />
    </Box>
  );
}

export function BenchmarksView() {
  const shell = useShell();
  const actions = useBenchmarkActions();
  return (
    <ResourceList
      source={benchmarkList}
      columns={benchmarkColumns}
      emptyWords="No benchmarks yet: u uploads one"
      open={row => ({ view: 'benchmark', params: { bench_id: row.bench_id, label: row.label ?? row.bench_id } })}
      facts={benchmarkFacts}
      details={(row, pane) => row && <ReadinessNote key={row.bench_id} benchId={row.bench_id} pane={pane} />}
      bindings={[
        {
          command: benchmarkCommands.upload,
          run: () => shell.showOverlay({ id: 'upload', render: close => <StartBenchmarkUpload onClose={close} /> }),
        },
      ]}
      pin={row => ({ kind: 'benchmark', id: row.bench_id, label: row.label ?? row.bench_id })}
      actions={actions}
    />
  );
}
