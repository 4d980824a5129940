/** What can be done with an upload. */
import type { CommandTable } from '../../../present/command.ts';

const group = 'Upload';

export const uploadCommands = {
  start: {
    id: 'upload.start',
    title: 'send it, or continue where it stopped',
    keys: ['enter'],
    group,
    hint: 'send',
    writes: true,
  },
  preview: { id: 'upload.preview', title: 'show the requests', keys: ['ctrl-p'], group, hint: 'requests' },
  cancel: { id: 'upload.cancel', title: 'stop; what was sent is kept', keys: ['c'], group, hint: 'stop', writes: true },
  startOver: {
    id: 'upload.start-over',
    title: 'upload it as a new benchmark, whatever was sent before',
    keys: ['N'],
    group,
    hint: 'new benchmark',
    writes: true,
  },
  open: { id: 'upload.open', title: 'open what was uploaded', keys: ['enter'], group, hint: 'open' },
  saveFailures: {
    id: 'upload.save-failures',
    title: 'save the failed ones to a file',
    keys: ['w'],
    group,
    hint: 'save failures',
  },
} as const satisfies CommandTable;
