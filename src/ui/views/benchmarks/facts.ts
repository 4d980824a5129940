/** What the inspector says of a benchmark. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf } from '../shared/ages.ts';

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
