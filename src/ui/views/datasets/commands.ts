/** What can be done with datasets. */
import type { CommandTable } from '../../keys/command.ts';

export const datasetCommands = {
  upload: {
    id: 'dataset.upload',
    title: 'upload trajectories (a JSONL file)',
    keys: ['u'],
    group: 'Dataset',
    hint: 'upload',
    writes: true,
  },
} as const satisfies CommandTable;
