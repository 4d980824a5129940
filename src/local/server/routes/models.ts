/** Models for training and evaluation, and for chat. */
import { baseModels } from '../../model/base-models.ts';
import { chatModel, chatModels } from '../chat-models.ts';
import type { Area } from '../handlers.ts';

export const modelArea: Area = {
  name: 'models',
  routes: {
    listSupportedTrainingModels: () => ({
      items: baseModels.map(({ slug, name, pricing }) => ({
        model_slug: slug,
        base_model_slug: slug,
        model_name: name,
        pricing,
      })),
    }),
    listModels: (service, { organizationId }) => chatModels(service, organizationId),
    getModel: (service, { organizationId, params }) => chatModel(service, organizationId, params['model'] ?? ''),
  },
};
