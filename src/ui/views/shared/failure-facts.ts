/** A failure in full: its context is often the only thing that helps. */
import type { RunFailure } from '../../../contract/common.ts';
import type { Fact } from '../../widgets/facts.ts';

export function failureFacts(failure: RunFailure | null | undefined): readonly Fact[] {
  if (!failure) return [];
  const context = failure.context && Object.keys(failure.context).length > 0 ? failure.context : undefined;
  return [
    { label: 'failed', value: failure.message },
    { label: 'type', value: failure.type },
    { label: 'code', value: failure.code },
    { label: 'context', value: context && JSON.stringify(context) },
  ];
}
