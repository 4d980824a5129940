/** Chooses the run to overlay. */
import type { TrainingRun } from '../../../contract/training.ts';
import { trainingRunsOf } from '../../../queries/training.ts';
import { useList } from '../../data/use-list.ts';
import { ChoiceWindow } from '../../windows/choice-window.tsx';

export interface OverlayWindowProps {
  readonly run: TrainingRun;
  readonly onChoose: (run: TrainingRun) => void;
  readonly onClose: () => void;
}

export function OverlayWindow({ run, onChoose, onClose }: OverlayWindowProps) {
  const runs = useList(trainingRunsOf(run.bench_id ?? ''), 'visible');
  const others = runs.rows.filter(each => each.training_run_id !== run.training_run_id);
  return (
    <ChoiceWindow
      title="Overlay the curves of"
      waiting={!runs.loaded && !runs.error}
      choices={others.map(each => ({
        key: each.training_run_id,
        label: each.display_name ?? each.training_run_id,
        value: each,
      }))}
      emptyWords="This benchmark has no other training run."
      onChoose={onChoose}
      onClose={onClose}
    />
  );
}
