/** Benchmarks: lists, uploads, readiness, images and runtimes. */
import * as z from 'zod/mini';
import {
  defineEndpoints,
  flag,
  freeForm,
  listQuery,
  number,
  openEnum,
  page,
  rows,
  sentences,
  text,
  textOrJson,
  withRenamedFields,
  wrappedList,
} from './common.ts';
import { buildStatuses } from './status.ts';

export const benchmarkRuntime = z.looseObject({
  organization_id: text,
  runtime_id: z.string(),
  image_ref: text,
  dockerfile_uri: text,
  content_hash: text,
  provider: text,
  blueprint_id: text,
  build_status: z.nullish(openEnum(buildStatuses)),
  created_at: text,
});
export type BenchmarkRuntime = z.output<typeof benchmarkRuntime>;

export const benchmark = withRenamedFields(
  { label: ['name'] },
  z.looseObject({
    bench_id: z.string(),
    organization_id: text,
    label: text,
    created_at: text,
    updated_at: text,
    description: text,
    visibility: text,
    family: text,
    eval_run_count: number,
  }),
);
export type Benchmark = z.output<typeof benchmark>;

export const benchmarkImage = z.looseObject({
  task_id: z.string(),
  provider: text,
  provider_ref: text,
  dockerfile_uri: text,
  build_status: z.nullish(openEnum(buildStatuses)),
  // Sent by later generations.
  failure_message: text,
});
export type BenchmarkImage = z.output<typeof benchmarkImage>;

export const benchmarkImages = wrappedList('images', z.looseObject({ bench_id: text, images: rows(benchmarkImage) }));
export type BenchmarkImages = z.output<typeof benchmarkImages>;

export const readiness = z.looseObject({
  ready: z.nullable(z.boolean()),
  missing_secret_names: z.nullish(z.array(z.string())),
  unready_task_image_counts: z.nullish(z.record(z.string(), number)),
  /** Non-blocking warnings, e.g. tasks that the service cannot grade. */
  warnings: sentences,
});
export type Readiness = z.output<typeof readiness>;

export const uploadFile = z.strictObject({
  path: z.string().check(z.minLength(1)),
  content_type: z.string().check(z.minLength(1)),
  size_bytes: z.int().check(z.gte(0)),
});

export const createUploadBody = z.strictObject({
  files: z.array(uploadFile).check(z.minLength(1)),
  bench_id: z.optional(z.string()),
});

export const uploadUrl = z.looseObject({
  path: z.string(),
  url: z.string(),
  headers: z.nullish(z.record(z.string(), z.string())),
});
export type UploadUrl = z.output<typeof uploadUrl>;

export const createUploadResult = z.looseObject({
  bench_id: z.string(),
  urls: z.array(uploadUrl),
  expires_at: text,
});

/** The benchmark's agent, by id or name. Not in the document; later generations require it. */
export const ingestQuery = z.strictObject({
  agent_id: z.optional(z.string()),
  agent_name: z.optional(z.string()),
  bench_type: z.optional(z.string()),
});

/** A task that ingest rejected, and why. */
export const failedTask = z.looseObject({ task_id: text, label: text, error: textOrJson });
export type FailedTask = z.output<typeof failedTask>;

/** The document does not show the ingest response; services have been seen to send these fields. */
export const ingestResult = withRenamedFields(
  { label: ['name'] },
  z.looseObject({
    bench_id: text,
    ok: flag,
    label: text,
    family: text,
    task_count: number,
    failed_tasks: z.nullish(rows(failedTask)),
    warnings: z.nullish(z.array(textOrJson)),
    context: freeForm,
  }),
);
export type IngestResult = z.output<typeof ingestResult>;

/** The number of tasks, per split if the service reports it. */
export const taskCount = withRenamedFields(
  { task_count: ['count', 'total'] },
  z.looseObject({ bench_id: text, task_count: number, by_split: freeForm }),
);
export type TaskCount = z.output<typeof taskCount>;

export const benchmarkEndpoints = defineEndpoints({
  listBenchmarkRuntimes: {
    method: 'GET',
    path: '/api/v1/benchmarks/runtimes',
    query: listQuery,
    response: page(benchmarkRuntime),
  },
  listBenchmarks: {
    method: 'GET',
    path: '/api/v1/benchmarks',
    query: listQuery,
    response: page(benchmark),
  },
  createBenchmarkUpload: {
    method: 'POST',
    path: '/api/v1/benchmarks/uploads',
    body: createUploadBody,
    response: createUploadResult,
    // The service stores nothing before the benchmark is ingested.
    storesNothing: true,
    sensitiveAnswer: ['url', 'headers'],
  },
  getBenchmarkReadiness: {
    method: 'GET',
    path: '/api/v1/benchmarks/{bench_id}/readiness',
    response: readiness,
  },
  buildBenchmarkImages: {
    method: 'POST',
    path: '/api/v1/benchmarks/{bench_id}/images/build',
    response: benchmarkImages,
    pace: 'slow',
  },
  listBenchmarkImages: {
    method: 'GET',
    path: '/api/v1/benchmarks/{bench_id}/images',
    response: benchmarkImages,
    capability: true,
  },
  ingestBenchmark: {
    method: 'POST',
    path: '/api/v1/benchmarks/{bench_id}/ingest',
    query: ingestQuery,
    body: z.record(z.string(), z.unknown()),
    response: ingestResult,
    agent: 'query',
    capability: true,
    pace: 'slow',
  },
  getBenchmark: {
    method: 'GET',
    path: '/api/v1/benchmarks/{bench_id}',
    response: benchmark,
    capability: true,
  },
  deleteBenchmark: {
    method: 'DELETE',
    path: '/api/v1/benchmarks/{bench_id}',
    response: z.looseObject({ bench_id: text }),
    capability: true,
  },
  countTasks: {
    method: 'GET',
    path: '/api/v1/benchmarks/{bench_id}/task-count',
    response: taskCount,
    capability: true,
  },
});
