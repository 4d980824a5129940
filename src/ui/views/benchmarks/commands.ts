/** What can be done with a benchmark. */
import type { CommandTable } from '../../keys/command.ts';

export const benchmarkCommands = {
  evaluate: {
    id: 'benchmark.evaluate',
    title: 'evaluate a model on it',
    keys: ['e'],
    group: 'Benchmark',
    hint: 'evaluate',
    writes: true,
  },
  train: {
    id: 'benchmark.train',
    title: 'train a model on it',
    keys: ['t'],
    group: 'Benchmark',
    hint: 'train',
    writes: true,
  },
  secret: {
    id: 'benchmark.secret',
    title: 'create the secret that it misses',
    keys: ['n'],
    group: 'Benchmark',
    writes: true,
  },
  images: { id: 'benchmark.images', title: 'its images', keys: ['v'], group: 'Benchmark' },
  trainings: { id: 'benchmark.trainings', title: 'its training runs', keys: ['T'], group: 'Benchmark' },
  upload: {
    id: 'benchmark.upload',
    title: 'upload a benchmark (a folder)',
    keys: ['u'],
    group: 'Benchmark',
    hint: 'upload',
    writes: true,
  },
  build: { id: 'benchmark.build', title: 'build its images', keys: ['b'], group: 'Benchmark', writes: true },
} as const satisfies CommandTable;
