/** The models that can be trained and evaluated. */
import { baseModels } from '../../model/base-models.ts';
import type { Area, Handlers } from '../handlers.ts';

export function modelRoutes(): Handlers {
  return {
    listSupportedTrainingModels: () => ({
      items: baseModels.map(({ slug, name, pricing }) => ({
        model_slug: slug,
        base_model_slug: slug,
        model_name: name,
        pricing,
      })),
    }),
  };
}

export const modelArea: Area = { name: 'models', routes: modelRoutes };
