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
  build: { id: 'benchmark.build', title: 'build its images', keys: ['b'], group: 'Benchmark', writes: true },
} as const satisfies CommandTable;
