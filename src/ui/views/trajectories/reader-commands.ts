/** What can be done while reading a trajectory. */
import type { CommandTable } from '../../../present/command.ts';

const group = 'Trajectory';

export const readerCommands = {
  nextStep: { id: 'trajectory.next-step', title: 'next step', keys: ['J'], group, repeats: true },
  previousStep: { id: 'trajectory.previous-step', title: 'previous step', keys: ['K'], group, repeats: true },
  nextError: { id: 'trajectory.next-error', title: 'next error', keys: ['e'], group, hint: 'next error' },
  reasoning: {
    id: 'trajectory.reasoning',
    title: 'fold or unfold the reasoning',
    keys: ['z'],
    group,
    hint: 'reasoning',
  },
  tools: { id: 'trajectory.tools', title: 'fold or unfold tool calls and responses', keys: ['Z'], group },
  hidden: { id: 'trajectory.hidden', title: 'show or drop hidden characters', keys: ['v'], group },
} as const satisfies CommandTable;
