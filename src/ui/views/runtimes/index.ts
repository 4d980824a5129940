import { benchmarkKeys } from '../../../queries/benchmarks.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';

export const runtimesView: ViewDefinition = {
  name: 'runtimes',
  title: 'Runtimes',
  aliases: ['runtime', 'rt'],
  section: true,
  listKey: benchmarkKeys.runtimes,
  component: lateView(async () => (await import('./list.tsx')).RuntimesView),
  commands: [],
};
