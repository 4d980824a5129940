/** Chooses the runs to overlay on another run's curves. */
import { useMemo } from 'react';
import { formatStatus } from '../../../contract/status.ts';
import type { TrainingRun } from '../../../contract/training.ts';
import { meanNote } from '../../../present/number-columns.ts';
import type { Range } from '../../../present/statistics/tasks.ts';
import type { HeldOutMeans } from '../../../queries/held-out.ts';
import { trainingRunsOf } from '../../../queries/training.ts';
import { ofTrainingRun } from '../../../resources/training.ts';
import { heldOutCell, intervalOfHeldOut } from '../../../resources/training-columns.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWholeList } from '../../data/use-list.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useRememberedState } from '../../navigation/memory.tsx';
import { ChoiceWindow } from '../../windows/choice-window.tsx';
import { type RunToChart, useChartedRuns } from './charted-runs.ts';

/** The runs overlaid on `run`, kept for when the user comes back to the view. */
export function useOverlaid(run: TrainingRun) {
  const shell = useShell();
  const [chosen, setChosen] = useRememberedState<readonly RunToChart[]>('overlaid', (kept = []) => kept);
  const toggle = (toggled: RunToChart): void =>
    setChosen(runs =>
      runs.some(({ id }) => id === toggled.id) ? runs.filter(({ id }) => id !== toggled.id) : [...runs, toggled],
    );
  const ids = new Set(chosen.map(({ id }) => id));
  return {
    overlaid: useChartedRuns(chosen, 'visible').runs,
    clear: () => setChosen([]),
    choose: {
      command: ofTrainingRun.overlay,
      enabled: run.bench_id != null,
      run: () =>
        shell.showOverlay('overlay', close => (
          <OverlayWindow run={run} chosen={ids} onChoose={toggle} onClose={close} />
        )),
    },
  };
}

interface OverlayWindowProps {
  readonly run: TrainingRun;
  /** The ids of the runs that are already overlaid. */
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (run: RunToChart) => void;
  readonly onClose: () => void;
}

/** `step 60  held-out 0.412  0.331..0.498  succeeded`; the held-out reward only if it has already been read. */
function noteOf({ status }: TrainingRun, measured: HeldOutMeans | null | undefined, range: Range): string {
  const { last } = measured ?? {};
  const heldOut = last && meanNote(last.step, `held-out ${heldOutCell(last)}`, intervalOfHeldOut(last, range));
  return [heldOut, status && formatStatus(status)].filter(Boolean).join('  ');
}

function OverlayWindow({ run, chosen, onChoose, onClose }: OverlayWindowProps) {
  const source = useMemo(() => trainingRunsOf(run.bench_id ?? ''), [run.bench_id]);
  const runs = useWholeList(source);
  const { statuses, compare } = useWorkbench();
  const others = runs.rows.filter(each => each.training_run_id !== run.training_run_id);
  return (
    <ChoiceWindow
      title="Overlay curves from"
      waiting={!runs.loaded && !runs.error}
      choices={others.map(each => {
        const { training_run_id: id, display_name, status } = each;
        return {
          key: id,
          label: `${chosen.has(id) ? 'remove: ' : ''}${display_name ?? id}`,
          note: noteOf(each, statuses.get({ kind: 'training', id })?.measured, compare.rewardRange),
          value: { id, name: display_name ?? id, status },
        };
      })}
      emptyText="This benchmark has no other training run."
      onChoose={onChoose}
      onClose={onClose}
    />
  );
}
