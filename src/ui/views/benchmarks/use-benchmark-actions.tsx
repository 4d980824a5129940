/** The actions of a benchmark, wherever it is shown. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { benchmarkKeys } from '../../../queries/benchmarks.ts';
import { useAction } from '../../../queries/use-action.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { benchmarkCommands } from './commands.ts';
import { EvaluateWindow } from './evaluate.tsx';

export function useBenchmarkActions(): (benchmarks: readonly Benchmark[]) => readonly Binding[] {
  const shell = useShell();
  const build = useAction<readonly unknown[]>();
  return benchmarks => {
    const [benchmark] = benchmarks;
    const label = benchmarks.length > 1 ? `${benchmarks.length} benchmarks` : (benchmark?.label ?? benchmark?.bench_id);
    const buildAll = async (): Promise<void> => {
      const built = await build.start(
        service => Promise.all(benchmarks.map(({ bench_id }) => service.benchmarks.buildImages(bench_id))),
        [benchmarkKeys.all],
      );
      if (built) shell.toast({ kind: 'success', text: `Building the images of ${label}` });
      else
        shell.toast({ kind: 'danger', text: `The builds of ${label} could not be started; r shows where they stand` });
    };
    return [
      {
        command: benchmarkCommands.evaluate,
        enabled: benchmark !== undefined && benchmarks.length === 1,
        run: () =>
          benchmark &&
          shell.showOverlay({
            id: 'evaluate',
            render: close => <EvaluateWindow benchmark={benchmark} onClose={close} />,
          }),
      },
      { command: benchmarkCommands.build, enabled: benchmark !== undefined, run: () => void buildAll() },
    ];
  };
}
