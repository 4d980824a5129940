/** Chooses the run to compare with. */
import { useMemo } from 'react';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { meanNote } from '../../../present/number-columns.ts';
import type { Range } from '../../../present/statistics/tasks.ts';
import { agoOf, instant } from '../../../present/times.ts';
import { runsOfBenchmark } from '../../../queries/run-lists.ts';
import { intervalOfRun, type MeasuredRun, meanOfRun } from '../../../resources/measured-run.ts';
import { comparePlace } from '../../../resources/run-places.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWholeList } from '../../data/use-list.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { type ActionWindowProps, ChoiceWindow } from '../../windows/choice-window.tsx';
import { useMeans } from './use-means.ts';

/** `step 6  0.183  0.0915..0.312  2m ago` */
function noteOf(run: MeasuredRun, range: Range): string {
  const mean = meanNote(run.step, meanOfRun(run), intervalOfRun(run, range));
  return [mean, agoOf(instant(run.created_at))].filter(Boolean).join('  ');
}

interface RunChoiceProps extends Pick<ActionWindowProps<EvalRun>, 'onClose'> {
  readonly run: EvalRun;
  readonly onChoose: (chosen: EvalRun) => void;
}

/** Chooses another run of the same benchmark. */
export function RunChoice({ run, onChoose, onClose }: RunChoiceProps) {
  const source = useMemo(() => runsOfBenchmark(run.bench_id ?? ''), [run.bench_id]);
  const runs = useWholeList(source);
  const { rewardRange } = useWorkbench().compare;
  const others = useMeans()(runs.rows).filter(each => each.eval_run_id !== run.eval_run_id);
  return (
    <ChoiceWindow
      title="Compare with"
      waiting={!runs.loaded && !runs.error}
      choices={others.map(each => ({
        key: each.eval_run_id,
        label: each.display_name ?? each.eval_run_id,
        note: noteOf(each, rewardRange),
        value: each,
      }))}
      emptyText="This benchmark has no other run."
      onChoose={onChoose}
      onClose={onClose}
    />
  );
}

export function CompareWindow({ row: run, onClose }: ActionWindowProps<EvalRun>) {
  const shell = useShell();
  const { remembered } = useWorkbench();
  return (
    <RunChoice run={run} onChoose={chosen => shell.open(comparePlace(run, chosen, remembered))} onClose={onClose} />
  );
}
