/** What starting anything on a benchmark needs. */
import { OptionError } from '../../engine/options.ts';
import { ApiError, apiError, notFound } from '../errors.ts';
import type { ServiceContext } from '../handlers.ts';

/** @throws ApiError `resource_not_found`, also for a benchmark of somebody else */
export function findBenchmark({ benchmarks }: ServiceContext, organizationId: string, benchId: string) {
  const benchmark = benchmarks.get(organizationId, benchId);
  if (!benchmark) throw notFound('benchmark', benchId);
  return benchmark;
}

/** @throws ApiError `benchmark_not_ready`, with what is missing */
export function requireReady({ benchmarks }: ServiceContext, organizationId: string, benchId: string): void {
  const readiness = benchmarks.readiness(organizationId, benchId);
  if (readiness.ready) return;
  throw new ApiError(
    409,
    'conflict_error',
    'benchmark_not_ready',
    'The benchmark is not ready to launch: see its readiness.',
    { context: { ...readiness } },
  );
}

/** @throws ApiError `validation_error` that names the option which cannot be */
export function withOptions<Read>(read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const param = `options.${error.option}`;
    throw apiError('validation_error', `${param}: ${error.message}`, { param });
  }
}
