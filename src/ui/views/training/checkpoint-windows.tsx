/** The forms that evaluate, deploy and continue a checkpoint: the one chosen, or the newest of its run. */
import { benchmarkQuery } from '../../../queries/benchmarks.ts';
import { lastCheckpoint, lastDeployable } from '../../../queries/training.ts';
import { benchmarkActions } from '../../../resources/benchmarks.ts';
import type { CheckpointSource } from '../../../resources/training.ts';
import type { Service } from '../../../workbench/workbench.ts';
import { useLive } from '../../data/use-live.ts';
import type { ActionWindowProps } from '../../windows/choice-window.tsx';
import { StartRunWindow } from '../benchmarks/start-run.tsx';
import { DeployWindow } from '../deployments/deploy.tsx';

type WindowProps = ActionWindowProps<CheckpointSource>;

const labelOf = (run: CheckpointSource): string => run.display_name ?? run.training_run_id;

const idOf =
  ({ checkpoint, training_run_id }: CheckpointSource) =>
  async (service: Service): Promise<string> =>
    checkpoint?.checkpoint_id ?? lastCheckpoint(service, training_run_id);

/** Evaluates the checkpoint on the benchmark of its run. */
export function EvaluateCheckpointWindow({ row: run, onClose }: WindowProps) {
  const benchId = run.bench_id ?? '';
  const benchmark = useLive(benchmarkQuery(benchId), 'visible');
  return (
    <StartRunWindow
      start={benchmarkActions.evaluate.sends}
      row={benchmark.data ?? { bench_id: benchId }}
      checkpoint={idOf(run)}
      model={run.base_model_slug ?? undefined}
      name={run.display_name ?? undefined}
      onClose={onClose}
    />
  );
}

export function DeployCheckpointWindow({ row: run, onClose }: WindowProps) {
  return (
    <DeployWindow
      name={labelOf(run)}
      checkpoint={service => lastDeployable(service, run.training_run_id)}
      given={run.checkpoint?.checkpoint_id}
      onClose={onClose}
    />
  );
}

export function ContinueWindow({ row: run, onClose }: WindowProps) {
  return (
    <StartRunWindow
      start={benchmarkActions.train.sends}
      row={{ bench_id: run.bench_id ?? '', label: labelOf(run) }}
      checkpoint={idOf(run)}
      onClose={onClose}
    />
  );
}
