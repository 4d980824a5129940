import { idPatterns } from '../../../contract/ids.ts';
import { trainingKeys } from '../../../queries/training.ts';
import { checkpointCommands, trainingCommands } from '../../../resources/training.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';
import { chartCommands } from './chart-commands.ts';

export const trainingView: ViewDefinition = {
  name: 'training',
  title: 'Training',
  aliases: ['train', 'trn'],
  section: true,
  listKey: trainingKeys.everyRun,
  component: lateView(async () => (await import('./list.tsx')).TrainingView),
  commands: Object.values(trainingCommands),
};

export const trainingRunView: ViewDefinition = {
  name: 'training-run',
  title: 'Training run',
  aliases: [],
  opens: { id: idPatterns.training, param: 'training_run_id' },
  under: 'training',
  crumb: params => params['name'] ?? params['training_run_id'] ?? 'Training run',
  component: lateView(async () => (await import('./training-run.tsx')).TrainingRunView),
  commands: [...Object.values(chartCommands), ...Object.values(checkpointCommands)],
};

export const trainingStepView: ViewDefinition = {
  name: 'training-step',
  title: 'Step',
  aliases: [],
  crumb: params => `step ${params['step'] ?? '?'}`,
  component: lateView(async () => (await import('./step.tsx')).TrainingStepView),
  commands: [],
};
