/** What the inspector says of a dataset. */
import type { Dataset } from '../../../contract/datasets.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf } from '../shared/ages.ts';

export function datasetFacts(row: Dataset): readonly Fact[] {
  return [
    { label: 'dataset', value: row.display_name },
    { label: 'name', value: row.dataset_name },
    { label: 'id', value: row.dataset_id },
    { label: 'source', value: row.source },
    { label: 'stored', value: row.gcs_prefix },
    { label: 'created', value: ageOf(row.created_at) },
    { label: 'updated', value: ageOf(row.updated_at) },
  ];
}
