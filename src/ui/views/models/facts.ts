/** What the inspector says of a model. */
import type { SupportedModel } from '../../../contract/models.ts';
import type { Fact } from '../../widgets/facts.ts';
import { price } from './columns.ts';

export function modelFacts(model: SupportedModel): readonly Fact[] {
  return [
    { label: 'model', value: model.model_slug },
    { label: 'name', value: model.model_name },
    { label: 'input', value: price(model.pricing?.input) },
    { label: 'output', value: price(model.pricing?.output) },
    { label: 'cached', value: price(model.pricing?.cached_input) },
  ];
}
