/** Checks for starting a run on a benchmark. */
import { OptionError } from '../../engine/options.ts';
import type { Task } from '../../samples/manifest.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { ServiceContext } from '../handlers.ts';

/** @throws ApiError `resource_not_found`, also for another organization's benchmark */
export function findBenchmark({ benchmarks }: ServiceContext, organizationId: string, benchId: string) {
  const benchmark = benchmarks.get(organizationId, benchId);
  if (!benchmark) throw notFound('benchmark', benchId);
  return benchmark;
}

/** How a request names a run's benchmark. */
export interface NamedBenchmark {
  readonly bench_id?: string | undefined;
  /** Later generations accept a name instead of the id, if only one benchmark has it. */
  readonly benchmark_name?: string | undefined;
}

/**
 * The benchmark that a start request's body names.
 *
 * @param inPath the benchmark's id, if the path contains it
 * @throws ApiError if it names no benchmark or several, the benchmark does not exist, or two names differ
 */
export function namedBenchmark(
  service: ServiceContext,
  organizationId: string,
  { bench_id, benchmark_name: name }: NamedBenchmark,
  inPath?: string,
) {
  const id = inPath ?? bench_id;
  if (id === undefined && name === undefined) {
    throw invalid('bench_id', 'name the benchmark.');
  }
  if (bench_id !== undefined && bench_id !== id) {
    throw invalid('bench_id', `differs from the benchmark in the path, ${id}. Give one of them.`);
  }
  if (id === undefined) return benchmarkCalled(service, organizationId, name ?? '');
  const benchmark = findBenchmark(service, organizationId, id);
  if (name === undefined || name === benchmark.label || name === benchmark.name) return benchmark;
  throw invalid('benchmark_name', `the benchmark ${id} is called ${benchmark.label}. Give one of them.`);
}

function benchmarkCalled({ benchmarks }: ServiceContext, organizationId: string, name: string) {
  const [found, ...others] = benchmarks.called(organizationId, name);
  if (!found) throw notFound('benchmark called', name);
  if (others.length === 0) return found;
  const ids = [found, ...others].map(({ bench_id }) => bench_id);
  throw invalid('benchmark_name', `${ids.length} benchmarks are called ${name}. Give the bench_id of one.`, {
    bench_ids: ids,
  });
}

/** @throws ApiError `benchmark_not_ready`, with the blockers */
export function requireReady({ benchmarks }: ServiceContext, organizationId: string, benchId: string): void {
  const readiness = benchmarks.readiness(organizationId, benchId);
  if (readiness.ready) return;
  const message = 'The benchmark is not ready to launch: see its readiness.';
  throw conflict('benchmark_not_ready', message, { context: { ...readiness } });
}

/** The tasks in a split. @throws ApiError `validation_error` if there are none */
export function tasksToRun({ benchmarks }: ServiceContext, benchId: string, split: Task['split']): Task[] {
  const tasks = benchmarks.tasks(benchId, split);
  if (tasks.length === 0) throw invalid('bench_id', `the benchmark has no tasks in its ${split} split.`);
  return tasks;
}

/** @throws ApiError `validation_error` naming the invalid option */
export function withOptions<Read>(read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const param = `options.${error.option}`;
    throw invalid(param, error.message);
  }
}
