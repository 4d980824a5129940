/** Benchmarks: lists, readiness, images. */
import type { Area, Call, Handlers, ServiceContext } from '../handlers.ts';
import { findBenchmark } from './launch.ts';

function benchmarkRoutes(service: ServiceContext): Handlers {
  const { benchmarks, engine } = service;
  const find = ({ organizationId, params }: Call) => findBenchmark(service, organizationId, params['bench_id'] ?? '');
  const imagesOf = (benchId: string) => ({ bench_id: benchId, images: benchmarks.images(benchId) });
  return {
    listBenchmarks: call => benchmarks.list(call.organizationId, call.query),
    listBenchmarkRuntimes: call => benchmarks.listRuntimes(call.organizationId, call.query),
    getBenchmark: find,
    getBenchmarkReadiness: call => benchmarks.readiness(call.organizationId, find(call).bench_id),
    listBenchmarkImages: call => imagesOf(find(call).bench_id),
    getBenchmarkSpec: call => {
      const { bench_id, name, label, family, description, visibility } = find(call);
      const { include_tasks = true } = call.query;
      const tasks = benchmarks.manifestTasks(bench_id);
      const about = { bench_id, name, label, family, description, visibility };
      return { ...benchmarks.spec(bench_id), ...about, task_count: tasks.length, tasks: include_tasks ? tasks : null };
    },
    countTasks: call => {
      const { bench_id } = find(call);
      const tasks = benchmarks.tasks(bench_id);
      const splits = Map.groupBy(tasks, ({ split }) => split);
      const count = (split: 'train' | 'test'): number => splits.get(split)?.length ?? 0;
      return { bench_id, task_count: tasks.length, by_split: { train: count('train'), test: count('test') } };
    },
    buildBenchmarkImages: call => {
      const { bench_id } = find(call);
      benchmarks.beginBuild(bench_id);
      engine.wake();
      return imagesOf(bench_id);
    },
  };
}

export const benchmarkArea: Area = { name: 'benchmarks', routes: benchmarkRoutes };
