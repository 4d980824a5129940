/** The optional columns of rollouts. */
import { expect, it } from 'vitest';
import type { Trajectory } from '../../src/contract/trajectories.ts';
import { equalColumns, fitColumns } from '../../src/present/column.ts';
import { trajectories } from '../../src/resources/trajectories.ts';

const shown = (rows: readonly Trajectory[], room: number): readonly string[] => {
  const { columns } = trajectories;
  const equal = new Set(equalColumns(columns, rows).map(({ id }) => id));
  return fitColumns(columns, room, {}, rows, new Map(), equal).map(({ column }) => column.id);
};

it('leave out errors if no rollout has one (issue 18)', () => {
  const rows = [1, 2, 3].map(index => ({
    ...{ trajectory_id: `traj_${index}`, task_id: `task-${index}`, reward: index / 4, num_steps: index },
    ...{ status: 'completed', termination_reason: 'ENV_DONE', error: null },
  }));
  expect(shown(rows, 100)).not.toContain('error');
  const failed = { trajectory_id: 'traj_4', task_id: 'task-4', termination_reason: 'ERROR', error: 'out of memory' };
  expect(shown([...rows, failed], 100)).toContain('error');
});
