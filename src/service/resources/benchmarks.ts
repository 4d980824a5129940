/** Benchmarks: lists, uploads, readiness, images and runtimes. */
import type { z } from 'zod/mini';
import { type createUploadBody, benchmarkEndpoints as endpoints } from '../../contract/benchmarks.ts';
import type { ListQuery } from '../../contract/common.ts';
import type { Calls } from '../caller.ts';
import { type CallOptions, slowAnswer } from '../options.ts';
import { paginate } from '../pagination.ts';

export type CreateUploadBody = z.input<typeof createUploadBody>;

export function benchmarkResource(caller: Calls) {
  const list = (query: ListQuery = {}, options?: CallOptions) =>
    caller.call(endpoints.listBenchmarks, { query }, options);
  const listRuntimes = (query: ListQuery = {}, options?: CallOptions) =>
    caller.call(endpoints.listBenchmarkRuntimes, { query }, options);
  return {
    /** One page of the benchmarks. */
    list,
    listAll: (query: ListQuery = {}, options?: CallOptions) => paginate(next => list(next, options), query),
    /** One page of the runtimes of the organization. */
    listRuntimes,
    listAllRuntimes: (query: ListQuery = {}, options?: CallOptions) =>
      paginate(next => listRuntimes(next, options), query),
    /**
     * Signed addresses for a batch of files. With the `bench_id` of an earlier batch the files are added to it;
     * without one a new benchmark id is minted. Nothing is listed before it is ingested.
     */
    createUpload: (body: CreateUploadBody, options?: CallOptions) =>
      caller.call(endpoints.createBenchmarkUpload, { body }, options),
    readiness: (benchId: string, options?: CallOptions) =>
      caller.call(endpoints.getBenchmarkReadiness, { params: { bench_id: benchId } }, options),
    /** Starts the builds of every unbuilt task image; `images` tells how they get on. */
    buildImages: (benchId: string, options?: CallOptions) =>
      caller.call(endpoints.buildBenchmarkImages, { params: { bench_id: benchId } }, { ...slowAnswer, ...options }),
    /** Asking for the images is also what moves their builds on. */
    images: (benchId: string, options?: CallOptions) =>
      caller.call(endpoints.listBenchmarkImages, { params: { bench_id: benchId } }, options),
    /** Makes a benchmark of the uploaded files. */
    ingest: (benchId: string, manifest: Readonly<Record<string, unknown>>, options?: CallOptions) =>
      caller.call(
        endpoints.ingestBenchmark,
        { params: { bench_id: benchId }, body: { ...manifest } },
        { ...slowAnswer, ...options },
      ),
    get: (benchId: string, options?: CallOptions) =>
      caller.call(endpoints.getBenchmark, { params: { bench_id: benchId } }, options),
  };
}
