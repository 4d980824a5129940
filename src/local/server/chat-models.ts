/** The models that chat can be asked of, listed as OpenAI's clients expect it. */
import { modelsUpstream } from '../engine/upstream.ts';
import { baseModels } from '../model/base-models.ts';
import type { ServiceContext } from './context.ts';
import { ApiError } from './errors.ts';

/** Base models are as old as the program, which has no date. */
const noDate = 0;

function modelOf(id: string, created: number, owned_by: string) {
  return { id, object: 'model', created, owned_by };
}

/** Base models, deployments by the name they answer under, and what an upstream server lists. */
export async function chatModels({ catalog, deployments }: ServiceContext, organizationId: string) {
  const own = [
    ...baseModels.map(({ slug }) => modelOf(slug, noDate, 'benchtop')),
    ...deployments
      .answering(organizationId)
      .map(({ deployment_id, model_slug, is_active, created_at }) =>
        modelOf(
          is_active === 1 ? model_slug : deployment_id,
          Math.floor(Date.parse(created_at) / 1000),
          organizationId,
        ),
      ),
  ];
  const known = new Set(own.map(({ id }) => id));
  const others = catalog.upstream ? await modelsUpstream(catalog.upstream) : [];
  return { object: 'list', data: [...own, ...others.filter(({ id }) => !known.has(id))] };
}

/** @throws ApiError `model_not_found` */
export async function chatModel(service: ServiceContext, organizationId: string, name: string) {
  const { data } = await chatModels(service, organizationId);
  const model = data.find(({ id }) => id === name);
  if (model) return model;
  throw new ApiError(404, 'invalid_request_error', 'model_not_found', `There is no model ${name}.`, { param: 'model' });
}
