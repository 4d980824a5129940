/** What can be done with an evaluation run. */
import type { CommandTable } from '../../keys/command.ts';

export const runCommands = {
  compare: { id: 'run.compare', title: 'compare two runs, task by task', keys: ['='], group: 'Run', hint: 'compare' },
  cancel: { id: 'run.cancel', title: 'cancel the run', keys: ['c'], group: 'Run', writes: true },
  delete: { id: 'run.delete', title: 'delete the run', keys: ['d'], group: 'Run', writes: true, destructive: true },
} as const satisfies CommandTable;
