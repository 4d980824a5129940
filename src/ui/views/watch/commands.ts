/** What can be done with a line of Watch. */
import type { CommandTable } from '../../../present/command.ts';

export const watchCommands = {
  dismiss: {
    id: 'watch.dismiss',
    title: 'dismiss what has ended',
    keys: ['d', 'backspace'],
    group: 'Watch',
    hint: 'dismiss',
  },
} as const satisfies CommandTable;
