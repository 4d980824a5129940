/** Every view of the program, in the order of the sections. */
import type { ViewRegistry } from '../app/view-definition.ts';
import { benchmarksView, benchmarkTrainingView, benchmarkView, imagesView } from './benchmarks/index.ts';
import { chatView } from './chat/index.ts';
import { datasetsView } from './datasets/index.ts';
import { deploymentsView, deploymentView } from './deployments/index.ts';
import { modelsView } from './models/index.ts';
import { compareView, runsView, runView } from './runs/index.ts';
import { runtimesView } from './runtimes/index.ts';
import { secretsView } from './secrets/index.ts';
import { trainingRunView, trainingStepView, trainingView } from './training/index.ts';
import { trajectoriesView, trajectoryView } from './trajectories/index.ts';
import { benchmarkUploadView, trajectoryUploadView } from './uploads/index.ts';
import { watchView } from './watch/index.ts';

export const registry: ViewRegistry = [
  watchView,
  benchmarksView,
  benchmarkView,
  imagesView,
  benchmarkTrainingView,
  runsView,
  runView,
  compareView,
  trajectoriesView,
  trajectoryView,
  trainingView,
  trainingRunView,
  trainingStepView,
  deploymentsView,
  deploymentView,
  datasetsView,
  modelsView,
  runtimesView,
  secretsView,
  chatView,
  benchmarkUploadView,
  trajectoryUploadView,
];
