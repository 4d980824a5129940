/** Chooses the run to compare with. */
import type { EvalRun } from '../../../contract/evaluations.ts';
import { agoOf, instant } from '../../../present/times.ts';
import { runsOfBenchmark } from '../../../queries/evaluations.ts';
import { useList } from '../../../queries/use-list.ts';
import { reward } from '../../../text/numbers.ts';
import { ChoiceWindow } from '../shared/windows.tsx';

export interface CompareWindowProps {
  readonly run: EvalRun;
  readonly benchId: string;
  readonly onChoose: (run: EvalRun) => void;
  readonly onClose: () => void;
}

export function CompareWindow({ run, benchId, onChoose, onClose }: CompareWindowProps) {
  const runs = useList(runsOfBenchmark(benchId), 'visible');
  const others = runs.rows.filter(each => each.eval_run_id !== run.eval_run_id);
  return (
    <ChoiceWindow
      title="Compare it with"
      waiting={!runs.loaded && !runs.error}
      choices={others.map(each => ({
        key: each.eval_run_id,
        label: `${each.display_name ?? each.eval_run_id}  ${reward(each.reward_mean)}  ${agoOf(instant(each.created_at))}`,
        value: each,
      }))}
      emptyWords="The benchmark has no other run."
      onChoose={onChoose}
      onClose={onClose}
    />
  );
}
