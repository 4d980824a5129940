/** What the inspector says of a benchmark, and of the image of a task. */
import type { Benchmark, BenchmarkImage } from '../../../contract/benchmarks.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf } from '../shared/ages.ts';
import { failureOf } from './columns.ts';

export function benchmarkFacts(benchmark: Benchmark): readonly Fact[] {
  return [
    { label: 'name', value: benchmark.label },
    { label: 'id', value: benchmark.bench_id },
    { label: 'family', value: benchmark.family },
    { label: 'visibility', value: benchmark.visibility },
    { label: 'runs', value: benchmark.eval_run_count ?? 0 },
    { label: 'created', value: ageOf(benchmark.created_at) },
    { label: 'updated', value: ageOf(benchmark.updated_at) },
    { label: 'about', value: benchmark.description },
  ];
}

export function imageFacts(row: BenchmarkImage): readonly Fact[] {
  return [
    { label: 'task', value: row.task_id },
    { label: 'status', value: row.build_status ?? 'unknown' },
    { label: 'failed', value: failureOf(row) },
    { label: 'provider', value: row.provider },
    { label: 'image', value: row.provider_ref },
    { label: 'dockerfile', value: row.dockerfile_uri },
  ];
}
