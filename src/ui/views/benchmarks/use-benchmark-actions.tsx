/** The actions of a benchmark, wherever it is shown. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { readinessQuery } from '../../../queries/benchmarks.ts';
import { useKnown } from '../../../queries/use-known.ts';
import { benchmarkCommands } from '../../../resources/benchmarks.ts';
import { lateWindow } from '../../app/late.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';

const BuildWindow = lateWindow(async () => (await import('./build.tsx')).BuildWindow);
const CreateSecretWindow = lateWindow(async () => (await import('../secrets/create.tsx')).CreateSecretWindow);
const EvaluateWindow = lateWindow(async () => (await import('./evaluate.tsx')).EvaluateWindow);
const TrainWindow = lateWindow(async () => (await import('../training/train.tsx')).TrainWindow);

export function useBenchmarkActions(): (benchmarks: readonly Benchmark[]) => readonly Binding[] {
  const shell = useShell();
  const known = useKnown();
  return benchmarks => {
    const [first] = benchmarks;
    const benchmark = benchmarks.length === 1 ? first : undefined;
    const name = (each: Benchmark): string => each.label ?? each.bench_id;
    const missing = (): string | undefined =>
      benchmark && known(readinessQuery(benchmark.bench_id))?.missing_secret_names?.[0];
    const open = (view: string) => (): void => {
      if (benchmark) shell.open({ view, params: { bench_id: benchmark.bench_id, label: name(benchmark) } });
    };
    return [
      {
        command: benchmarkCommands.evaluate,
        enabled: benchmark !== undefined,
        run: () =>
          benchmark &&
          shell.showOverlay({
            id: 'evaluate',
            render: close => <EvaluateWindow benchmark={benchmark} onClose={close} />,
          }),
      },
      {
        command: benchmarkCommands.train,
        enabled: benchmark !== undefined,
        run: () =>
          benchmark &&
          shell.showOverlay({
            id: 'train',
            render: close => <TrainWindow benchId={benchmark.bench_id} label={name(benchmark)} onClose={close} />,
          }),
      },
      {
        command: benchmarkCommands.build,
        enabled: benchmarks.length > 0,
        run: () =>
          shell.showOverlay({
            id: 'confirm',
            render: close => <BuildWindow benchmarks={benchmarks} onClose={close} />,
          }),
      },
      {
        command: benchmarkCommands.secret,
        enabled: benchmark !== undefined,
        run: () => {
          const secret = missing();
          if (secret === undefined) shell.toast({ kind: 'info', text: 'This benchmark misses no secret' });
          else {
            shell.showOverlay({
              id: 'secret',
              render: close => <CreateSecretWindow name={secret} onClose={close} />,
            });
          }
        },
      },
      { command: benchmarkCommands.images, enabled: benchmark !== undefined, run: open('images') },
      { command: benchmarkCommands.trainings, enabled: benchmark !== undefined, run: open('benchmark-training') },
    ];
  };
}
