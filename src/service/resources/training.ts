/** Training runs: progress, and what a service may offer beyond: start, records, curves, checkpoints. */
import { randomUUID } from 'node:crypto';
import { trainingEndpoints as endpoints, type StartTrainingBody } from '../../contract/training.ts';
import type { Calls } from '../caller.ts';
import type { CallOptions, StartOptions } from '../options.ts';

export function trainingResource(caller: Calls) {
  const ofRun = (runId: string) => ({ params: { training_run_id: runId } });
  return {
    progress: (runId: string, options?: CallOptions) =>
      caller.call(endpoints.getTrainingProgress, ofRun(runId), options),
    start: (body: StartTrainingBody, options: StartOptions = {}) =>
      caller.call(
        endpoints.startTraining,
        { body },
        { ...options, idempotencyKey: options.idempotencyKey ?? randomUUID() },
      ),
    listRuns: (benchId: string, options?: CallOptions) =>
      caller.call(endpoints.listTrainingRuns, { params: { bench_id: benchId } }, options),
    get: (runId: string, options?: CallOptions) => caller.call(endpoints.getTrainingRun, ofRun(runId), options),
    cancel: (runId: string, options?: CallOptions) => caller.call(endpoints.cancelTraining, ofRun(runId), options),
    /** Deletes a finished run. */
    delete: (runId: string, options?: CallOptions) => caller.call(endpoints.deleteTrainingRun, ofRun(runId), options),
    checkpoints: (runId: string, options?: CallOptions) =>
      caller.call(endpoints.listCheckpoints, ofRun(runId), options),
    checkpoint: (runId: string, stepIndex: number, options?: CallOptions) =>
      caller.call(
        endpoints.getCheckpoint,
        { params: { training_run_id: runId, step_index: String(stepIndex) } },
        options,
      ),
    /** Mean reward of the trainer's own rollouts, by step. */
    trainerRewards: (runId: string, options?: CallOptions) =>
      caller.call(endpoints.getTrainerRewards, ofRun(runId), options),
    /** Mean reward on the held-out split, by step, with the samples it is a mean of. */
    heldOutRewards: (runId: string, options?: CallOptions) =>
      caller.call(endpoints.getHeldOutRewards, ofRun(runId), options),
    /** Rewards of the rollouts of one step. */
    stepRewards: (runId: string, step: number, options?: CallOptions) =>
      caller.call(
        endpoints.getStepTrajectoryRewards,
        { params: { training_run_id: runId, step: String(step) } },
        options,
      ),
    /** The options that the start of a run takes. */
    options: (options?: CallOptions) => caller.call(endpoints.getTrainingOptions, {}, options),
  };
}
