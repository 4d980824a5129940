/** What the keys do with the curves of a training run. */
import type { CommandTable } from '../../../present/command.ts';

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
