import { idPatterns } from '../../../contract/ids.ts';
import { trajectoryKeys } from '../../../queries/trajectories.ts';
import { trajectoryCommands } from '../../../resources/trajectories.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';
import { readerCommands } from './reader-commands.ts';

export const trajectoriesView: ViewDefinition = {
  name: 'trajectories',
  title: 'Trajectories',
  aliases: ['traj', 'trajectory', 't'],
  section: true,
  listKey: trajectoryKeys.list({}),
  crumb: params => params['name'] ?? params['dataset_name'] ?? 'Trajectories',
  component: lateView(async () => (await import('./list.tsx')).TrajectoriesView),
  commands: Object.values(trajectoryCommands),
};

export const trajectoryView: ViewDefinition = {
  name: 'trajectory',
  title: 'Trajectory',
  aliases: [],
  opens: { id: idPatterns.trajectory, param: 'trajectory_id' },
  under: 'trajectories',
  crumb: params => params['task'] ?? params['trajectory_id'] ?? 'Trajectory',
  component: lateView(async () => (await import('./trajectory.tsx')).TrajectoryView),
  commands: Object.values(readerCommands),
};
