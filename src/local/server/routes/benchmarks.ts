/** Benchmarks: lists, readiness, images. */
import type { ListQuery } from '../../../contract/common.ts';
import type { Call, ServiceContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { findBenchmark } from './launch.ts';

export function benchmarkRoutes(service: ServiceContext): Handlers {
  const { benchmarks, engine } = service;
  const find = ({ organizationId, params }: Call) => findBenchmark(service, organizationId, params['bench_id'] ?? '');
  const imagesOf = (benchId: string) => ({ bench_id: benchId, images: benchmarks.images(benchId) });
  return {
    listBenchmarks: call => benchmarks.list(call.organizationId, call.query as ListQuery),
    listBenchmarkRuntimes: call => benchmarks.listRuntimes(call.organizationId, call.query as ListQuery),
    getBenchmark: find,
    getBenchmarkReadiness: call => benchmarks.readiness(call.organizationId, find(call).bench_id),
    listBenchmarkImages: call => imagesOf(find(call).bench_id),
    buildBenchmarkImages: call => {
      const { bench_id } = find(call);
      benchmarks.beginBuild(bench_id);
      engine.wake();
      return imagesOf(bench_id);
    },
  };
}
