/** The actions of a benchmark, shared by all views. */

import type { Benchmark } from '../../../contract/benchmarks.ts';
import { readinessQuery } from '../../../queries/benchmarks.ts';
import { useLastAnswer } from '../../../queries/use-workbench.ts';
import { benchmarkCommands, images } from '../../../resources/benchmarks.ts';
import { listPlace, type Resource } from '../../../resources/define.ts';
import { training } from '../../../resources/training.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';

const BuildWindow = lazyWindow(async () => (await import('./build.tsx')).BuildWindow);
const CreateSecretWindow = lazyWindow(async () => (await import('../secrets.tsx')).CreateSecretWindow);
const EvaluateWindow = lazyWindow(async () => (await import('./evaluate.tsx')).EvaluateWindow);
const TrainWindow = lazyWindow(async () => (await import('../training/train.tsx')).TrainWindow);

export function useBenchmarkActions(): (benchmarks: readonly Benchmark[]) => readonly Binding[] {
  const shell = useShell();
  const known = useLastAnswer();
  return benchmarks => {
    const [first] = benchmarks;
    const benchmark = benchmarks.length === 1 ? first : undefined;
    const name = (each: Benchmark): string => each.label ?? each.bench_id;
    /** As last read; undefined before. */
    const readiness = () => benchmark && known(readinessQuery(benchmark.bench_id));
    const missing = (): string | undefined => readiness()?.missing_secret_names?.[0];
    const open = (resource: Pick<Resource, 'names'>) => (): void => {
      if (benchmark) shell.open(listPlace(resource, { benchmark: benchmark.bench_id }, name(benchmark)));
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
        enabled: benchmark !== undefined && (readiness() === undefined || missing() !== undefined),
        run: () => {
          const secret = missing();
          if (secret === undefined) shell.toast({ kind: 'info', text: 'No secret is missing' });
          else {
            shell.showOverlay({
              id: 'secret',
              render: close => <CreateSecretWindow name={secret} onClose={close} />,
            });
          }
        },
      },
      { command: benchmarkCommands.images, enabled: benchmark !== undefined, run: open(images) },
      { command: benchmarkCommands.trainings, enabled: benchmark !== undefined, run: open(training) },
    ];
  };
}
