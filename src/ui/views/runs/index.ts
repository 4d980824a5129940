import { idPatterns } from '../../../contract/ids.ts';
import { evaluationKeys } from '../../../queries/evaluations.ts';
import { runCommands } from '../../../resources/runs.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';

export const runsView: ViewDefinition = {
  name: 'runs',
  title: 'Runs',
  aliases: ['eval', 'evals', 'evaluations', 'r'],
  section: true,
  listKey: evaluationKeys.everyRun,
  component: lateView(async () => (await import('./list.tsx')).RunsView),
  commands: Object.values(runCommands),
};

export const runView: ViewDefinition = {
  name: 'run',
  title: 'Run',
  aliases: [],
  opens: { id: idPatterns.run, param: 'eval_run_id' },
  under: 'runs',
  crumb: params => params['name'] ?? params['eval_run_id'] ?? 'Run',
  component: lateView(async () => (await import('./run.tsx')).RunView),
  commands: [],
};

export const compareView: ViewDefinition = {
  name: 'compare',
  title: 'Comparison',
  aliases: [],
  under: 'runs',
  crumb: () => 'Comparison',
  component: lateView(async () => (await import('./compare.tsx')).CompareView),
  commands: [],
};
