/** Models for training and evaluation, and for chat. */
import { baseModels } from '../../model/base-models.ts';
import { chatModel, chatModels } from '../chat-models.ts';
import type { Area, Handlers, ServiceContext } from '../handlers.ts';

function modelRoutes(service: ServiceContext): Handlers {
  return {
    listSupportedTrainingModels: () => ({
      items: baseModels.map(({ slug, name, pricing }) => ({
        model_slug: slug,
        base_model_slug: slug,
        model_name: name,
        pricing,
      })),
    }),
    listModels: ({ organizationId }) => chatModels(service, organizationId),
    getModel: ({ organizationId, params }) => chatModel(service, organizationId, params['model'] ?? ''),
  };
}

export const modelArea: Area = { name: 'models', routes: modelRoutes };
