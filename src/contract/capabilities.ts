/** Descriptions of the optional endpoints for users, who do not know operation names. */

const words: ReadonlyMap<string, string> = new Map([
  ['buildBenchmarkImages', 'build images'],
  ['listBenchmarkImages', "list a benchmark's images"],
  ['ingestBenchmark', 'ingest benchmarks'],
  ['getBenchmark', 'show single benchmarks'],
  ['deleteBenchmark', 'delete benchmarks'],
  ['countTasks', "count a benchmark's tasks"],
  ['startDeployment', 'start deployments'],
  ['promoteDeployment', 'promote deployments'],
  ['unpromoteDeployment', 'unpromote deployments'],
  ['getDeploymentSummary', 'count deployments'],
  ['deleteEvalRun', 'delete evaluation runs'],
  ['listEvalRuns', 'list evaluation runs'],
  ['getEvalRun', 'show single evaluation runs'],
  ['getEvalProgress', 'report the progress of evaluation runs'],
  ['cancelEval', 'cancel evaluation runs'],
  ['getEvalOptions', 'list evaluation options'],
  ['deleteSecret', 'revoke secrets'],
  ['startTraining', 'start training runs'],
  ['getTrainingRun', 'show single training runs'],
  ['cancelTraining', 'cancel training runs'],
  ['deleteTrainingRun', 'delete training runs'],
  ['getCheckpoint', 'show single checkpoints'],
  ['getTrainerRewards', 'report trainer rewards'],
  ['getHeldOutRewards', 'report held-out rewards'],
  ['getStepTrajectoryRewards', 'report the rewards of a training step'],
  ['getTrainingOptions', 'list training options'],
  ['completeTrajectory', 'complete trajectories'],
  ['createTrajectory', 'create trajectories'],
  ['listModels', 'list the models that chat takes'],
  ['getModel', 'show single models'],
]);

/** Completes "the service does not": `list checkpoints`. */
export function describeCapability(operation: string): string {
  return words.get(operation) ?? operation.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}
