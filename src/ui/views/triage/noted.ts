/** Trajectories and runs as subjects of notes. */
import type { EvalRun } from '../../../contract/evaluations.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import type { Noted } from '../../../workbench/notes.ts';

export const trajectoryNoted = ({
  trajectory_id: id,
  task_id,
}: Pick<Trajectory, 'trajectory_id'> & Partial<Pick<Trajectory, 'task_id'>>): Noted => ({
  kind: 'trajectory',
  id,
  label: task_id ?? id,
});

export const runId = ({ eval_run_id }: EvalRun): string => eval_run_id;

export const runNoted = ({ eval_run_id: id, display_name }: EvalRun): Noted => ({
  kind: 'run',
  id,
  label: display_name ?? id,
});
