/** What can be done with training runs and their curves. */
import type { CommandTable } from '../../keys/command.ts';

const group = 'Training run';

export const trainingCommands = {
  evaluate: {
    id: 'training.evaluate',
    title: 'evaluate its last checkpoint',
    keys: ['e'],
    group,
    hint: 'evaluate',
    writes: true,
  },
  deploy: {
    id: 'training.deploy',
    title: 'deploy its last checkpoint',
    keys: ['D'],
    group,
    hint: 'deploy',
    writes: true,
  },
  continue: {
    id: 'training.continue',
    title: 'train on from its last checkpoint',
    keys: ['t'],
    group,
    writes: true,
  },
  cancel: { id: 'training.cancel', title: 'cancel the run', keys: ['c'], group, writes: true },
  delete: { id: 'training.delete', title: 'delete the run', keys: ['d'], group, writes: true, destructive: true },
  rollouts: { id: 'training.rollouts', title: 'its rollouts', keys: ['v'], group, hint: 'rollouts' },
} as const satisfies CommandTable;

export const checkpointCommands = {
  evaluate: { ...trainingCommands.evaluate, id: 'checkpoint.evaluate', title: 'evaluate the checkpoint' },
  deploy: { ...trainingCommands.deploy, id: 'checkpoint.deploy', title: 'deploy the checkpoint' },
  continue: { ...trainingCommands.continue, id: 'checkpoint.continue', title: 'train on from the checkpoint' },
} as const satisfies CommandTable;

const chart = 'Curves';

export const chartCommands = {
  left: { id: 'chart.left', title: 'crosshair to the left', keys: [','], group: chart, repeats: true, palette: false },
  right: {
    id: 'chart.right',
    title: 'crosshair to the right',
    keys: ['.'],
    group: chart,
    hint: 'read',
    repeats: true,
    palette: false,
  },
  zoomIn: { id: 'chart.zoom-in', title: 'zoom in', keys: ['+'], group: chart },
  zoomOut: { id: 'chart.zoom-out', title: 'zoom out', keys: ['_'], group: chart },
  smooth: { id: 'chart.smooth', title: 'smooth the curves, more and then none', keys: ['w'], group: chart },
  reset: { id: 'chart.reset', title: 'the whole curves, without crosshair', keys: ['0'], group: chart },
  overlay: { id: 'chart.overlay', title: 'lay another run over it', keys: ['i'], group: chart, hint: 'overlay' },
} as const satisfies CommandTable;
