/** The areas of the contract, one line per file. */
export { benchmarkEndpoints } from './benchmarks.ts';
export { datasetEndpoints } from './datasets.ts';
export { deploymentEndpoints } from './deployments.ts';
export { evaluationEndpoints } from './evaluations.ts';
export { inferenceEndpoints } from './inference.ts';
export { modelEndpoints } from './models.ts';
export { secretEndpoints } from './secrets.ts';
export { trainingEndpoints } from './training.ts';
export { trajectoryEndpoints } from './trajectories.ts';
