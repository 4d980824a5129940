/** Every resource, one line per file. */
export { benchmarks, images, runtimes } from './benchmarks.ts';
export { datasets } from './datasets.ts';
export { deployments } from './deployments.ts';
export { models } from './models.ts';
export { runs } from './runs.ts';
export { secrets } from './secrets.ts';
export { checkpoints, training } from './training.ts';
export { trajectories } from './trajectories.ts';
