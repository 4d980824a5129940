import { idPatterns } from '../../../contract/ids.ts';
import { benchmarkKeys } from '../../../queries/benchmarks.ts';
import { benchmarkCommands } from '../../../resources/benchmarks.ts';
import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';
import { BenchmarksView } from './list.tsx';

export const benchmarksView: ViewDefinition = {
  name: 'benchmarks',
  title: 'Benchmarks',
  aliases: ['benchmark', 'bench', 'b'],
  section: true,
  home: true,
  listKey: benchmarkKeys.list,
  component: BenchmarksView,
  commands: Object.values(benchmarkCommands),
};

export const benchmarkView: ViewDefinition = {
  name: 'benchmark',
  title: 'Benchmark',
  aliases: [],
  opens: { id: idPatterns.benchmark, param: 'bench_id' },
  under: 'benchmarks',
  crumb: params => params['label'] ?? params['bench_id'] ?? 'Benchmark',
  component: lateView(async () => (await import('./benchmark.tsx')).BenchmarkView),
  commands: [],
};

export const imagesView: ViewDefinition = {
  name: 'images',
  title: 'Images',
  aliases: [],
  component: lateView(async () => (await import('./images.tsx')).ImagesView),
  commands: [],
};

export const benchmarkTrainingView: ViewDefinition = {
  name: 'benchmark-training',
  title: 'Training runs',
  aliases: [],
  component: lateView(async () => (await import('./trainings.tsx')).BenchmarkTrainingView),
  commands: [],
};
