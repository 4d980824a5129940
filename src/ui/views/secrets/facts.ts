/** What the inspector says of a secret. */
import type { Secret } from '../../../contract/secrets.ts';
import { bytes } from '../../../text/numbers.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf } from '../shared/ages.ts';

export function secretFacts(row: Secret): readonly Fact[] {
  return [
    { label: 'name', value: row.name },
    { label: 'id', value: row.secret_id },
    { label: 'size', value: bytes(row.byte_length) },
    { label: 'about', value: row.description },
    { label: 'created', value: ageOf(row.created_at) },
    { label: 'updated', value: ageOf(row.updated_at) },
    { label: 'value', value: 'cannot be read' },
  ];
}
