/** What the inspector says of a runtime. */
import type { BenchmarkRuntime } from '../../../contract/benchmarks.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf } from '../shared/ages.ts';

export function runtimeFacts(row: BenchmarkRuntime): readonly Fact[] {
  return [
    { label: 'image', value: row.image_ref },
    { label: 'id', value: row.runtime_id },
    { label: 'status', value: row.build_status ?? 'unknown' },
    { label: 'provider', value: row.provider },
    { label: 'content', value: row.content_hash },
    { label: 'blueprint', value: row.blueprint_id },
    { label: 'dockerfile', value: row.dockerfile_uri },
    { label: 'created', value: ageOf(row.created_at) },
  ];
}
