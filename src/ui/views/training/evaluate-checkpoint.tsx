/** The form that evaluates a checkpoint on its own benchmark. */
import type { TrainingRun } from '../../../contract/training.ts';
import { benchmarkQuery } from '../../../queries/benchmarks.ts';
import { useLive } from '../../../queries/use-live.ts';
import type { Service } from '../../../queries/workbench.tsx';
import { EvaluateWindow } from '../benchmarks/evaluate.tsx';
import { useCheckpoint } from '../shared/use-checkpoint.tsx';
import { NoticeWindow } from '../shared/windows.tsx';

export interface EvaluateCheckpointProps {
  readonly run: TrainingRun;
  readonly checkpoint: (service: Service) => Promise<string>;
  readonly onClose: () => void;
}

export function EvaluateCheckpointWindow({ run, checkpoint, onClose }: EvaluateCheckpointProps) {
  const benchId = run.bench_id ?? '';
  const found = useCheckpoint(checkpoint);
  const benchmark = useLive(benchmarkQuery(benchId), 'visible');
  if (found.kind !== 'known') {
    const error = found.kind === 'failed' ? found.error : undefined;
    return <NoticeWindow title="Evaluate a checkpoint" error={error} onClose={onClose} />;
  }
  return (
    <EvaluateWindow
      benchmark={benchmark.data ?? { bench_id: benchId }}
      checkpoint={{ id: found.id, model: run.base_model_slug ?? undefined, name: run.display_name ?? undefined }}
      onClose={onClose}
    />
  );
}
