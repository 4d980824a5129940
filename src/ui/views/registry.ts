/** Every view of the program, in the order of the sections. */
import type { ViewRegistry } from '../app/view-definition.ts';
import { benchmarksView, benchmarkView } from './benchmarks/index.ts';
import { chatView } from './chat/index.ts';
import { modelsView } from './models/index.ts';
import { runsView, runView } from './runs/index.ts';
import { trajectoriesView, trajectoryView } from './trajectories/index.ts';

export const registry: ViewRegistry = [
  benchmarksView,
  benchmarkView,
  runsView,
  runView,
  trajectoriesView,
  trajectoryView,
  modelsView,
  chatView,
];
