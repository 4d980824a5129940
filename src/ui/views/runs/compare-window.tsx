/** Chooses the run to compare with. */
import type { EvalRun } from '../../../contract/evaluations.ts';
import { agoOf, instant } from '../../../present/times.ts';
import { runsOfBenchmark } from '../../../queries/evaluations.ts';
import { meanOfRun } from '../../../resources/measured-run.ts';
import { comparePlace } from '../../../resources/runs.ts';
import { clean } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useList } from '../../data/use-list.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { type ActionWindowProps, ChoiceWindow } from '../../windows/choice-window.tsx';

export function CompareWindow({ row: run, onClose }: ActionWindowProps<EvalRun>) {
  const shell = useShell();
  const { remembered } = useWorkbench();
  const runs = useList(runsOfBenchmark(run.bench_id ?? ''), 'visible');
  const others = runs.rows.filter(each => each.eval_run_id !== run.eval_run_id);
  return (
    <ChoiceWindow
      title="Compare with"
      waiting={!runs.loaded && !runs.error}
      choices={others.map(each => ({
        key: each.eval_run_id,
        label: clean`${each.display_name ?? each.eval_run_id}  ${meanOfRun(each)}  ${agoOf(instant(each.created_at))}`,
        value: each,
      }))}
      emptyWords="This benchmark has no other run."
      onChoose={chosen => shell.open(comparePlace(run, chosen, remembered))}
      onClose={onClose}
    />
  );
}
