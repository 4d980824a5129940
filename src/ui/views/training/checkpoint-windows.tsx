/** The forms that evaluate, deploy and continue a checkpoint: the chosen one, or its run's newest. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { benchmarkQuery } from '../../../queries/benchmarks.ts';
import { lastCheckpoint, lastDeployable } from '../../../queries/checkpoints.ts';
import { benchmarkActions } from '../../../resources/benchmarks.ts';
import type { CheckpointSource } from '../../../resources/training.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useLives } from '../../data/use-live.ts';
import { type ActionWindowProps, LoadingWindow } from '../../windows/choice-window.tsx';
import { StartRunWindow } from '../benchmarks/start-run.tsx';
import { DeployWindow } from '../deployments/deploy.tsx';
import type { FindCheckpoint } from './checkpoint-field.ts';

type WindowProps = ActionWindowProps<CheckpointSource>;

const checkpointOf =
  ({ checkpoint, training_run_id }: CheckpointSource): FindCheckpoint =>
  async service =>
    checkpoint ?? lastCheckpoint(service, training_run_id);

/** The runs' benchmarks, for naming new runs; undefined until each has been read or has failed. */
function useBenchmarks(runs: readonly CheckpointSource[]): readonly Benchmark[] | undefined {
  const ids = [...new Set(runs.map(({ bench_id }) => bench_id ?? ''))];
  const answers = useLives(ids.map(benchmarkQuery), 'visible');
  if (answers.some(({ data, error }) => !data && !error)) return undefined;
  return runs.map(({ bench_id }) => answers[ids.indexOf(bench_id ?? '')]?.data ?? { bench_id: bench_id ?? '' });
}

/** Evaluates each checkpoint on its run's benchmark. */
export function EvaluateCheckpointWindow({ row: run, rows = [run], onClose }: WindowProps) {
  const benchmarks = useBenchmarks(rows);
  const [benchmark] = benchmarks ?? [];
  if (!benchmarks || !benchmark) return <LoadingWindow title="Evaluate" onClose={onClose} />;
  const shared = { start: benchmarkActions.evaluate.sends, row: benchmark, onClose };
  const models = new Set(rows.map(each => each.base_model_slug ?? undefined));
  const model = models.size === 1 ? (run.base_model_slug ?? undefined) : undefined;
  if (rows.length === 1) return <StartRunWindow {...shared} checkpoint={checkpointOf(run)} model={model} run={run} />;
  const several = rows.flatMap((each, index) => {
    const on = benchmarks[index];
    return on ? [{ run: each, checkpoint: each.checkpoint, benchmark: on }] : [];
  });
  return <StartRunWindow {...shared} model={model} several={several} />;
}

export function DeployCheckpointWindow({ row: run, onClose }: WindowProps) {
  const { toast } = useShell();
  const note = (text: string): void => toast({ kind: 'warning', text });
  return (
    <DeployWindow
      run={run}
      checkpoint={async service => run.checkpoint ?? lastDeployable(service, run.training_run_id, note)}
      onClose={onClose}
    />
  );
}

export function ContinueWindow({ row: run, onClose }: WindowProps) {
  const [benchmark] = useBenchmarks([run]) ?? [];
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
