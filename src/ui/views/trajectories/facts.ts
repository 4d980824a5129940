/** What the inspector says of a trajectory, and where it opens. */
import type { Trajectory } from '../../../contract/trajectories.ts';
import { rememberedAt } from '../../../queries/remembered/listing.ts';
import { reward } from '../../../text/numbers.ts';
import type { Location } from '../../navigation/location.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf, agoOf } from '../shared/ages.ts';

export function trajectoryFacts(trajectory: Trajectory): readonly Fact[] {
  return [
    { label: 'task', value: trajectory.task_id },
    { label: 'id', value: trajectory.trajectory_id },
    { label: 'status', value: trajectory.status },
    { label: 'reward', value: reward(trajectory.reward) },
    { label: 'steps', value: trajectory.num_steps },
    { label: 'error', value: trajectory.error },
    { label: 'model', value: trajectory.model_id },
    { label: 'dataset', value: trajectory.dataset_name },
    { label: 'source', value: trajectory.source },
    { label: 'trace', value: trajectory.trace_id },
    { label: 'created', value: ageOf(trajectory.created_at) },
    { label: 'seen', value: agoOf(rememberedAt(trajectory)) },
    { label: 'stored', value: trajectory.gcs_blob_uri },
  ];
}

export function trajectoryPlace(trajectory: Trajectory): Location {
  return {
    view: 'trajectory',
    params: {
      trajectory_id: trajectory.trajectory_id,
      ...(trajectory.task_id ? { task: trajectory.task_id } : {}),
    },
  };
}
