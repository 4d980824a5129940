/** Trajectories: detail and list. */
import type { TrajectoryListQuery } from '../../../contract/trajectories.ts';
import type { ServiceContext } from '../context.ts';
import { notFound } from '../errors.ts';
import type { Handlers } from '../handlers.ts';

export function trajectoryRoutes({ trajectories }: ServiceContext): Handlers {
  return {
    listTrajectories: call => trajectories.list(call.organizationId, call.query as TrajectoryListQuery),
    getTrajectory: call => {
      const id = call.params['trajectory_id'] ?? '';
      const { include_steps = true } = call.query as { include_steps?: boolean };
      const trajectory = trajectories.get(call.organizationId, id, include_steps);
      if (!trajectory) throw notFound('trajectory', id);
      return trajectory;
    },
  };
}
