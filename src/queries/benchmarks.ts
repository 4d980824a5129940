/** Queries and actions for benchmarks. */
import type { Benchmark, BenchmarkImage, BenchmarkRuntime, Readiness, TaskCount } from '../contract/benchmarks.ts';
import type { Page } from '../contract/common.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { isNotOffered, NotFoundError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import { readPages } from '../service/pagination.ts';
import { clean } from '../text/sanitise.ts';
import { action } from './action.ts';
import { type ListSource, pageSize, wholePage } from './lists/list-source.ts';
import type { LiveQuery } from './live-query.ts';
import { readPart } from './remembered-fallback.ts';

export const benchmarkKeys = {
  all: ['benchmarks'],
  list: ['benchmarks', 'list'],
  one: (benchId: string) => ['benchmarks', 'one', benchId],
  readiness: (benchId: string) => ['benchmarks', 'readiness', benchId],
  tasks: (benchId: string) => ['benchmarks', 'tasks', benchId],
  images: (benchId: string) => ['benchmarks', 'images', benchId],
  runtimes: ['runtimes'],
} as const;

/** Starts building all missing images; the list of images shows the progress. */
export const buildImages = action(
  (service, { bench_id }: Pick<Benchmark, 'bench_id'>, options) =>
    service.call('buildBenchmarkImages', { params: { bench_id } }, options),
  { touches: [benchmarkKeys.all] },
);

export const benchmarkList: ListSource<Benchmark> = {
  key: benchmarkKeys.list,
  id: row => row.bench_id,
  sorts: true,
  readPage: ({ service, query, signal }) => service.call('listBenchmarks', { query }, { signal }),
};

export const runtimeList: ListSource<BenchmarkRuntime> = {
  key: benchmarkKeys.runtimes,
  id: row => row.runtime_id,
  sorts: true,
  readPage: ({ service, query, signal }) => service.call('listBenchmarkRuntimes', { query }, { signal }),
  activity: rows => (rows.some(row => isBuilding(row.build_status)) ? 'building' : 'open'),
};

/**
 * Finds a benchmark in the list. Only the first call searches the whole list; later ones first read the page it was on.
 *
 * @throws ServiceError, a NotFoundError if the list does not contain it
 */
async function findListed(service: Service, benchId: string, signal: AbortSignal): Promise<Benchmark> {
  const { foundAt } = service.capabilities;
  let at: string | undefined;
  const readPage = (cursor: string | undefined) => {
    at = cursor;
    return service.call('listBenchmarks', { query: { limit: pageSize, cursor } }, { signal });
  };
  const among = ({ items }: Page<Benchmark>) => items.find(({ bench_id }) => bench_id === benchId);
  if (foundAt.has(benchId)) {
    const found = among(await readPage(foundAt.get(benchId)));
    if (found) return found;
    foundAt.delete(benchId);
  }
  for await (const page of readPages(readPage)) {
    const found = among(page);
    if (!found) continue;
    foundAt.set(benchId, at);
    return found;
  }
  throw new NotFoundError(clean`There is no benchmark ${benchId}.`, { code: 'resource_not_found' });
}

/** A benchmark by id: from its endpoint if the service has one, else from the list. */
export function benchmarkQuery(benchId: string): LiveQuery<Benchmark> {
  return {
    key: benchmarkKeys.one(benchId),
    activity: () => 'open',
    read: async ({ service, signal }) => {
      try {
        return await service.call('getBenchmark', { params: { bench_id: benchId } }, { signal });
      } catch (error) {
        if (!isNotOffered(error)) throw error;
        const found = await findListed(service, benchId, signal);
        service.capabilities.confirmMissing(error);
        return found;
      }
    },
  };
}

/** The status of a benchmark that lacks only secrets. A user has to create them. */
export const secretsMissing = 'secrets missing';

/**
 * `failed` if an image has failed and none is being built: the benchmark will not become ready on its own. Undefined if
 * the service reports neither whether it is ready nor a blocker.
 */
function statusOf({ ready, missing_secret_names, unready_task_image_counts }: Readiness): string | undefined {
  if (ready) return 'ready';
  const meanings = Object.entries(unready_task_image_counts ?? {}).flatMap(([status, images]) =>
    images === 0 ? [] : [statusMeaning(status)],
  );
  if (meanings.length === 0 && missing_secret_names?.length) return secretsMissing;
  const isBuilding = meanings.includes('running') || meanings.includes('waiting');
  if (meanings.includes('failure') && !isBuilding) return 'failed';
  return ready === null && meanings.length === 0 ? undefined : 'not ready';
}

export function readinessQuery(benchId: string): LiveQuery<Readiness> {
  return {
    key: benchmarkKeys.readiness(benchId),
    activity: readiness => (readiness?.ready ? 'open' : 'building'),
    about: { kind: 'benchmark', id: benchId },
    observes: readiness => ({ kind: 'benchmark', id: benchId, status: statusOf(readiness) }),
    read: ({ service, signal }) => service.call('getBenchmarkReadiness', { params: { bench_id: benchId } }, { signal }),
  };
}

/** A benchmark's number of tasks, if the service counts them. Only an ingest changes it. */
export function taskCountQuery(benchId: string): LiveQuery<Pick<TaskCount, 'task_count' | 'by_split'>> {
  return {
    key: benchmarkKeys.tasks(benchId),
    activity: () => 'settled',
    read: ({ service, signal }) => service.call('countTasks', { params: { bench_id: benchId } }, { signal }),
  };
}

export function imageList(benchId: string): ListSource<BenchmarkImage> {
  return {
    key: benchmarkKeys.images(benchId),
    id: row => row.task_id,
    readPage: async context => {
      const { service, signal } = context;
      const { images } = await readPart('listBenchmarkImages', benchmarkQuery(benchId), context, () =>
        service.call('listBenchmarkImages', { params: { bench_id: benchId } }, { signal }),
      );
      return wholePage(images);
    },
    activity: rows => (rows.some(row => isBuilding(row.build_status)) ? 'building' : 'open'),
  };
}

/** A missing status is not final: a new build may lack one at first. */
const isBuilding = (status: string | null | undefined): boolean => !hasEnded(status);
