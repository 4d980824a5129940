/** The models that the service can train and evaluate. */
import { modelList } from '../../../queries/models.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { modelColumns, price } from './columns.ts';

export function ModelsView() {
  return (
    <ResourceList
      source={modelList}
      columns={modelColumns}
      emptyWords="The service offers no models"
      facts={model => [
        { label: 'model', value: model.model_slug },
        { label: 'name', value: model.model_name },
        { label: 'input', value: price(model.pricing?.input) },
        { label: 'output', value: price(model.pricing?.output) },
        { label: 'cached', value: price(model.pricing?.cached_input) },
      ]}
    />
  );
}
