/** Benchmarks: lists, readiness, images. */
import type { Area, Call, ServiceContext } from '../handlers.ts';
import { findBenchmark } from './launch.ts';

const pathBenchmark = (service: ServiceContext, { organizationId, params }: Call) =>
  findBenchmark(service, organizationId, params['bench_id'] ?? '');

const imageList = ({ benchmarks }: ServiceContext, bench_id: string) => ({
  bench_id,
  images: benchmarks.images(bench_id),
});

function countTasks(service: ServiceContext, call: Call<'countTasks'>) {
  const { bench_id } = pathBenchmark(service, call);
  const tasks = service.benchmarks.tasks(bench_id);
  const { train = [], test = [] } = Object.groupBy(tasks, ({ split }) => split);
  return { bench_id, task_count: tasks.length, by_split: { train: train.length, test: test.length } };
}

export const benchmarkArea: Area = {
  name: 'benchmarks',
  routes: {
    listBenchmarks: ({ benchmarks }, { organizationId, query }) => benchmarks.list(organizationId, query),
    listBenchmarkRuntimes: ({ benchmarks }, { organizationId, query }) =>
      benchmarks.listRuntimes(organizationId, query),
    getBenchmark: pathBenchmark,
    getBenchmarkReadiness: (service, call) =>
      service.benchmarks.readiness(call.organizationId, pathBenchmark(service, call).bench_id),
    listBenchmarkImages: (service, call) => imageList(service, pathBenchmark(service, call).bench_id),
    countTasks,
    buildBenchmarkImages: (service, call) => {
      const { bench_id } = pathBenchmark(service, call);
      service.benchmarks.beginBuild(bench_id);
      service.engine.wake();
      return imageList(service, bench_id);
    },
  },
};
