/** Trajectories: upload, detail, rewards, completion, lists. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod/mini';
import {
  type completeTrajectoryBody,
  trajectoryEndpoints as endpoints,
  type LogRewardBody,
  type TrajectoryListQuery,
  type trajectoryQuery,
  type uploadTrajectoriesBody,
} from '../../contract/trajectories.ts';
import type { Calls } from '../caller.ts';
import { type CallOptions, muchData, type StartOptions, type TrajectoryOptions } from '../options.ts';
import { paginate } from '../pagination.ts';

export type TrajectoryQuery = z.input<typeof trajectoryQuery>;
export type UploadTrajectoriesBody = z.input<typeof uploadTrajectoriesBody>;
export type TerminationReason = z.input<typeof completeTrajectoryBody>['termination_reason'];

export function trajectoryResource(caller: Calls) {
  const list = (query: TrajectoryListQuery = {}, options?: CallOptions) =>
    caller.call(endpoints.listTrajectories, { query }, options);
  return {
    /** Uploads a batch into a dataset. Some may be refused: look at `partial_success` and each item's `failure`. */
    upload: (body: UploadTrajectoriesBody, options: StartOptions = {}) =>
      caller.call(
        endpoints.uploadTrajectories,
        { body },
        { ...muchData, ...options, idempotencyKey: options.idempotencyKey ?? randomUUID() },
      ),
    get: (trajectoryId: string, query: TrajectoryQuery = {}, options?: CallOptions) =>
      caller.call(
        endpoints.getTrajectory,
        { params: { trajectory_id: trajectoryId }, query },
        { ...muchData, ...options },
      ),
    /** Logs a reward. The same `reward_id` again is the same reward, so that a repeat is harmless. */
    logReward: (trajectoryId: string, body: LogRewardBody, options?: TrajectoryOptions) =>
      caller.call(endpoints.logReward, { params: { trajectory_id: trajectoryId }, body }, options),
    /** One page of the trajectories of a run or dataset, or of all. */
    list,
    listAll: (query: TrajectoryListQuery = {}, options?: CallOptions) => paginate(next => list(next, options), query),
    complete: (trajectoryId: string, reason: TerminationReason, options?: TrajectoryOptions) =>
      caller.call(
        endpoints.completeTrajectory,
        { params: { trajectory_id: trajectoryId }, body: { termination_reason: reason } },
        options,
      ),
  };
}
