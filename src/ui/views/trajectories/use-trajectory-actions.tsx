/** The actions of a trajectory, wherever it is shown. */
import { hasEnded } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { trajectoryCommands } from '../../../resources/trajectories.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { CompleteWindow, LogRewardWindow } from './reward.tsx';

export function useTrajectoryActions(): (trajectories: readonly Trajectory[]) => readonly Binding[] {
  const shell = useShell();
  return trajectories => {
    const one = trajectories.length === 1 ? trajectories[0] : undefined;
    // What has ended takes neither rewards nor another end: the service refuses both.
    const enabled = one !== undefined && !hasEnded(one.status);
    const show = (Content: typeof LogRewardWindow) => () =>
      one &&
      shell.showOverlay({
        id: 'reward',
        render: close => <Content trajectoryId={one.trajectory_id} onClose={close} />,
      });
    return [
      { command: trajectoryCommands.reward, enabled, run: show(LogRewardWindow) },
      { command: trajectoryCommands.complete, enabled, run: show(CompleteWindow) },
    ];
  };
}
