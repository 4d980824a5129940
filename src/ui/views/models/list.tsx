/** The models that the service can train and evaluate. */
import { modelList } from '../../../queries/models.ts';
import { modelColumns, modelFacts } from '../../../resources/models.ts';
import { ResourceList } from '../shared/resource-list.tsx';

export function ModelsView() {
  return (
    <ResourceList
      source={modelList}
      columns={modelColumns}
      emptyWords="The service offers no models"
      facts={modelFacts}
    />
  );
}
