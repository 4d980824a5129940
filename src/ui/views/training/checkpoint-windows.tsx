/** The forms that evaluate, deploy and continue a checkpoint: the chosen one, or the newest of its run. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { benchmarkQuery } from '../../../queries/benchmarks.ts';
import { lastCheckpoint, lastDeployable } from '../../../queries/training.ts';
import { benchmarkActions } from '../../../resources/benchmarks.ts';
import type { CheckpointSource } from '../../../resources/training.ts';
import { useLive } from '../../data/use-live.ts';
import { type ActionWindowProps, LoadingWindow } from '../../windows/choice-window.tsx';
import { StartRunWindow } from '../benchmarks/start-run.tsx';
import { DeployWindow } from '../deployments/deploy.tsx';
import type { FindCheckpoint } from './use-checkpoint.ts';

type WindowProps = ActionWindowProps<CheckpointSource>;

const checkpointOf =
  ({ checkpoint, training_run_id }: CheckpointSource): FindCheckpoint =>
  async service =>
    checkpoint ?? lastCheckpoint(service, training_run_id);

/** The benchmark of a run, whose label the names of new runs need; undefined until its read succeeds or fails. */
function useBenchmark({ bench_id }: CheckpointSource): Benchmark | undefined {
  const benchId = bench_id ?? '';
  const { data, error } = useLive(benchmarkQuery(benchId), 'visible');
  return data ?? (error && { bench_id: benchId });
}

/** Evaluates the checkpoint on the benchmark of its run. */
export function EvaluateCheckpointWindow({ row: run, onClose }: WindowProps) {
  const benchmark = useBenchmark(run);
  if (!benchmark) return <LoadingWindow title="Evaluate" onClose={onClose} />;
  return (
    <StartRunWindow
      start={benchmarkActions.evaluate.sends}
      row={benchmark}
      checkpoint={checkpointOf(run)}
      model={run.base_model_slug ?? undefined}
      run={run}
      onClose={onClose}
    />
  );
}

export function DeployCheckpointWindow({ row: run, onClose }: WindowProps) {
  return (
    <DeployWindow
      run={run}
      checkpoint={async service => run.checkpoint ?? lastDeployable(service, run.training_run_id)}
      onClose={onClose}
    />
  );
}

export function ContinueWindow({ row: run, onClose }: WindowProps) {
  const benchmark = useBenchmark(run);
  if (!benchmark) return <LoadingWindow title="Train" onClose={onClose} />;
  return (
    <StartRunWindow
      start={benchmarkActions.train.sends}
      row={benchmark}
      checkpoint={checkpointOf(run)}
      run={run}
      onClose={onClose}
    />
  );
}
