/** Evaluation runs: start, progress, statistics, rewards, cancel, delete. */
import { randomUUID } from 'node:crypto';
import { evaluationEndpoints as endpoints, type StartEvalBody } from '../../contract/evaluations.ts';
import type { Calls } from '../caller.ts';
import type { CallOptions, StartOptions } from '../options.ts';

export function evaluationResource(caller: Calls) {
  const ofRun = (runId: string) => ({ params: { eval_run_id: runId } });
  return {
    /** Starts a run of a model or checkpoint against a benchmark. */
    start: (benchId: string, body: StartEvalBody, options: StartOptions = {}) =>
      caller.call(
        endpoints.startEval,
        { params: { bench_id: benchId }, body },
        { ...options, idempotencyKey: options.idempotencyKey ?? randomUUID() },
      ),
    statistics: (runId: string, options?: CallOptions) =>
      caller.call(endpoints.getRolloutStatistics, ofRun(runId), options),
    rewards: (runId: string, options?: CallOptions) =>
      caller.call(endpoints.getTrajectoryRewards, ofRun(runId), options),
    delete: (benchId: string, runId: string, options?: CallOptions) =>
      caller.call(endpoints.deleteEvalRun, { params: { bench_id: benchId, eval_run_id: runId } }, options),
    listRuns: (benchId: string, options?: CallOptions) =>
      caller.call(endpoints.listEvalRuns, { params: { bench_id: benchId } }, options),
    get: (runId: string, options?: CallOptions) => caller.call(endpoints.getEvalRun, ofRun(runId), options),
    progress: (runId: string, options?: CallOptions) => caller.call(endpoints.getEvalProgress, ofRun(runId), options),
    cancel: (runId: string, options?: CallOptions) => caller.call(endpoints.cancelEval, ofRun(runId), options),
  };
}
