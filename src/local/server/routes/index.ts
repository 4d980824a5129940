/** The handlers of the contract's areas, one line per file. */
export { benchmarkArea } from './benchmarks.ts';
export { deploymentArea } from './deployments.ts';
export { evaluationArea } from './evaluations.ts';
export { modelArea } from './models.ts';
export { secretArea } from './secrets.ts';
export { trainingArea } from './training.ts';
export { trajectoryArea } from './trajectories.ts';
export { uploadArea } from './uploads.ts';
