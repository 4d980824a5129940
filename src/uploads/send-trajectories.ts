/** Sends trajectories in one request. */
import type { AgentFields } from '../contract/generation.ts';
import type { UploadTrajectoriesResult } from '../contract/trajectories.ts';
import type { Service } from '../service/index.ts';
import type { CallOptions } from '../service/options.ts';

export interface TrajectoryBatch {
  readonly dataset: string;
  readonly trajectories: readonly Record<string, unknown>[];
  /** The owner; by default, the profile's agent. */
  readonly agent: AgentFields | undefined;
}

/** @throws ServiceError */
export function sendTrajectories(
  service: Service,
  { dataset, trajectories, agent }: TrajectoryBatch,
  options?: CallOptions,
): Promise<UploadTrajectoriesResult> {
  const body = { dataset, trajectories: [...trajectories], ...agent };
  return service.call('uploadTrajectories', { body }, options);
}
