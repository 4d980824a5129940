/** What the screens ask about benchmarks. */
import type {
  Benchmark,
  BenchmarkImage,
  BenchmarkImages,
  BenchmarkRuntime,
  Readiness,
} from '../contract/benchmarks.ts';
import { hasEnded } from '../contract/status.ts';
import type { ListSource } from './list.ts';
import type { LiveQuery } from './use-live.ts';

export const benchmarkKeys = {
  all: ['benchmarks'],
  list: ['benchmarks', 'list'],
  one: (benchId: string) => ['benchmarks', 'one', benchId],
  readiness: (benchId: string) => ['benchmarks', 'readiness', benchId],
  images: (benchId: string) => ['benchmarks', 'images', benchId],
  runtimes: ['runtimes'],
} as const;

export const benchmarkList: ListSource<Benchmark> = {
  key: benchmarkKeys.list,
  id: row => row.bench_id,
  sorts: true,
  readPage: ({ service, query, signal }) => service.benchmarks.list(query, { signal }),
};

export const runtimeList: ListSource<BenchmarkRuntime> = {
  key: benchmarkKeys.runtimes,
  id: row => row.runtime_id,
  sorts: true,
  readPage: ({ service, query, signal }) => service.benchmarks.listRuntimes(query, { signal }),
  activity: rows => (rows.some(row => isBuilding(row.build_status)) ? 'building' : 'open'),
};

/** A benchmark by id: from the service where it has the endpoint, else from the list of them. */
export function benchmarkQuery(benchId: string): LiveQuery<Benchmark | undefined> {
  return {
    key: benchmarkKeys.one(benchId),
    activity: () => 'open',
    read: async ({ service, signal }) => {
      if (service.capabilities.has('getBenchmark')) {
        try {
          return await service.benchmarks.get(benchId, { signal });
        } catch (error) {
          if (service.capabilities.has('getBenchmark')) throw error;
        }
      }
      for await (const benchmark of service.benchmarks.listAll({ limit: 200 }, { signal })) {
        if (benchmark.bench_id === benchId) return benchmark;
      }
      return undefined;
    },
  };
}

export function readinessQuery(benchId: string): LiveQuery<Readiness> {
  return {
    key: benchmarkKeys.readiness(benchId),
    activity: readiness => (readiness?.ready ? 'open' : 'building'),
    about: { kind: 'benchmark', id: benchId },
    observes: ({ ready }) => ({ kind: 'benchmark', id: benchId, status: ready ? 'ready' : 'not ready' }),
    read: ({ service, signal }) => service.benchmarks.readiness(benchId, { signal }),
  };
}

export function imageList(benchId: string): ListSource<BenchmarkImage> {
  return {
    key: [...benchmarkKeys.images(benchId), 'list'],
    id: row => row.task_id,
    readPage: async ({ service, signal }) => ({
      items: (await service.benchmarks.images(benchId, { signal })).images,
      has_more: false,
      next_cursor: null,
      dropped: 0,
    }),
    activity: rows => (rows.some(row => isBuilding(row.build_status)) ? 'building' : 'open'),
  };
}

export function imagesQuery(benchId: string): LiveQuery<BenchmarkImages> {
  return {
    key: benchmarkKeys.images(benchId),
    activity: answer => (answer?.images.some(image => isBuilding(image.build_status)) ? 'building' : 'open'),
    read: ({ service, signal }) => service.benchmarks.images(benchId, { signal }),
  };
}

/** A missing status is not an end: builds may come without one at first. */
const isBuilding = (status: string | null | undefined): boolean => !hasEnded(status);
