/** Every endpoint of the service, by operation. */
import { benchmarkEndpoints } from './benchmarks.ts';
import { datasetEndpoints } from './datasets.ts';
import { deploymentEndpoints } from './deployments.ts';
import { evaluationEndpoints } from './evaluations.ts';
import { inferenceEndpoints } from './inference.ts';
import { modelEndpoints } from './models.ts';
import { secretEndpoints } from './secrets.ts';
import { trainingEndpoints } from './training.ts';
import { trajectoryEndpoints } from './trajectories.ts';

export const endpoints = {
  ...benchmarkEndpoints,
  ...evaluationEndpoints,
  ...trajectoryEndpoints,
  ...datasetEndpoints,
  ...trainingEndpoints,
  ...modelEndpoints,
  ...deploymentEndpoints,
  ...secretEndpoints,
  ...inferenceEndpoints,
} as const;
export type Operation = keyof typeof endpoints;
