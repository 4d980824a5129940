/** The endpoints that a service may lack, in words: what a user reads are not the names of operations. */

const words: ReadonlyMap<string, string> = new Map([
  ['buildBenchmarkImages', 'build images'],
  ['listBenchmarkImages', 'list the images of a benchmark'],
  ['ingestBenchmark', 'ingest benchmarks'],
  ['getBenchmark', 'show single benchmarks'],
  ['listDeployments', 'list deployments'],
  ['startDeployment', 'start deployments'],
  ['promoteDeployment', 'promote deployments'],
  ['unpromoteDeployment', 'unpromote deployments'],
  ['getDeploymentSummary', 'count deployments'],
  ['deleteEvalRun', 'delete evaluation runs'],
  ['listEvalRuns', 'list evaluation runs'],
  ['getEvalRun', 'show single evaluation runs'],
  ['getEvalProgress', 'report the progress of evaluation runs'],
  ['cancelEval', 'cancel evaluation runs'],
  ['listSecrets', 'list secrets'],
  ['deleteSecret', 'revoke secrets'],
  ['startTraining', 'start training runs'],
  ['listTrainingRuns', 'list training runs'],
  ['getTrainingRun', 'show single training runs'],
  ['cancelTraining', 'cancel training runs'],
  ['deleteTrainingRun', 'delete training runs'],
  ['listCheckpoints', 'list checkpoints'],
  ['getCheckpoint', 'show single checkpoints'],
  ['getTrainerRewards', 'report trainer rewards'],
  ['getHeldOutRewards', 'report held-out rewards'],
  ['getStepTrajectoryRewards', 'report the rewards of a training step'],
  ['getTrainingOptions', 'list training options'],
  ['listTrajectories', 'list trajectories'],
  ['completeTrajectory', 'complete trajectories'],
]);

/** What the operation does, after "does not": `list checkpoints`. */
export function capabilityWords(operation: string): string {
  return words.get(operation) ?? operation.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}
